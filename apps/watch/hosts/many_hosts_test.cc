// The watcher over agents: one job on two hosts, and one on hundreds. No sockets, no waiting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "watch/fake_source.h"
#include "watch/hosts/agent_hub.h"
#include "watch/hosts/hosts_test_support.h"
#include "watch/watcher.h"

namespace ringward::watch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Writes down incidents: "found blind [] node-b victims 2 3".
class News final : public Listener {
 public:
  void OnLook(const JobLook&) override {}
  void OnJob(const JobEvents& job) override { hosts = job.run().hosts; }
  void OnIncident(const JobEvents&, const Told& told) override {
    constexpr const char* kNews[] = {"found ", "changed ", "over "};
    std::string line = kNews[static_cast<std::size_t>(told.news)] + told.cause.cause;
    for (const std::int32_t rank : told.cause.culprit_ranks) line += " " + std::to_string(rank);
    for (const std::string& host : told.cause.culprit_hosts) line += " " + host;
    lines.push_back(line);
    summaries.push_back(told.cause.summary);
  }
  void OnEnd(const JobWatch&) override { lines.emplace_back("end"); }
  void OnLooked(const Watcher&, bool) override {}
  std::vector<std::string> lines;
  std::vector<std::string> summaries;
  std::vector<std::string> hosts;
};

/// The made-up job of four ranks, two of them on node-a and two on node-b, whose clocks have
/// nothing to do with ours.
class TwoHosts final : public Source {
 public:
  explicit TwoHosts(ManualClock& clock) : job(clock), hub({}, clock), clock_(clock) {
    Start(0);
    Start(1);
  }
  std::vector<RankSight> Look() override {
    const std::vector<RankSight> all = job.Look();
    for (std::size_t host = 0; host < 2; ++host) {
      std::vector<RankSight> sights;
      for (const RankSight& sight : all) {
        if (static_cast<std::size_t>(sight.who.rank / 2) == host) sights.push_back(sight);
      }
      if (agents_[host]) Send(host, std::move(sights));
    }
    return hub.Look();
  }
  void Wait(Clock::Duration until) override { job.Wait(until); }

  /// A new agent on the host, with a number of its own.
  void Start(std::size_t host) {
    agents_[host].emplace(host == 0 ? "node-a" : "node-b", ++runs_);
    agents_[host]->header().sequence = 0;
  }
  void Kill(std::size_t host) { agents_[host].reset(); }
  /// What the agent says comes so many looks late.
  void Delay(std::size_t host, std::size_t looks) { delay_[host] = looks; }

  FakeSource job;
  AgentHub hub;

 private:
  void Send(std::size_t host, std::vector<RankSight> sights) {
    const Clock::Duration ahead = host == 0 ? seconds(5000) : seconds(70);
    for (RankSight& sight : sights) {
      sight.looked += ahead;
      for (telemetry::StepRecord& record : sight.batch.steps)
        record.end_ns += Clock::Duration(ahead).count();
    }
    TestAgent& agent = *agents_[host];
    if (exchange_[host]) {
      agent.header().echo = *exchange_[host];
    }
    late_[host].push_back({std::move(sights)});
    if (late_[host].size() <= delay_[host]) return;
    while (late_[host].size() > delay_[host]) {
      const Clock::Duration now = clock_.Now();
      const auto reply = hub.Take(agent.Message(late_[host].front(), now + ahead));
      late_[host].erase(late_[host].begin());
      const auto answer = AgentCodec::ReadAnswer(reply.body);
      if (reply.status != 200 || !answer) continue;  // a new agent, too early
      exchange_[host] = ClockEcho{answer->aggregator, now + ahead, now, now, now + ahead};
    }
  }

  ManualClock& clock_;
  std::array<std::optional<TestAgent>, 2> agents_;
  std::array<std::size_t, 2> delay_{};
  std::array<std::vector<std::vector<RankSight>>, 2> late_;
  std::array<std::optional<ClockEcho>, 2> exchange_;
  std::uint64_t runs_ = 0;
};

class ManyHostsTest : public testing::Test {
 protected:
  void Run(Clock::Duration time) {
    for (const auto end = clock_.Now() + time; clock_.Now() < end;) {
      watcher_.Look();
      source_.Wait(watcher_.next_look());
    }
  }

  ManualClock clock_;
  TwoHosts source_{clock_};
  News news_;
  Watcher watcher_{{}, source_, clock_, news_};
};

TEST_F(ManyHostsTest, AHealthyJobIsNoNewsHoweverAgentsComeAndGo) {
  Run(seconds(60));
  EXPECT_THAT(news_.hosts, ElementsAre("node-a", "node-b"));
  source_.Kill(1);
  Run(seconds(2));
  source_.Start(1);
  Run(seconds(120));
  EXPECT_THAT(news_.lines, IsEmpty());
  source_.job.EndAll(true);
  Run(seconds(1));
  EXPECT_THAT(news_.lines, ElementsAre("end"));
}

TEST_F(ManyHostsTest, ASlowRankIsNamed) {
  Run(seconds(25));
  source_.job.Slow(milliseconds(0));
  Run(seconds(25));
  EXPECT_THAT(news_.lines, ElementsAre("found slow-rank 1"));
}

TEST_F(ManyHostsTest, AnAgentThatDiesLeavesUsBlindAndNobodyIsAccused) {
  Run(seconds(25));
  source_.Kill(1);
  Run(seconds(30));
  ASSERT_THAT(news_.lines, ElementsAre("found blind node-b"));
  EXPECT_THAT(news_.summaries[0], HasSubstr("blind to ranks 2-3 on node-b"));
  source_.Start(1);
  Run(seconds(30));
  EXPECT_THAT(news_.lines, ElementsAre("found blind node-b", "over blind node-b"));
}

TEST_F(ManyHostsTest, AHostThatDiesIsToldFromAnAgentThatDies) {
  Run(seconds(25));
  source_.job.Freeze(false);  // rank 2; the others get into the collective and wait
  source_.Kill(1);
  Run(seconds(15));
  EXPECT_THAT(news_.lines, ElementsAre("found blind node-b", "changed host-lost 2 3 node-b"));
  EXPECT_THAT(news_.summaries.back(), HasSubstr("nothing is heard of ranks 2-3"));
}

TEST_F(ManyHostsTest, AFrozenRankOfAnotherHostIsNamed) {
  Run(seconds(25));
  source_.job.Freeze(false);
  Run(seconds(8));
  EXPECT_THAT(news_.lines, ElementsAre("found rank-frozen 2"));
}

/// Rank 2 dies first and its launcher ends the others. Its host tells late: nobody may be named by
/// the order in which hosts told.
TEST_F(ManyHostsTest, WhoDiedFirstIsNotToldByWhoToldFirst) {
  Run(seconds(25));
  source_.Delay(1, 8);  // two seconds
  Run(seconds(10));
  source_.job.Freeze(true);  // without it there is no next step
  source_.job.rank(2).ended = true;
  Run(milliseconds(250));
  source_.job.EndAll(false);
  Run(seconds(6));
  EXPECT_THAT(news_.lines, ElementsAre("found killed", "end"));
}

TEST_F(ManyHostsTest, ARankThatDiedWhileNobodyLookedHasEnded) {
  Run(seconds(25));
  source_.Kill(1);
  Run(seconds(10));
  source_.job.rank(3).ended = true;
  Run(seconds(1));  // the job has lost it by then
  source_.Start(1);
  Run(seconds(3));
  EXPECT_THAT(news_.lines,
              ElementsAre("found blind node-b", "over blind node-b", "found killed 3"));
}

TEST_F(ManyHostsTest, AJobThatNobodySeesAnyMoreIsGivenUp) {
  Run(seconds(25));
  source_.Kill(0);
  source_.Kill(1);
  Run(std::chrono::minutes(9));
  EXPECT_EQ(watcher_.jobs(), 1U);
  Run(std::chrono::minutes(2));
  EXPECT_EQ(watcher_.jobs(), 0U);
}

/// The same rank on two hosts: whoever told it first has it.
TEST(ManyHostsClaimsTest, ARankBelongsToTheHostThatToldItFirst) {
  ManualClock clock;
  AgentHub hub({}, clock);
  TestAgent first("node-a", 1);
  TestAgent second("node-b", 2);
  std::vector<std::string> hosts;
  class Claims final : public Listener {
   public:
    explicit Claims(std::vector<std::string>& told) : told_(told) {}
    void OnLook(const JobLook& look) override {
      for (const RankSight& sight : look.sights) told_.push_back(sight.host);
    }
    void OnJob(const JobEvents&) override {}
    void OnIncident(const JobEvents&, const Told&) override {}
    void OnEnd(const JobWatch&) override {}
    void OnLooked(const Watcher&, bool) override {}

   private:
    std::vector<std::string>& told_;
  } claims(hosts);
  FakeSource nobody(clock);
  nobody.EndAll(true);
  HostsSource source(nobody, hub);
  Watcher watcher({}, source, clock, claims);
  const auto say = [&](TestAgent& agent) {
    hub.Take(agent.Message({MadeSight(1, 4, 1, clock.Now())}, clock.Now()));
  };
  say(second);
  watcher.Look();
  say(first);
  say(second);
  watcher.Look();
  EXPECT_THAT(hosts, ElementsAre("node-b", "node-b"));
}

/// Hundreds of agents of eight ranks each, each with a clock of its own.
TEST(ManyHostsLoadTest, HundredsOfAgentsAreOneJob) {
  constexpr std::int32_t kAgents = 256;
  constexpr std::int32_t kRanks = 8;
  constexpr std::int32_t kSlow = 1234;
  constexpr std::uint64_t kOnset = 40;
  ManualClock clock;
  AgentHub hub({}, clock);
  std::vector<TestAgent> agents;
  for (std::int32_t host = 0; host < kAgents; ++host)
    agents.emplace_back("node" + std::to_string(host), static_cast<std::uint64_t>(host) + 1);
  FakeSource nobody(clock);
  nobody.EndAll(true);
  HostsSource source(nobody, hub);
  News news;
  Watcher watcher({}, source, clock, news);
  watcher.Look();  // the made-up local job has ended
  for (std::uint64_t step = 0; step < 70; ++step) {
    clock.Advance(seconds(1));
    for (std::int32_t host = 0; host < kAgents; ++host) {
      const Clock::Duration ahead = seconds(host * 1000);
      std::vector<RankSight> sights;
      for (std::int32_t rank = host * kRanks; rank < (host + 1) * kRanks; ++rank) {
        sights.push_back(MadeSight(rank, kAgents * kRanks, step, clock.Now() + ahead));
        telemetry::StepRecord& record = sights.back().batch.steps[0];
        const std::uint64_t own = step > kOnset && rank == kSlow ? 40'000'000 : 0;
        record.total_ns += step > kOnset ? 40'000'000 : 0;
        record.phase_ns[2] += own;
        record.phase_ns[4] = record.total_ns - record.phase_ns[2];
      }
      const auto at = static_cast<std::size_t>(host);
      ASSERT_EQ(hub.Take(agents[at].Message(sights, clock.Now() + ahead)).status, 200U);
    }
    watcher.Look();
  }
  EXPECT_THAT(news.lines, ElementsAre("found slow-rank 1234"));
  EXPECT_EQ(news.hosts.size(), static_cast<std::size_t>(kAgents));
}

}  // namespace
}  // namespace ringward::watch
