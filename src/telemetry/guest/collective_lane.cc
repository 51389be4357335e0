#include "telemetry/guest/collective_lane.h"

#include <cstring>

#include "telemetry/guest/metric_lane.h"

namespace ringward::telemetry {

void CollectiveLane::Attach(char* segment, Header& header) {
  lane_.Attach(segment, kCollectivesAt, kCollectiveCapacity, header.heads[2]);
  thinning_.Reset();
  header_ = &header;
}

std::int32_t CollectiveLane::Register(const char* name) {
  if (!IsName(name)) return -1;
  const std::uint32_t at = FindName(header_->operation_names, registered_, name);
  if (at == kOperationsMax) return -1;
  if (at == registered_) {
    std::strncpy(header_->operation_names[at], name, kNameBytes - 1);
    Set(header_->operations, ++registered_);
  }
  return static_cast<std::int32_t>(at);
}

void CollectiveLane::Enter(std::uint32_t operation, std::uint64_t number, std::uint64_t bytes,
                           bool overlapped, std::int64_t now_ns) {
  CollectiveState& state = header_->collective_state;
  const StateChange change(state.version);
  under_way_[number % kUnderWayMax] = {number,
                                       now_ns,
                                       bytes,
                                       static_cast<std::uint16_t>(operation),
                                       overlapped ? kOverlappedFlag : std::uint16_t{0},
                                       true};
  Set(state.number, number);
  Set(state.operation, operation);
  Set(state.bytes, bytes);
  SetTime(state.since_ns, now_ns);
  Set(state.entered, state.entered.load(std::memory_order_relaxed) + 1);
}

bool CollectiveLane::Exit(std::uint64_t number, bool ok, std::uint64_t step, std::int64_t now_ns,
                          std::uint64_t& wait_ns) {
  UnderWay& entry = under_way_[number % kUnderWayMax];
  if (!entry.used || entry.number != number) return false;
  entry.used = false;
  const auto inside =
      now_ns > entry.enter_ns ? static_cast<std::uint64_t>(now_ns - entry.enter_ns) : 0;
  wait_ns = (entry.flags & kOverlappedFlag) != 0 ? 0 : inside;
  {
    CollectiveState& state = header_->collective_state;
    const StateChange change(state.version);
    SetTime(state.since_ns, now_ns);
    Set(state.exited, state.exited.load(std::memory_order_relaxed) + 1);
  }
  // The sum must not mix kinds: bytes and times of an all-reduce say nothing of a barrier.
  if (sum_.count > 0 && sum_.operation != entry.operation) Flush();
  sum_.enter_ns = entry.enter_ns;
  sum_.exit_ns = now_ns;
  sum_.number = number;
  sum_.step = step;
  sum_.bytes += entry.bytes;
  sum_.inside_ns += inside;
  ++sum_.count;
  sum_.operation = entry.operation;
  sum_.flags = static_cast<std::uint16_t>(sum_.flags | entry.flags | (ok ? 0 : kFailedFlag));
  if (thinning_.Ends(number, now_ns) || !ok) {
    Flush();
    thinning_.Wrote(now_ns);
  }
  return true;
}

void CollectiveLane::Flush() {
  if (sum_.count == 0) return;
  lane_.Write(sum_);
  sum_ = {};
}

}  // namespace ringward::telemetry
