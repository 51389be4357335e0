// Findings in, incidents out. To add a case, add a row to a table: findings in the order they are
// made, and one line for every incident that must come of them.
#include "diagnose/incidents.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace ringward::diagnose {
namespace {

using signal::Finding;
using enum signal::FindingKind;
using Ranks = std::vector<std::int32_t>;

/// 16 ranks, four to a host: node0 … node3.
signal::Topology SixteenRanks() {
  std::vector<signal::RankPlace> places(16);
  for (std::size_t r = 0; r < places.size(); ++r) {
    const auto place = static_cast<std::int32_t>(r);
    places[r] = {"node" + std::to_string(r / 4), place % 4, place / 4};
  }
  return signal::Topology(std::move(places));
}

/// A finding that began at `since` and was made ten steps later, steps of a second.
Finding Made(signal::FindingKind kind, Ranks ranks, std::int64_t since = 100) {
  Finding finding;
  finding.kind = kind;
  finding.ranks = std::move(ranks);
  finding.since_step = since;
  finding.step = since + 10;
  finding.at = std::chrono::seconds(1'000'000 + finding.step);
  finding.evidence = std::string("what ") + NameOf(kind) + " saw";
  return finding;
}

Finding InData(Finding finding) {
  finding.phase = signal::Phase::kData;
  return finding;
}

Finding OfHost(Finding finding, std::string host) {
  finding.host = std::move(host);
  return finding;
}

/// "compute slow-rank 3, 4 node0"
std::string Line(const signal::Cause& cause) {
  std::string text = std::string(NameOf(cause.category)) + " " + cause.cause;
  for (const std::int32_t rank : cause.culprit_ranks) text += " " + std::to_string(rank);
  for (const std::string& host : cause.culprit_hosts) text += " " + host;
  return text;
}

struct Golden {
  const char* title;
  std::vector<Finding> findings;
  std::vector<std::string> incidents;
};

void ExpectIncidents(const std::vector<Golden>& table) {
  for (const Golden& row : table) {
    SCOPED_TRACE(row.title);
    Incidents incidents;
    incidents.SetTopology(SixteenRanks());
    std::uint64_t id = 0;
    for (Finding finding : row.findings) {
      if (finding.id == 0) finding.id = ++id;
      EXPECT_EQ(incidents.Fold(std::span(&finding, 1), 1.0).size(), 1U);
    }
    std::vector<std::string> lines;
    for (const signal::Cause& cause : incidents.All()) lines.push_back(Line(cause));
    EXPECT_EQ(lines, row.incidents);
  }
}

TEST(IncidentsTest, SlownessIsNamed) {
  const Ranks nobody;
  ExpectIncidents({
      {"a slow rank", {Made(kRankSlow, {3})}, {"compute slow-rank 3"}},
      {"slow now and then", {Made(kRankTail, {3})}, {"compute intermittent-slow-rank 3"}},
      {"slow input of a rank", {InData(Made(kRankSlow, {3}))}, {"data-io slow-input 3"}},
      {"slow input of all", {InData(Made(kAllSlow, nobody))}, {"data-io slow-input"}},
      {"all slow", {Made(kAllSlow, nobody)}, {"resource-contention all-ranks-slow"}},
      {"the transfer", {Made(kWaitSlow, nobody)}, {"communication slow-network"}},
      {"uneven data", {Made(kUnevenWork, nobody)}, {"compute uneven-data"}},
      {"a stage", {Made(kStageSlow, {1, 5, 9, 13})}, {"compute uneven-partition"}},
      {"a link",
       {OfHost(Made(kRetransmits, {4, 5, 6, 7}), "node1")},
       {"communication slow-link 4 5 6 7 node1"}},
      {"repeats under the first",
       {Made(kRankSlow, {3}), Made(kRankSlow, {3}, 900)},
       {"compute slow-rank 3"}},
      {"slow after now and then",
       {Made(kRankTail, {3}), Made(kRankSlow, {3}, 120)},
       {"compute slow-rank 3"}},
      {"ranks under their host",
       {Made(kRankSlow, {4}), Made(kRankSlow, {6}, 101), Made(kRankSlow, {5}, 110),
        Made(kRankSlow, {7}, 99)},
       {"compute slow-rank 4 5 6 7 node1"}},
      {"some ranks of a host",
       {Made(kRankSlow, {4}), Made(kRankSlow, {6})},
       {"compute slow-rank 4 6"}},
      {"of a host most are slow now and then",
       {Made(kRankTail, {4}), Made(kRankSlow, {5}), Made(kRankTail, {6}), Made(kRankTail, {7})},
       {"compute intermittent-slow-rank 4 5 6 7 node1"}},
      {"a symptom of the slow rank",
       {Made(kRankSlow, {3}), Made(kAllSlow, nobody, 105)},
       {"compute slow-rank 3"}},
      {"the symptom first",
       {Made(kAllSlow, nobody), Made(kRankSlow, {3}, 105)},
       {"compute slow-rank 3"}},
      {"a link and its slow transfer",
       {Made(kWaitSlow, nobody), OfHost(Made(kRetransmits, {0, 1, 2, 3}, 104), "node0")},
       {"communication slow-link 0 1 2 3 node0"}},
      {"two machines",
       {Made(kRankSlow, {3}), Made(kRankSlow, {9})},
       {"compute slow-rank 3", "compute slow-rank 9"}},
      {"one host twice, far apart",
       {Made(kRankSlow, {4}), Made(kRankSlow, {5}, 5000)},
       {"compute slow-rank 4", "compute slow-rank 5"}},
      {"all slow long after",
       {Made(kRankSlow, {3}), Made(kAllSlow, nobody, 5000)},
       {"compute slow-rank 3", "resource-contention all-ranks-slow"}},
  });
}

TEST(IncidentsTest, WantOfCoresIsNamed) {
  ExpectIncidents({
      {"for want of a core",
       {OfHost(Made(kRankStarved, {5}), "node1")},
       {"resource-contention busy-neighbour node1"}},
      {"two of a host for want of cores",
       {OfHost(Made(kRankStarved, {5}), "node1"), OfHost(Made(kRankStarved, {6}, 104), "node1")},
       {"resource-contention busy-neighbour node1"}},
      {"two slow by themselves, one for want of a core",
       {Made(kRankSlow, {4}), OfHost(Made(kRankStarved, {5}), "node1"), Made(kRankSlow, {6})},
       {"compute slow-rank 4 6"}},
      {"short of cores alike",
       {OfHost(Made(kHostBusy, {4, 5, 6, 7}), "node1")},
       {"resource-contention host-overloaded node1"}},
      {"short of cores alike, one rank most",
       {OfHost(Made(kHostBusy, {4, 5, 6, 7}), "node1"),
        OfHost(Made(kRankStarved, {5}, 400), "node1")},
       {"resource-contention host-overloaded node1"}},
      {"one rank first, then all",
       {OfHost(Made(kRankStarved, {5}), "node1"),
        OfHost(Made(kHostBusy, {4, 5, 6, 7}, 400), "node1")},
       {"resource-contention host-overloaded node1"}},
      {"another host is short of cores",
       {OfHost(Made(kHostBusy, {4, 5, 6, 7}), "node1"), OfHost(Made(kRankStarved, {9}), "node2")},
       {"resource-contention host-overloaded node1", "resource-contention busy-neighbour node2"}},
      {"short of cores, and one rank is slower",
       {OfHost(Made(kHostBusy, {4, 5, 6, 7}), "node1"), Made(kRankSlow, {5})},
       {"resource-contention host-overloaded node1", "compute slow-rank 5"}},
  });
}

TEST(IncidentsTest, GpusAreNamed) {
  ExpectIncidents({
      {"held back", {Made(kRankThrottled, {5})}, {"hardware gpu-throttled 5"}},
      {"held back, and that was seen late",
       {Made(kRankSlow, {5}), Made(kRankThrottled, {5}, 110)},
       {"hardware gpu-throttled 5"}},
      {"memory breaks and the process ends",
       {Made(kGpuErrors, {2}), Made(kRankEnded, {2}, 101)},
       {"hardware gpu-ecc 2"}},
      {"memory breaks and the numbers with it",
       {Made(kGpuErrors, {2}), Made(kNonFinite, {2}, 101)},
       {"hardware gpu-ecc 2"}},
      {"memory breaks, and another rank's numbers",
       {Made(kGpuErrors, {2}), Made(kNonFinite, {3}, 101)},
       {"hardware gpu-ecc 2", "numerics non-finite 3"}},
      {"memory breaks on two",
       {Made(kGpuErrors, {2}), Made(kGpuErrors, {3}, 101)},
       {"hardware gpu-ecc 2", "hardware gpu-ecc 3"}},
  });
}

TEST(IncidentsTest, StopsAreNamed) {
  Finding aborted = Made(kRankEnded, {0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  aborted.at += std::chrono::seconds(1);
  Finding late = Made(kRankEnded, {0, 1, 2});
  late.at += std::chrono::minutes(5);
  ExpectIncidents({
      {"frozen", {Made(kRankSilent, {2})}, {"resource-contention rank-frozen 2"}},
      {"stalled", {Made(kRankStalled, {2})}, {"communication rank-stalled 2"}},
      {"frozen, and the long step when it woke",
       {Made(kRankSilent, {2}), Made(kRankStalled, {2}, 101), Made(kAllSlow, {}, 101)},
       {"resource-contention rank-frozen 2"}},
      {"killed", {Made(kRankEnded, {2})}, {"process-crash killed 2"}},
      {"silent, for it was dead",
       {Made(kRankSilent, {2}), Made(kRankEnded, {2})},
       {"process-crash killed 2"}},
      {"killed for its memory",
       {Made(kMemoryTrend, {2}), Made(kRankEnded, {2}, 4000)},
       {"process-crash killed 2"}},
      {"killed, the others because of it",
       {Made(kRankEnded, {2}), aborted},
       {"process-crash killed 2"}},
      {"killed, and its reports with it",
       {Made(kRankEnded, {2}), Made(kSourceLost, {2}, 104)},
       {"process-crash killed 2"}},
      {"blind to a host",
       {Made(kSourceLost, {4}), Made(kSourceLost, {5})},
       {"communication lost-reports 4 5"}},
      {"the agent of a host is silent",
       {OfHost(Made(kBlind, {4, 5, 6, 7}), "node1")},
       {"communication blind node1"}},
      {"agents of two hosts are silent",
       {OfHost(Made(kBlind, {4, 5, 6, 7}), "node1"), OfHost(Made(kBlind, {8, 9}), "node2")},
       {"communication blind node1 node2"}},
      {"a host is gone, and in the end the others give up",
       {OfHost(Made(kBlind, {4, 5, 6, 7}), "node1"), OfHost(Made(kHostLost, {4, 5, 6, 7}), "node1"),
        late},
       {"hardware host-lost 4 5 6 7 node1"}},
      {"one is killed, later another host's agent is silent",
       {Made(kRankEnded, {2}), OfHost(Made(kBlind, {4, 5}), "node1")},
       {"process-crash killed 2", "communication blind node1"}},
      {"blind to all",
       {Made(kSourceLost, {0, 1, 2, 3, 4, 5, 6, 7, 8})},
       {"communication lost-reports"}},
      {"a slow rank, later another dies",
       {Made(kRankSlow, {3}), Made(kRankEnded, {9}, 300)},
       {"compute slow-rank 3", "process-crash killed 9"}},
  });
}

TEST(IncidentsTest, NumbersAndHostsAreNamed) {
  ExpectIncidents({
      {"NaN", {Made(kNonFinite, {1})}, {"numerics non-finite 1"}},
      {"NaN everywhere at once", {Made(kNonFinite, {})}, {"numerics non-finite"}},
      {"a spike before the NaN",
       {Made(kLossSpike, {}), Made(kNonFinite, {1}, 103)},
       {"numerics non-finite 1"}},
      {"what a NaN does to the rest",
       {Made(kNonFinite, {1}), Made(kLossDiverging, {}, 5000)},
       {"numerics non-finite 1"}},
      {"loss and norm jump together",
       {Made(kLossSpike, {}), Made(kGradientExplodes, {})},
       {"numerics gradient-explosion"}},
      {"two spikes",
       {Made(kLossSpike, {}), Made(kLossSpike, {}, 900)},
       {"numerics loss-spike", "numerics loss-spike"}},
      {"diverging", {Made(kLossDiverging, {})}, {"numerics loss-diverging"}},
      {"vanishing", {Made(kGradientVanishes, {})}, {"numerics gradient-vanishing"}},
      {"one rank's numbers", {Made(kRankApart, {6})}, {"numerics rank-apart 6"}},
      {"most ranks' numbers",
       {Made(kRankApart, {0, 1, 2, 3, 4, 5, 6, 7, 8})},
       {"numerics rank-apart"}},
      {"weights", {Made(kReplicasDiffer, {6})}, {"numerics replicas-differ 6"}},
      {"a leak", {Made(kMemoryTrend, {6})}, {"memory memory-leak 6"}},
      {"a clock",
       {OfHost(Made(kClockSkew, {12, 13, 14, 15}), "node3")},
       {"configuration clock-skew 12 13 14 15 node3"}},
      {"four troubles of four kinds",
       {Made(kRankSlow, {3}), Made(kNonFinite, {1}), Made(kMemoryTrend, {6}),
        OfHost(Made(kClockSkew, {12, 13, 14, 15}), "node3")},
       {"compute slow-rank 3", "numerics non-finite 1", "memory memory-leak 6",
        "configuration clock-skew 12 13 14 15 node3"}},
  });
}

TEST(IncidentsTest, ACauseAddsUpItsFindings) {
  Incidents incidents;
  incidents.SetTopology(SixteenRanks());
  Finding symptom = Made(kAllSlow, {}, 90);
  Finding culprit = Made(kRankSlow, {3}, 100);
  symptom.id = 1;
  culprit.id = 2;
  culprit.elapsed_seconds = 20.0;
  culprit.lost_seconds = 10.0;
  const Finding both[] = {symptom, culprit};
  const auto causes = incidents.Fold(both, 2.0);
  ASSERT_EQ(causes.size(), 1U);
  const signal::Cause& cause = causes[0];
  EXPECT_EQ(cause.id, 1U);
  EXPECT_EQ(cause.since_step, 90);
  EXPECT_EQ(cause.found_step, 100);
  EXPECT_EQ(cause.found - cause.started, std::chrono::seconds(20)) << "ten steps of two seconds";
  EXPECT_EQ(cause.victim_ranks.size(), 15U);
  ASSERT_EQ(cause.evidence.size(), 2U);
  EXPECT_EQ(cause.evidence[0].text, culprit.evidence) << "the decisive one first";
  EXPECT_DOUBLE_EQ(cause.lost_seconds, 10.0);
  EXPECT_DOUBLE_EQ(cause.speedup_without, 2.0) << "half of the time was lost";
  EXPECT_NE(cause.summary.find("slow-rank: rank 3 on node0; "), std::string::npos) << cause.summary;
  EXPECT_FALSE(cause.over);
  // Over when all of it is over, however late that is.
  symptom.over = true;
  symptom.at += std::chrono::hours(1);
  EXPECT_FALSE(incidents.Fold(std::span(&symptom, 1), 2.0).at(0).over);
  culprit.over = true;
  EXPECT_TRUE(incidents.Fold(std::span(&culprit, 1), 2.0).at(0).over);
  ASSERT_EQ(incidents.All().size(), 1U);
  EXPECT_EQ(incidents.All()[0].found, cause.found);
}

TEST(IncidentsTest, UndecidedAccusesNobody) {
  for (const bool large : {false, true}) {
    Incidents incidents;
    incidents.SetTopology(SixteenRanks());
    Finding all = Made(kAllSlow, {});
    if (large) all.effect = 3.0;
    all.id = 1;
    const auto causes = incidents.Fold(std::span(&all, 1), 1.0);
    EXPECT_TRUE(causes.at(0).culprit_ranks.empty());
    EXPECT_TRUE(causes.at(0).victim_ranks.empty());
    EXPECT_LT(causes.at(0).confidence, 0.5);
  }
}

// Four stages of one rank each: more work and a slow machine look the same.
TEST(IncidentsTest, ARankAloneInItsStageIsDoubted) {
  std::vector<signal::RankPlace> places(4);
  for (std::size_t r = 0; r < places.size(); ++r) places[r].stage = static_cast<std::int32_t>(r);
  for (const bool input : {false, true}) {
    Incidents incidents;
    incidents.SetTopology(signal::Topology(places));
    Finding slow = input ? InData(Made(kRankSlow, {2})) : Made(kRankSlow, {2});
    slow.id = 1;
    EXPECT_EQ(incidents.Fold(std::span(&slow, 1), 1.0).at(0).confidence >= 0.5, input);
  }
}

// On one host there is no network to be slow; where hosts are not known there may be one.
TEST(IncidentsTest, OneHostHasNoNetwork) {
  const std::pair<const char*, const char*> cases[] = {{"node0", "resource-contention busy-host"},
                                                       {"", "communication slow-network"}};
  for (const auto& [host, line] : cases) {
    Incidents incidents;
    incidents.SetTopology(signal::Topology(std::vector<signal::RankPlace>(4, {host, 0, 0})));
    Finding slow = Made(kWaitSlow, {});
    slow.id = 1;
    EXPECT_EQ(Line(incidents.Fold(std::span(&slow, 1), 1.0).at(0)), line);
  }
}

TEST(IncidentsTest, WhoHasNoCoreIsHitAndNotToBlame) {
  Incidents incidents;
  incidents.SetTopology(SixteenRanks());
  Finding starved = OfHost(Made(kRankStarved, {5}), "node1");
  starved.id = 1;
  const auto cause = incidents.Fold(std::span(&starved, 1), 1.0).at(0);
  EXPECT_EQ(cause.victim_ranks, Ranks{5});
  EXPECT_EQ(cause.summary, "busy-neighbour: host node1; what rank-starved saw");
  EXPECT_TRUE(signal::IsIncident(cause));
}

// A rank that was short of a core for a while, and then is slow by itself, is slow; the worst
// repeat that goes on is what people are told.
TEST(IncidentsTest, WhatGoesOnSpeaksForARank) {
  Incidents incidents;
  incidents.SetTopology(SixteenRanks());
  Finding starved = OfHost(Made(kRankStarved, {5}), "node1");
  starved.id = 1;
  starved.over = true;
  Finding slow = Made(kRankSlow, {5}, 900);
  slow.id = 2;
  slow.effect = 0.5;
  slow.evidence = "much slower";
  incidents.Fold(std::span(&starved, 1), 1.0);
  auto cause = incidents.Fold(std::span(&slow, 1), 1.0).at(0);
  EXPECT_EQ(Line(cause), "compute slow-rank 5");
  EXPECT_NE(cause.summary.find("much slower"), std::string::npos) << cause.summary;
  starved.id = 3;
  starved.over = false;
  cause = incidents.Fold(std::span(&starved, 1), 1.0).at(0);
  EXPECT_EQ(Line(cause), "resource-contention busy-neighbour node1");
  Finding slower = slow;
  slower.id = 4;
  slower.effect = 2.0;
  slower.evidence = "slower still";
  starved.over = true;
  incidents.Fold(std::span(&starved, 1), 1.0);
  cause = incidents.Fold(std::span(&slower, 1), 1.0).at(0);
  EXPECT_NE(cause.summary.find("slower still"), std::string::npos) << cause.summary;
}

// A job that goes on is not told as frozen again for what shows long after, though it began beside
// it.
TEST(IncidentsTest, AStopThatIsOverDoesNotComeBack) {
  for (const bool with_symptom : {false, true}) {
    SCOPED_TRACE(with_symptom);
    Incidents incidents;
    incidents.SetTopology(SixteenRanks());
    Finding frozen = Made(kRankSilent, {2});
    Finding gap = Made(kUnevenWork, {}, 104);
    Finding slow = Made(kRankSlow, {7}, 108);
    frozen.id = 1;
    gap.id = 2;
    slow.id = 3;
    frozen.over = gap.over = true;
    slow.step = 500;
    incidents.Fold(std::span(&frozen, 1), 1.0);
    if (with_symptom) incidents.Fold(std::span(&gap, 1), 1.0);
    EXPECT_EQ(Line(incidents.Fold(std::span(&slow, 1), 1.0).at(0)), "compute slow-rank 7");
  }
}

// What slows everybody on the one host there is has its reason in the host, and is no incident.
TEST(IncidentsTest, AnOverloadedHostExplainsWhatIsSlowThere) {
  for (const bool first : {false, true}) {
    Incidents incidents;
    incidents.SetTopology(signal::Topology(std::vector<signal::RankPlace>(4, {"here", 0, 0})));
    Finding busy = OfHost(Made(kHostBusy, {0, 1, 2, 3}), "here");
    Finding slow = Made(kAllSlow, {});
    busy.id = 1;
    slow.id = 2;
    incidents.Fold(std::span(first ? &busy : &slow, 1), 1.0);
    const auto cause = incidents.Fold(std::span(first ? &slow : &busy, 1), 1.0).at(0);
    EXPECT_EQ(Line(cause), "resource-contention host-overloaded here");
    EXPECT_FALSE(signal::IsIncident(cause));
    EXPECT_EQ(incidents.All().size(), 1U);
  }
}

TEST(IncidentsTest, WhatStopsAJobIsCritical) {
  const std::pair<signal::FindingKind, signal::Severity> rows[] = {
      {signal::FindingKind::kRankSlow, signal::Severity::kWarning},
      {signal::FindingKind::kLossSpike, signal::Severity::kWarning},
      {signal::FindingKind::kRankSilent, signal::Severity::kCritical},
      {signal::FindingKind::kRankStalled, signal::Severity::kCritical},
      {signal::FindingKind::kRankEnded, signal::Severity::kCritical},
      {signal::FindingKind::kNonFinite, signal::Severity::kCritical},
      {signal::FindingKind::kLossDiverging, signal::Severity::kCritical},
      {signal::FindingKind::kDiskRunsOut, signal::Severity::kCritical}};
  for (const auto& [kind, severity] : rows) {
    Incidents incidents;
    incidents.SetTopology(SixteenRanks());
    Finding finding = Made(kind, {2});
    finding.id = 1;
    const auto causes = incidents.Fold(std::span(&finding, 1), 1.0);
    EXPECT_EQ(causes.at(0).severity, severity) << NameOf(kind);
  }
}

// A model never takes the place of a cause that has a name, whichever comes first.
TEST(IncidentsTest, WhatAModelFindsGoesUnderWhatHasAName) {
  const struct {
    std::int32_t rank;  ///< that is slow; rank 2 is unusual
    std::size_t incidents;
  } rows[] = {{2, 1}, {9, 2}};
  for (const auto& row : rows) {
    for (const bool unusual_first : {false, true}) {
      Incidents incidents;
      incidents.SetTopology(SixteenRanks());
      Finding unusual = Made(signal::FindingKind::kUnusual, {2});
      Finding slow = Made(kRankSlow, {row.rank});
      unusual.id = 1;
      slow.id = 2;
      incidents.Fold(std::span(unusual_first ? &unusual : &slow, 1), 1.0);
      incidents.Fold(std::span(unusual_first ? &slow : &unusual, 1), 1.0);
      const auto all = incidents.All();
      ASSERT_EQ(all.size(), row.incidents) << row.rank << unusual_first;
      const bool named = all[0].cause == "slow-rank" || row.incidents == 2;
      EXPECT_TRUE(named) << all[0].cause;
    }
  }
}

TEST(IncidentsTest, ALimitOfTheUsersIsToldUnderItsOwnName) {
  Incidents incidents;
  incidents.SetTopology(SixteenRanks());
  Finding slow = Made(kRankSlow, {2});
  Finding limit = Made(signal::FindingKind::kThreshold, {2});
  slow.id = 1;
  limit.id = 2;
  limit.rule = "too-hot";
  limit.severity = signal::Severity::kCritical;
  limit.category = signal::Category::kHardware;
  incidents.Fold(std::span(&slow, 1), 1.0);
  incidents.Fold(std::span(&limit, 1), 1.0);
  const auto all = incidents.All();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].cause, "slow-rank");
  EXPECT_EQ(all[1].cause, "too-hot");
  EXPECT_EQ(all[1].severity, signal::Severity::kCritical);
  EXPECT_EQ(all[1].category, signal::Category::kHardware);
  EXPECT_EQ(all[1].culprit_ranks, std::vector<std::int32_t>{2});
}

TEST(IncidentsTest, EveryKindOfFindingHasARule) {
  for (std::size_t kind = 0; kind < signal::kFindingKinds; ++kind) {
    Incidents incidents;
    incidents.SetTopology(SixteenRanks());
    Finding finding = Made(static_cast<signal::FindingKind>(kind), {2});
    finding.id = 1;
    const auto causes = incidents.Fold(std::span(&finding, 1), 1.0);
    ASSERT_EQ(causes.size(), 1U);
    EXPECT_FALSE(causes[0].cause.empty()) << NameOf(finding.kind);
    EXPECT_FALSE(causes[0].remedy.empty()) << NameOf(finding.kind);
    EXPECT_GT(causes[0].confidence, 0.0) << NameOf(finding.kind);
  }
}

}  // namespace
}  // namespace ringward::diagnose
