// Who is guilty where several findings make one incident.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diagnose/incidents.h"

namespace ringward::diagnose {
namespace {

using signal::Finding;
using enum signal::FindingKind;

Finding Costing(signal::FindingKind kind, std::vector<std::int32_t> ranks, double share) {
  Finding finding;
  finding.kind = kind;
  finding.ranks = std::move(ranks);
  finding.since_step = 500;
  finding.step = 510;
  finding.at = std::chrono::seconds(1'000'000);
  finding.effect = share;
  return finding;
}

TEST(BlameTest, ARankBesideUnevenWork) {
  using Ranks = std::vector<std::int32_t>;
  const struct {
    const char* title;
    std::vector<Finding> findings;
    const char* cause;
    Ranks culprits;
  } rows[] = {
      {"one that is now and then the last",
       {Costing(kUnevenWork, {}, 0.8), Costing(kRankTail, {5}, 0.08)},
       "uneven-data",
       {}},
      {"the same, seen the other way round",
       {Costing(kRankTail, {5}, 0.08), Costing(kUnevenWork, {}, 0.8)},
       "uneven-data",
       {}},
      {"one that makes the gap",
       {Costing(kUnevenWork, {}, 0.8), Costing(kRankTail, {5}, 0.7)},
       "intermittent-slow-rank",
       {5}},
      {"two that make it",
       {Costing(kUnevenWork, {}, 0.8), Costing(kRankSlow, {5}, 0.75),
        Costing(kRankSlow, {6}, 0.75)},
       "slow-rank",
       {5, 6}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.title);
    Incidents incidents;
    incidents.SetTopology(signal::Topology(std::vector<signal::RankPlace>(16, {"here", 0, 0})));
    std::uint64_t id = 0;
    for (Finding finding : row.findings) {
      finding.id = ++id;
      incidents.Fold(std::span(&finding, 1), 1.0);
    }
    const auto all = incidents.All();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].cause, row.cause);
    EXPECT_EQ(all[0].culprit_ranks, row.culprits);
  }
}

// Nearly all of a machine's ranks are slow: it is the machine, and so is the one that was missed.
TEST(BlameTest, AllButOneOfAHost) {
  const struct {
    const char* title;
    std::size_t ranks_per_host;
    std::int32_t slow;  // ranks 0 to this - 1
    std::size_t culprits;
    std::vector<std::string> hosts;
  } rows[] = {
      {"7 of 8", 8, 7, 8, {"node0"}},
      {"6 of 8", 8, 6, 6, {}},
      {"3 of 4", 4, 3, 3, {}},
      {"4 of 4", 4, 4, 4, {"node0"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.title);
    std::vector<signal::RankPlace> places(32);
    for (std::size_t r = 0; r < places.size(); ++r)
      places[r].host = "node" + std::to_string(r / row.ranks_per_host);
    Incidents incidents;
    incidents.SetTopology(signal::Topology(places));
    for (std::int32_t rank = 0; rank < row.slow; ++rank) {
      Finding finding = Costing(kRankSlow, {rank}, 0.5);
      finding.id = static_cast<std::uint64_t>(rank) + 1;
      incidents.Fold(std::span(&finding, 1), 1.0);
    }
    const auto all = incidents.All();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].culprit_ranks.size(), row.culprits);
    EXPECT_EQ(all[0].culprit_hosts, row.hosts);
  }
}

}  // namespace
}  // namespace ringward::diagnose
