#include "watch/trainings.h"

#include <algorithm>
#include <utility>

namespace ringward::watch {

bool Trainings::IsApart(std::int32_t rank) const {
  const auto known = ranks_.find(rank);
  return known != ranks_.end() && known->second.where == Where::kApart;
}

bool Trainings::AreMostApart() const {
  const auto count = [this](auto&& which) {
    return std::count_if(ranks_.begin(), ranks_.end(), [&](const auto& entry) {
      return entry.second.there && which(entry.second);
    });
  };
  const auto apart = count([](const Rank& rank) { return rank.where == Where::kApart; });
  return 2 * apart > count([](const Rank&) { return true; });
}

void Trainings::Begin() {
  for (auto& [number, rank] : ranks_)
    rank.where = rank.where == Where::kApart ? Where::kHere : Where::kBehind;
}

Trainings::Answer Trainings::Take(std::int32_t number, std::uint64_t step, std::int64_t newest) {
  Rank& rank = ranks_[number];
  if (rank.any && step == rank.last) return Answer::kPassed;  // a program that does not count
  const bool goes_back = rank.any && step < rank.last;
  rank.any = true;
  rank.last = step;
  if (goes_back && rank.where != Where::kApart)
    rank.where = rank.where == Where::kBehind ? Where::kHere : Where::kApart;
  if (rank.where == Where::kBehind) return Answer::kPassed;
  if (rank.where == Where::kApart && std::cmp_greater(step, newest)) rank.where = Where::kHere;
  if (rank.where == Where::kHere) return Answer::kCounts;
  if (!AreMostApart()) return Answer::kApart;
  Begin();
  return Answer::kBegins;
}

}  // namespace ringward::watch
