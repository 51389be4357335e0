#include "watch/hosts/agent_outbox.h"

#include <algorithm>
#include <utility>

namespace ringward::watch {
namespace {

std::size_t RecordsOf(const RankSight& sight) {
  return sight.batch.steps.size() + sight.batch.metrics.size() + sight.machine.size();
}

/// Leaves the newer half.
template <typename Record>
std::size_t Halve(std::vector<Record>& records) {
  const std::size_t gone = records.size() - records.size() / 2;
  records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(gone));
  return gone;
}

}  // namespace

void AgentOutbox::Add(std::vector<RankSight> sights) {
  looked_ = true;
  for (RankSight& sight : sights) {
    sight.batch.collectives.clear();  // nobody asks for them
    Key key(sight.who.job, sight.who.rank, sight.who.pid, sight.who.start_time);
    const auto known = waiting_.find(key);
    if (known == waiting_.end()) {
      records_ += RecordsOf(sight);
      waiting_.emplace(std::move(key), std::move(sight));
      continue;
    }
    records_ -= RecordsOf(known->second);
    dropped_ += MergeSight(known->second, std::move(sight));
    records_ += RecordsOf(known->second);
  }
  Shrink();
}

void AgentOutbox::Shrink() {
  while (records_ > limits_.records) {
    for (auto& [key, sight] : waiting_) {
      const std::size_t gone = Halve(sight.batch.steps) + Halve(sight.batch.metrics);
      sight.batch.overwritten += gone;
      dropped_ += gone;
      records_ -= gone + Halve(sight.machine);
    }
  }
  // Jobs that came and went while nobody took anything: the first names go.
  while (waiting_.size() > limits_.ranks) {
    records_ -= RecordsOf(waiting_.begin()->second);
    dropped_ += RecordsOf(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
  }
}

std::optional<AgentOutbox::Batch> AgentOutbox::Take() {
  if (!looked_) return std::nullopt;
  Batch batch;
  std::size_t records = 0;
  auto at = last_ ? waiting_.upper_bound(*last_) : waiting_.begin();
  while (at != waiting_.end() && batch.sights.size() < limits_.message_ranks &&
         records < limits_.message_records) {
    records += RecordsOf(at->second);
    last_ = at->first;
    batch.sights.push_back(std::move(at->second));
    at = waiting_.erase(at);
  }
  records_ -= records;
  batch.round = at == waiting_.end();
  if (batch.round) {
    last_.reset();
    looked_ = false;
  }
  return batch;
}

}  // namespace ringward::watch
