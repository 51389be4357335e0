// What a job of months leaves behind is bounded.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "diagnose/incidents.h"

namespace ringward::diagnose {
namespace {

using signal::Finding;
using enum signal::FindingKind;

signal::Topology FourRanks() {
  return signal::Topology(std::vector<signal::RankPlace>(4, {"here", 0, 0}));
}

Finding Found(signal::FindingKind kind, std::int32_t rank, std::int64_t step) {
  Finding finding;
  finding.kind = kind;
  finding.ranks = {rank};
  finding.since_step = finding.step = step;
  finding.at = std::chrono::seconds(1'000'000 + step);
  return finding;
}

TEST(IncidentsBoundTest, WhatIsKeptIsBounded) {
  const struct {
    const char* name;
    std::int64_t apart;  ///< steps from one finding to the next
    std::uint64_t incidents;
  } rows[] = {{"each a trouble of its own", 1000, 2000}, {"always the same", 0, 1}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    Incidents incidents;
    incidents.SetTopology(FourRanks());
    signal::Cause last;
    for (std::uint64_t id = 1; id <= 2000; ++id) {
      Finding finding = Found(kRankEnded, 3, 100 + row.apart * static_cast<std::int64_t>(id));
      finding.id = id;
      finding.over = true;
      const auto told = incidents.Fold(std::span(&finding, 1), 1.0);
      ASSERT_EQ(told.size(), 1U);
      last = told[0];
    }
    EXPECT_EQ(last.id, row.incidents);
    EXPECT_EQ(incidents.All().size(), std::min<std::size_t>(row.incidents, Incidents::kOverMost));
    EXPECT_EQ(incidents.All().back().id, last.id);
    EXPECT_LE(last.evidence.size(), Incidents::kFindingsMost);
  }
}

TEST(IncidentsBoundTest, WhatGoesOnIsNeverForgotten) {
  Incidents incidents;
  incidents.SetTopology(FourRanks());
  std::uint64_t id = 0;
  const auto fold = [&](Finding finding) {
    finding.id = ++id;
    (void)incidents.Fold(std::span(&finding, 1), 1.0);
  };
  fold(Found(kRankSlow, 1, 100));  // not over
  for (std::int64_t at = 1; at <= 1000; ++at) {
    Finding ended = Found(kRankEnded, 3, 1000 * at);
    ended.over = true;
    fold(std::move(ended));
  }
  const auto all = incidents.All();
  EXPECT_EQ(all.size(), 1 + Incidents::kOverMost);
  EXPECT_EQ(all.front().cause, "slow-rank");
}

}  // namespace
}  // namespace ringward::diagnose
