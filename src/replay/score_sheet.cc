#include "replay/score_sheet.h"

#include <algorithm>

namespace ringward::replay {
namespace {

double Share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void Tally::Add(const FaultOutcome& outcome) {
  ++planted;
  found += outcome.found ? 1 : 0;
  right_culprit += outcome.right_culprit ? 1 : 0;
  right_kind += outcome.right_kind ? 1 : 0;
  if (outcome.found) delays.push_back(outcome.delay_steps);
}

double Tally::recall() const { return Share(found, planted); }
double Tally::culprit_share() const { return Share(right_culprit, found); }
double Tally::kind_share() const { return Share(right_kind, found); }

std::int64_t Tally::MedianDelay() const {
  if (delays.empty()) return 0;
  std::vector<std::int64_t> sorted = delays;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

void ScoreSheet::Add(const RunScore& run, double seconds) {
  ++runs_;
  seconds_ += seconds;
  false_incidents_ += run.false_incidents;
  for (const FaultOutcome& outcome : run.faults) {
    all_.Add(outcome);
    by_kind_[outcome.kind].Add(outcome);
  }
}

double ScoreSheet::precision() const { return Share(all_.found, all_.found + false_incidents_); }

double ScoreSheet::f1() const {
  const double sum = precision() + all_.recall();
  return sum == 0.0 ? 0.0 : 2.0 * precision() * all_.recall() / sum;
}

}  // namespace ringward::replay
