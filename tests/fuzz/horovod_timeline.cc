// Any bytes as a Horovod timeline that grows. The first byte says where it is cut into pieces.
#include "ingest/horovod_timeline/horovod_timeline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"

using ringward::ingest::HorovodTimeline;
using ringward::ingest::TimelineRound;
using ringward::ingest::TimelineTime;

namespace {

/// Rounds follow one another, and nobody waits longer than a round.
void CheckRounds(HorovodTimeline& timeline, std::int64_t& next, TimelineTime& end) {
  for (const TimelineRound& round : timeline.Take()) {
    RINGWARD_CHECK(round.number == next++);
    RINGWARD_CHECK(round.end > round.begin && round.begin >= TimelineTime{});
    RINGWARD_CHECK(round.transfer >= TimelineTime{} && round.transfer <= round.end - round.begin);
    const std::size_t world = std::min<std::size_t>(timeline.world() + 1, 64);
    for (const TimelineTime wait : round.Waits(world))
      RINGWARD_CHECK(wait >= TimelineTime{} && wait <= round.end - round.begin);
    end = round.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = data[0] == 0 ? size : data[0];
  HorovodTimeline timeline;
  std::int64_t next = 0;
  TimelineTime end{};
  while (!text.empty()) {
    timeline.Feed(text.substr(0, piece));
    text.remove_prefix(std::min(piece, text.size()));
    CheckRounds(timeline, next, end);
    RINGWARD_CHECK(timeline.Standing().size() == timeline.world());
  }
  const auto& counts = timeline.counts();
  RINGWARD_CHECK((counts.malformed == 0) == counts.first_malformed.empty());
  timeline.Restart();
  RINGWARD_CHECK(timeline.world() == 0 && timeline.round() == 0);
  return 0;
}
