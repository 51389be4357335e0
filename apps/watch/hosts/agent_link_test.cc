// What an agent keeps and sends while its aggregator is away, slow, or refuses.
#include "watch/hosts/agent_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "watch/hosts/hosts_test_support.h"

namespace ringward::watch {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

TEST(AgentOutboxTest, MergesUntilItIsTaken) {
  AgentOutbox outbox;
  EXPECT_FALSE(outbox.Take());
  for (std::uint64_t step = 1; step <= 3; ++step)
    outbox.Add({MadeSight(0, 2, step, milliseconds(step)), MadeSight(1, 2, step, milliseconds(1))});
  const auto batch = outbox.Take();
  ASSERT_TRUE(batch && batch->round);
  ASSERT_EQ(batch->sights.size(), 2U);
  EXPECT_EQ(batch->sights[0].batch.steps.size(), 3U);
  EXPECT_EQ(batch->sights[0].looked, milliseconds(3));
  EXPECT_FALSE(outbox.Take());
  outbox.Add({});  // a look that shows nobody is a sign of life
  const auto nobody = outbox.Take();
  ASSERT_TRUE(nobody && nobody->round);
  EXPECT_TRUE(nobody->sights.empty());
}

TEST(AgentOutboxTest, ManyRanksGoInSeveralMessagesOfOneRound) {
  AgentOutbox outbox({.message_ranks = 2});
  const auto look = [&] {
    std::vector<RankSight> sights;
    for (std::int32_t rank = 0; rank < 5; ++rank)
      sights.push_back(MadeSight(rank, 5, 1, milliseconds(1)));
    outbox.Add(std::move(sights));
  };
  look();
  std::vector<std::int32_t> taken;
  for (int message = 0; message < 3; ++message) {
    const auto batch = outbox.Take();
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->round, message == 2);
    for (const RankSight& sight : batch->sights) taken.push_back(sight.who.rank);
    if (message == 0) look();  // those that were taken wait for the next round
  }
  EXPECT_THAT(taken, ElementsAre(0, 1, 2, 3, 4));
}

TEST(AgentOutboxTest, DropsTheOldestAndCountsButNoEnd) {
  AgentOutbox outbox({.records = 100});
  RankSight end = MadeSight(1, 2, 1, milliseconds(1));
  end.ended = true;
  outbox.Add({MadeSight(0, 2, 0, milliseconds(1)), end});
  for (std::uint64_t step = 1; step <= 200; ++step)
    outbox.Add({MadeSight(0, 2, step, milliseconds(step))});
  const auto batch = outbox.Take();
  ASSERT_TRUE(batch);
  ASSERT_EQ(batch->sights.size(), 2U);
  const RankSight& kept = batch->sights[0];
  EXPECT_EQ(kept.batch.steps.back().step, 200U);
  EXPECT_LE(kept.batch.steps.size() + kept.batch.metrics.size(), 100U);
  const std::uint64_t all = 2 * 201 + 2;
  const auto held = kept.batch.steps.size() + kept.batch.metrics.size() +
                    batch->sights[1].batch.steps.size() + batch->sights[1].batch.metrics.size();
  EXPECT_EQ(outbox.dropped(), all - held);
  EXPECT_EQ(kept.batch.overwritten + batch->sights[1].batch.overwritten, outbox.dropped());
  EXPECT_TRUE(batch->sights[1].ended);
}

/// An aggregator of which a test says when it is there.
class TestPost final : public AgentPost {
 public:
  explicit TestPost(AgentHub& hub) : hub_(hub) {}
  Result<Reply> Post(const std::string& body) override {
    ++attempts;
    if (spoils.exchange(false)) return Refused(hub_.Take("garbage"));
    if (away) return Error(Code::kUnavailable, "away");
    const AgentReply reply = hub_.Take(body);
    // An answer that is lost: the message has been taken.
    if (lost.exchange(false)) return Error(Code::kUnavailable, "lost");
    return Reply{reply.status, reply.body};
  }
  void Stop() override {}
  std::atomic<bool> away = false;
  std::atomic<bool> lost = false;
  std::atomic<bool> spoils = false;
  std::atomic<int> attempts = 0;

 private:
  static Reply Refused(AgentReply reply) { return {reply.status, std::move(reply.body)}; }

  AgentHub& hub_;
};

template <typename Condition>
testing::AssertionResult Soon(const Condition& condition) {
  for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
       std::chrono::steady_clock::now() < end; std::this_thread::sleep_for(milliseconds(1))) {
    if (condition()) return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "not within ten seconds";
}

class AgentLinkTest : public testing::Test {
 protected:
  AgentLinkTest() {
    auto post = std::make_unique<TestPost>(hub_);
    post_ = post.get();
    link_ = std::make_unique<AgentLink>(
        AgentLink::Options{
            .host = "a", .again_after = milliseconds(1), .again_most = milliseconds(2)},
        std::move(post), SystemClock());
  }
  void Offer(std::uint64_t step) { link_->Offer({MadeSight(0, 1, step, SystemClock().Now())}); }
  bool Taken(std::uint64_t messages) const {
    return !hub_.agents().empty() && hub_.agents()[0].messages >= messages;
  }
  /// Steps of all looks at the hub.
  std::vector<std::uint64_t> Steps() {
    std::vector<std::uint64_t> steps;
    for (const RankSight& sight : hub_.Look()) {
      for (const telemetry::StepRecord& record : sight.batch.steps) steps.push_back(record.step);
    }
    return steps;
  }

  AgentHub hub_{{}, SystemClock()};
  TestPost* post_ = nullptr;
  std::unique_ptr<AgentLink> link_;
};

TEST_F(AgentLinkTest, WhatIsOfferedWhileNobodyTakesItArrivesOnce) {
  post_->away = true;
  Offer(1);
  ASSERT_TRUE(Soon([&] { return post_->attempts > 2; }));
  Offer(2);
  Offer(3);
  post_->lost = true;
  post_->away = false;
  ASSERT_TRUE(Soon([&] { return Taken(2); }));
  EXPECT_THAT(Steps(), ElementsAre(1, 2, 3));
  EXPECT_EQ(hub_.agents()[0].again, 1U);
  EXPECT_EQ(hub_.agents()[0].missing, 0U);
  EXPECT_GT(link_->counts().failed, 2U);
}

TEST_F(AgentLinkTest, AMessageThatCannotBeReadIsNotSentAgain) {
  Offer(1);
  ASSERT_TRUE(Soon([&] { return Taken(1); }));
  post_->spoils = true;
  Offer(2);
  ASSERT_TRUE(Soon([&] { return !post_->spoils; }));
  Offer(3);
  ASSERT_TRUE(Soon([&] { return Taken(2); }));
  EXPECT_THAT(Steps(), ElementsAre(1, 3));
  EXPECT_EQ(hub_.agents()[0].missing, 1U);
}

TEST_F(AgentLinkTest, ClocksAreComparedByTheSecondMessage) {
  Offer(1);
  ASSERT_TRUE(Soon([&] { return Taken(1); }));
  Offer(2);
  ASSERT_TRUE(Soon([&] { return Taken(2); }));
  hub_.Look();
  EXPECT_LT(hub_.agents()[0].clock_unsure, std::chrono::seconds(1));
}

TEST_F(AgentLinkTest, ItSaysThatItLeaves) {
  Offer(1);
  link_.reset();
  EXPECT_THAT(Steps(), ElementsAre(1));
  // Another may speak for its host at once.
  TestAgent next("a", 77);
  EXPECT_EQ(hub_.Take(next.Message({}, SystemClock().Now())).status, 200U);
}

TEST_F(AgentLinkTest, TheEndWaitsForNobodyForLong) {
  post_->away = true;
  Offer(1);
  const auto begin = std::chrono::steady_clock::now();
  link_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace ringward::watch
