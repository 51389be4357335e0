// What the aggregator makes of agents that are well, late, double, hostile or gone.
#include "watch/hosts/agent_hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "watch/hosts/hosts_test_support.h"

namespace ringward::watch {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// "0 1b 2e": the ranks of a look, blind ones with b, ended ones with e.
std::string Ranks(const std::vector<RankSight>& sights) {
  std::string text;
  for (const RankSight& sight : sights) {
    text += (text.empty() ? "" : " ") + std::to_string(sight.who.rank) + (sight.blind ? "b" : "") +
            (sight.ended ? "e" : "");
  }
  return text;
}

class AgentHubTest : public testing::Test {
 protected:
  AgentHubTest() {
    clock_.Advance(seconds(100));
    hub_.Look();
  }
  /// A message of the agent, whose clock is `ahead` of ours.
  AgentReply Say(TestAgent& agent, const std::vector<std::int32_t>& ranks,
                 Clock::Duration ahead = seconds(1000)) {
    std::vector<RankSight> sights;
    for (const std::int32_t rank : ranks)
      sights.push_back(MadeSight(rank, 4, step_, clock_.Now() + ahead));
    ++step_;
    return hub_.Take(agent.Message(sights, clock_.Now() + ahead));
  }
  /// Looks four times a second for so long.
  std::vector<RankSight> LookFor(Clock::Duration time) {
    std::vector<RankSight> last;
    for (const auto end = clock_.Now() + time; clock_.Now() < end;) {
      clock_.Advance(milliseconds(250));
      last = hub_.Look();
    }
    return last;
  }
  AgentStatus StatusOf(std::size_t at = 0) const { return hub_.agents().at(at); }

  ManualClock clock_;
  AgentHub hub_{{}, clock_};
  std::uint64_t step_ = 1;
};

TEST_F(AgentHubTest, ShowsEachRankOnceALookAndNewsOnce) {
  TestAgent a("a", 1);
  TestAgent b("b", 2);
  EXPECT_EQ(Say(a, {0, 1}).status, 200U);
  EXPECT_EQ(Say(b, {2, 3}).status, 200U);
  Say(a, {0, 1});
  auto seen = hub_.Look();
  EXPECT_EQ(Ranks(seen), "0 1 2 3");
  EXPECT_EQ(seen[0].host, "a");
  EXPECT_EQ(seen[2].host, "b");
  EXPECT_EQ(seen[0].batch.steps.size(), 2U);
  EXPECT_EQ(seen[2].batch.steps.size(), 1U);
  seen = hub_.Look();
  EXPECT_EQ(Ranks(seen), "0 1 2 3");
  EXPECT_THAT(seen[0].batch.steps, IsEmpty());
}

TEST_F(AgentHubTest, TimesAreOnOurClock) {
  TestAgent a("a", 1);
  Say(a, {0});
  EXPECT_EQ(hub_.Look()[0].unsure, seconds(1));  // no exchange yet
  const auto answer = AgentCodec::ReadAnswer(Say(a, {0}).body);
  ASSERT_TRUE(answer);
  // The way there took 10 ms and the way back 30: the middle is 10 ms off, and says so.
  a.header().echo = ClockEcho{.aggregator = answer->aggregator,
                              .sent = clock_.Now() + seconds(1000) - milliseconds(10),
                              .received = clock_.Now(),
                              .answered = clock_.Now(),
                              .returned = clock_.Now() + seconds(1000) + milliseconds(30)};
  clock_.Advance(milliseconds(40));
  Say(a, {0});
  auto seen = hub_.Look();
  EXPECT_LE(std::chrono::abs(seen[0].looked - (clock_.Now() - milliseconds(10))), milliseconds(1));
  EXPECT_GE(seen[0].unsure, milliseconds(20));
  EXPECT_LE(seen[0].unsure, milliseconds(21));
  EXPECT_EQ(seen[0].batch.steps.back().end_ns, seen[0].looked.count());
  // A better one counts, a worse one does not, and what is known grows old.
  a.header().echo->sent += milliseconds(9);
  a.header().echo->returned -= milliseconds(29);
  Say(a, {0});
  EXPECT_LE(hub_.Look()[0].unsure, milliseconds(2));
  a.header().echo->sent -= seconds(1);
  Say(a, {0});
  EXPECT_LE(hub_.Look()[0].unsure, milliseconds(2));
  a.header().echo.reset();
  for (int i = 0; i < 100; ++i) {
    clock_.Advance(seconds(1));
    Say(a, {0});
    hub_.Look();
  }
  EXPECT_GE(hub_.Look()[0].unsure, milliseconds(20));
}

TEST_F(AgentHubTest, ExchangesThatCannotHaveBeenArePassedOver) {
  TestAgent a("a", 1);
  const auto answer = AgentCodec::ReadAnswer(Say(a, {0}).body);
  const ClockEcho rows[] = {
      {0, seconds(1), seconds(2), seconds(2), seconds(3)},                   // another's
      {answer->aggregator, seconds(9), seconds(2), seconds(2), seconds(3)},  // back before sent
      {answer->aggregator, seconds(1), seconds(3), seconds(2), seconds(3)},  // answered first
      {answer->aggregator, seconds(1), seconds(900), seconds(900), seconds(3)}};  // to come
  for (const ClockEcho& echo : rows) {
    a.header().echo = echo;
    Say(a, {0});
    EXPECT_EQ(hub_.Look()[0].unsure, seconds(1));
  }
}

TEST_F(AgentHubTest, ATimeNeverGoesBackNorIntoTheFuture) {
  TestAgent a("a", 1);
  Say(a, {0});
  const Clock::Duration first = hub_.Look()[0].looked;
  clock_.Advance(seconds(1));
  hub_.Take(a.Message({MadeSight(0, 4, 5, seconds(1))}, clock_.Now() + seconds(1000)));
  EXPECT_EQ(hub_.Look()[0].looked, first);
  hub_.Take(a.Message({MadeSight(0, 4, 6, seconds(999'999))}, clock_.Now() + seconds(1000)));
  EXPECT_EQ(hub_.Look()[0].looked, clock_.Now());
}

TEST_F(AgentHubTest, AMessageThatComesTwiceIsTakenOnce) {
  TestAgent a("a", 1);
  Say(a, {0});
  const AgentReply again = hub_.Take(a.Message({MadeSight(0, 4, 1, seconds(1))}, seconds(1), true));
  EXPECT_EQ(again.status, 200U);
  EXPECT_EQ(AgentCodec::ReadAnswer(again.body)->taken, 1U);
  EXPECT_EQ(hub_.Look()[0].batch.steps.size(), 1U);
  EXPECT_EQ(StatusOf().again, 1U);
}

TEST_F(AgentHubTest, WhatIsMissingIsCounted) {
  TestAgent a("a", 1);
  a.header().sequence = 500;  // another aggregator took those before
  Say(a, {0});
  EXPECT_EQ(StatusOf().missing, 0U);
  a.header().sequence += 3;
  a.header().dropped = 40;
  Say(a, {0});
  EXPECT_EQ(StatusOf().missing, 3U);
  EXPECT_EQ(StatusOf().dropped, 40U);
  a.header().dropped = 45;
  Say(a, {0});
  EXPECT_EQ(StatusOf().dropped, 45U);
}

TEST_F(AgentHubTest, AnAgentThatIsSilentLeavesUsBlindUntilItIsBack) {
  TestAgent a("a", 1);
  Say(a, {0, 1});
  EXPECT_EQ(Ranks(LookFor(milliseconds(2750))), "0 1");
  EXPECT_EQ(Ranks(LookFor(milliseconds(500))), "0b 1b");
  EXPECT_FALSE(StatusOf().heard);
  Say(a, {0, 1});
  EXPECT_EQ(Ranks(hub_.Look()), "0 1");
  EXPECT_TRUE(StatusOf().heard);
}

TEST_F(AgentHubTest, AnAgentThatStartsAnewIsBelievedOnceTheOldOneIsGone) {
  const struct {
    bool leaving;
    milliseconds later;
    unsigned status;
  } rows[] = {{true, milliseconds(0), 200},
              {false, milliseconds(750), 409},
              {false, milliseconds(1000), 200}};
  for (const auto& row : rows) {
    const std::string host = "a" + std::to_string(row.later.count());
    TestAgent old(host, 1);
    old.header().leaving = row.leaving;
    Say(old, {0});
    LookFor(row.later);
    TestAgent fresh(host, 2);
    EXPECT_EQ(Say(fresh, {0}).status, row.status) << host;
  }
}

TEST_F(AgentHubTest, ForgetsAnAgentAfterAnHour) {
  TestAgent a("a", 1);
  Say(a, {0});
  EXPECT_EQ(Ranks(LookFor(std::chrono::minutes(59))), "0b");
  EXPECT_EQ(Ranks(LookFor(std::chrono::minutes(2))), "");
  EXPECT_THAT(hub_.agents(), IsEmpty());
}

TEST_F(AgentHubTest, AWatcherThatSleptDoesNotCallAgentsSilent) {
  TestAgent a("a", 1);
  Say(a, {0});
  hub_.Look();
  clock_.Advance(seconds(60));
  EXPECT_EQ(Ranks(hub_.Look()), "0");
}

TEST_F(AgentHubTest, RanksThatANewAgentDoesNotFindHaveEnded) {
  TestAgent old("a", 1);
  Say(old, {0, 1});
  LookFor(seconds(4));
  TestAgent fresh("a", 2);
  Say(fresh, {1});
  EXPECT_EQ(Ranks(hub_.Look()), "0e 1");
  EXPECT_EQ(Ranks(hub_.Look()), "1");
}

TEST_F(AgentHubTest, ARankThatItsAgentTellsNoMoreIsShownNoMore) {
  TestAgent a("a", 1);
  Say(a, {0, 1});
  hub_.Look();
  // Half of a round says nothing of the other half.
  a.header().round = false;
  Say(a, {1});
  EXPECT_EQ(Ranks(hub_.Look()), "0 1");
  a.header().round = true;
  Say(a, {0});
  EXPECT_EQ(Ranks(hub_.Look()), "0 1");
  Say(a, {1});
  EXPECT_EQ(Ranks(hub_.Look()), "1");
}

TEST_F(AgentHubTest, AnEndIsShownOnceEvenByAnAgentThatIsGone) {
  TestAgent a("a", 1);
  RankSight end = MadeSight(0, 4, 1, clock_.Now());
  end.ended = end.state.closed = true;
  hub_.Take(a.Message({end, MadeSight(1, 4, 1, clock_.Now())}, clock_.Now()));
  a.header().leaving = true;
  Say(a, {});
  EXPECT_EQ(Ranks(hub_.Look()), "0e");  // rank 1 is followed no more
  EXPECT_EQ(Ranks(hub_.Look()), "");
}

TEST_F(AgentHubTest, OfTwoAgentsOfOneNameTheFirstIsBelieved) {
  TestAgent first("a", 1);
  TestAgent second("a", 2);
  Say(first, {0});
  const AgentReply refused = Say(second, {0});
  EXPECT_EQ(refused.status, 409U);
  EXPECT_THAT(refused.body, HasSubstr("--host-name"));
  EXPECT_EQ(StatusOf().refused, 1U);
  LookFor(seconds(4));
  EXPECT_EQ(Say(second, {0}).status, 200U);
  EXPECT_EQ(Say(first, {0}).status, 409U);
}

TEST_F(AgentHubTest, SaysWhyItRefuses) {
  TestAgent a("", 1);
  EXPECT_EQ(Say(a, {0}).status, 400U);
  a.header().host = "a";
  a.header().run = 0;
  EXPECT_EQ(Say(a, {0}).status, 400U);
  a.header().run = 1;
  a.header().protocol = kAgentProtocol + 1;
  const AgentReply newer = Say(a, {0});
  EXPECT_EQ(newer.status, 426U);
  EXPECT_THAT(newer.body, HasSubstr("protocol 2, the aggregator 1"));
  EXPECT_EQ(hub_.Take("garbage").status, 400U);
  EXPECT_THAT(hub_.Look(), IsEmpty());
  EXPECT_THAT(hub_.agents(), IsEmpty());
}

TEST_F(AgentHubTest, HoldsSoManyAgentsAndNoMore) {
  for (std::uint64_t i = 0; i < 4096; ++i) {
    TestAgent agent("host" + std::to_string(i), 1);
    ASSERT_EQ(Say(agent, {}).status, 200U);
  }
  TestAgent more("one more", 1);
  EXPECT_EQ(Say(more, {}).status, 503U);
}

}  // namespace
}  // namespace ringward::watch
