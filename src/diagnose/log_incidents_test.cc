// What logs say, folded with what is seen. To add a case, add a row.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "diagnose/incidents.h"

namespace ringward::diagnose {
namespace {

using signal::Finding;
using enum signal::FindingKind;

/// A finding made `at` seconds into the job, with the line that says it.
Finding Said(signal::FindingKind kind, std::vector<std::int32_t> ranks, int at, std::string text) {
  Finding finding;
  finding.kind = kind;
  finding.ranks = std::move(ranks);
  finding.since_step = finding.step = 100;
  finding.at = std::chrono::seconds(1'000'000 + at);
  finding.category = signal::Category::kMemory;
  finding.evidence = text;
  if (!text.empty()) finding.place = {"job.log", 7, std::move(text)};
  return finding;
}

struct SaidGolden {
  const char* title;
  std::vector<Finding> findings;
  std::vector<std::string> incidents;
};

std::vector<SaidGolden> SaidCases() {
  return {
      {"an error names its rank",
       {Said(kRankError, {3}, 0, "OOM")},
       {"memory rank-failed 3 | job.log:7 OOM"}},
      {"the first error, not what others say after it",
       {Said(kRankError, {3}, 0, "OOM"), Said(kRankError, {0}, 2, "abort"),
        Said(kRankError, {1}, 0, "other")},
       {"memory rank-failed 3 | job.log:7 OOM"}},
      {"two that end alike",
       {Said(kRankError, {3}, 0, "OOM"), Said(kRankError, {1}, 2, "OOM")},
       {"memory rank-failed 1 3 | job.log:7 OOM"}},
      {"all that are ended later",
       {Said(kRankError, {3}, 0, "Killed"), Said(kRankError, {0}, 8, "Killed"),
        Said(kRankError, {1}, 8, "Killed")},
       {"memory rank-failed 3 | job.log:7 Killed"}},
      {"most end alike: nobody is to blame",
       {Said(kRankError, {0}, 0, "x"), Said(kRankError, {1}, 0, "x"),
        Said(kRankError, {2}, 0, "x")},
       {"memory rank-failed | job.log:7 x"}},
      {"the line says more than that a process is gone",
       {Said(kRankEnded, {3}, 0, ""), Said(kRankError, {3}, 2, "OOM")},
       {"memory rank-failed 3 | job.log:7 OOM"}},
      {"a stall that the log tells, too",
       {Said(kRankSilent, {2}, 0, ""), Said(kRankStalled, {2}, 14, "2: [a]")},
       {"communication rank-stalled 2 | job.log:7 2: [a]"}},
      {"one that only is seen",
       {Said(kRankSilent, {2}, 0, ""), Said(kRankStalled, {2}, 14, "")},
       {"resource-contention rank-frozen 2 | :0 "}},
      {"a stall that ends the job",
       {Said(kRankStalled, {2}, 0, "2: [a]"), Said(kRankError, {0}, 5, "shut down")},
       {"memory rank-failed 0 | job.log:7 shut down"}},
      {"two troubles",
       {Said(kRankError, {3}, 0, "OOM"), Said(kRankError, {1}, 600, "OOM")},
       {"memory rank-failed 3 | job.log:7 OOM", "memory rank-failed 1 | job.log:7 OOM"}},
  };
}

TEST(LogIncidentsTest, FoldsWhatLogsSay) {
  for (SaidGolden& golden : SaidCases()) {
    Incidents incidents;
    incidents.SetTopology(signal::Topology(4));
    std::uint64_t id = 0;
    for (Finding& finding : golden.findings) finding.id = ++id;
    incidents.Fold(golden.findings, 1.0);
    std::vector<std::string> lines;
    for (const signal::Cause& cause : incidents.All()) {
      std::string line = std::string(NameOf(cause.category)) + " " + cause.cause;
      for (const std::int32_t rank : cause.culprit_ranks) line += " " + std::to_string(rank);
      const signal::Evidence& first = cause.evidence.front();
      lines.push_back(line + " | " + first.file + ":" + std::to_string(first.line) + " " +
                      first.text);
    }
    EXPECT_EQ(lines, golden.incidents) << golden.title;
  }
}

}  // namespace
}  // namespace ringward::diagnose
