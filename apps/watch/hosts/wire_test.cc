#include "watch/hosts/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"
#include "watch/hosts/hosts_test_support.h"

namespace ringward::watch {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(AgentCodecTest, WhatIsWrittenIsRead) {
  RankSight sight = MadeSight(3, 8, 41, milliseconds(1234));
  sight.who.start_time = 77;
  sight.state.phase = telemetry::Phase::kBackward;
  sight.state.slow = telemetry::SlowReason::kEvaluate;
  sight.state.inside_collective = sight.state.closed = sight.ended = sight.stopped = true;
  sight.batch.steps[0].wait_ns[3] = 5;
  sight.batch.steps[0].flags = telemetry::kSlowFlag;
  sight.batch.metrics.push_back({.step = 42, .metric = 1, .count = 2, .sum = NAN});
  sight.batch.overwritten = 9;
  sight.batch.malformed = 2;
  sight.machine = {{signal::Known::kCpu, 0.5}, {signal::Known::kWorkFree, 1e12}};
  AgentHeader header{.software = "s", .host = "node", .run = 5, .sequence = 6};
  header.sent = milliseconds(9);
  header.round = header.leaving = true;
  header.dropped = 11;
  header.echo = ClockEcho{1, milliseconds(2), milliseconds(3), milliseconds(4), milliseconds(5)};
  AgentCodec codec;
  const auto packed = codec.Pack(std::vector{sight, MadeSight(4, 8, 41, milliseconds(1))});
  ASSERT_TRUE(packed);
  const auto read = codec.Read(AgentCodec::Message(header, *packed));
  ASSERT_TRUE(read) << read.error().what();
  EXPECT_EQ(read->header.host, "node");
  EXPECT_EQ(read->header.sequence, 6U);
  EXPECT_TRUE(read->header.round && read->header.leaving);
  EXPECT_EQ(read->header.dropped, 11U);
  EXPECT_EQ(read->header.echo->returned, milliseconds(5));
  ASSERT_EQ(read->sights.size(), 2U);
  const RankSight& got = read->sights[0];
  EXPECT_EQ(got.who.job, "job");
  EXPECT_EQ(got.who.rank, 3);
  EXPECT_EQ(got.who.start_time, 77U);
  EXPECT_EQ(got.looked, milliseconds(1234));
  EXPECT_EQ(got.state.phase, telemetry::Phase::kBackward);
  EXPECT_EQ(got.state.slow, telemetry::SlowReason::kEvaluate);
  EXPECT_TRUE(got.state.inside_collective && got.state.closed && got.ended && got.stopped);
  ASSERT_EQ(got.batch.steps.size(), 1U);
  EXPECT_EQ(got.batch.steps[0].phase_ns[2], sight.batch.steps[0].phase_ns[2]);
  EXPECT_EQ(got.batch.steps[0].wait_ns[3], 5U);
  EXPECT_EQ(got.batch.steps[0].flags, telemetry::kSlowFlag);
  ASSERT_EQ(got.batch.metrics.size(), 2U);
  EXPECT_TRUE(std::isnan(got.batch.metrics[1].sum));
  EXPECT_EQ(got.batch.overwritten, 9U);
  EXPECT_EQ(got.batch.malformed, 2U);
  ASSERT_EQ(got.machine.size(), 2U);
  EXPECT_EQ(got.machine[1].metric, signal::Known::kWorkFree);
  EXPECT_EQ(got.machine[1].value, 1e12);
}

TEST(AgentCodecTest, AnAnswerIsRead) {
  const AgentAnswer answer{7, 8, milliseconds(9), milliseconds(10)};
  const auto read = AgentCodec::ReadAnswer(AgentCodec::Answer(answer));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->aggregator, 7U);
  EXPECT_EQ(read->taken, 8U);
  EXPECT_EQ(read->received, milliseconds(9));
  EXPECT_EQ(read->answered, milliseconds(10));
}

/// A field as any protobuf writer writes it.
std::string BytesField(char number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

/// A message of a later version: fields nobody knows yet, behind those that are known.
TEST(AgentCodecTest, FieldsOfALaterVersionArePassedOver) {
  AgentCodec codec;
  const auto packed = codec.Pack(std::vector{MadeSight(0, 1, 1, milliseconds(1))});
  ASSERT_TRUE(packed);
  const AgentHeader header{.host = "n", .run = 1, .sequence = 1};
  const std::string unknown = std::string("\xf8\x07\x05", 3) + BytesField(15, "what is this");
  const auto read = codec.Read(unknown + AgentCodec::Message(header, *packed) + unknown);
  ASSERT_TRUE(read) << read.error().what();
  EXPECT_EQ(read->sights.size(), 1U);
  // A field of another type than ours is none of ours.
  const auto other =
      codec.Read(AgentCodec::Message(header, *packed) + BytesField(4, "run as text"));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->header.run, 1U);
}

TEST(AgentCodecTest, AnotherProtocolIsReadAsFarAsItsName) {
  const AgentHeader header{.protocol = 2, .host = "n", .run = 1, .sequence = 1};
  const auto read = AgentCodec().Read(AgentCodec::Message(header, "not packed as we do"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->header.protocol, 2U);
  EXPECT_TRUE(read->sights.empty());
}

TEST(AgentCodecTest, WhatIsNoMessageIsRefused) {
  AgentCodec codec;
  const AgentHeader header{.host = "n", .run = 1, .sequence = 1};
  const auto message = [&](std::vector<RankSight> sights) {
    return AgentCodec::Message(header, *codec.Pack(sights));
  };
  const auto spoilt = [](auto change) {
    RankSight sight = MadeSight(0, 4, 1, milliseconds(1));
    change(sight);
    return sight;
  };
  const RankSight good = MadeSight(0, 4, 1, milliseconds(1));
  const std::string whole = message({good});
  const struct {
    const char* title;
    std::string body;
    const char* told;
  } rows[] = {
      {"text", "GET / HTTP/1.1\r\n\r\n", "no such message"},
      {"a number without end", std::string(20, '\xff'), "no such message"},
      {"cut short", whole.substr(0, whole.size() - 3), "no such message"},
      {"nothing packed", AgentCodec::Message(header, ""), "not packed"},
      {"text packed", AgentCodec::Message(header, "sights"), "not packed"},
      {"a bomb",
       AgentCodec::Message(header, std::string("\x28\xb5\x2f\xfd\xa0\xff\xff\xff\x7f", 9)),
       "too many"},
      {"a rank beyond the world", message({spoilt([](RankSight& s) { s.who.rank = 4; })}), "range"},
      {"a negative rank", message({spoilt([](RankSight& s) { s.who.rank = -1; })}), "range"},
      {"no world", message({spoilt([](RankSight& s) { s.who.world = 0; })}), "range"},
      {"no process", message({spoilt([](RankSight& s) { s.who.pid = 0; })}), "range"},
      {"too many ranks", message(std::vector<RankSight>(kAgentSightsMost + 1, good)), "more ranks"},
      {"too many steps", message({spoilt([](RankSight& s) {
         s.batch.steps.resize(kSightStepsMost + 2, s.batch.steps[0]);
       })}),
       "more records"},
      {"too long", std::string(kAgentBodyMost + 1, 'x'), "too long"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.title);
    const auto read = codec.Read(row.body);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), Code::kCorrupt);
    EXPECT_THAT(read.error().what(), HasSubstr(row.told));
  }
}

TEST(AgentCodecTest, NumbersOutOfRangeAreBroughtIntoIt) {
  RankSight sight = MadeSight(0, 1, 1, milliseconds(1));
  sight.state.phase = static_cast<telemetry::Phase>(200);
  sight.state.slow = static_cast<telemetry::SlowReason>(200);
  sight.looked = Clock::Duration(std::numeric_limits<std::int64_t>::min());
  sight.batch.steps[0].end_ns = std::numeric_limits<std::int64_t>::max();
  sight.batch.steps.push_back({.step = 2, .steps = 0});
  sight.batch.metrics[0].count = 0;
  sight.machine = {{static_cast<signal::Known>(9999), 1.0}};
  sight.who.job = "a\nb\xff\xc3\xa4";
  AgentCodec codec;
  const auto read = codec.Read(
      AgentCodec::Message({.host = "h\x1b", .run = 1, .sequence = 1}, *codec.Pack({&sight, 1})));
  ASSERT_TRUE(read);
  const RankSight& got = read->sights[0];
  EXPECT_EQ(got.state.phase, telemetry::Phase::kOther);
  EXPECT_EQ(got.state.slow, telemetry::SlowReason::kNone);
  EXPECT_EQ(got.looked, Clock::Duration(0));
  EXPECT_LT(got.batch.steps[0].end_ns, std::numeric_limits<std::int64_t>::max() / 2);
  EXPECT_EQ(got.batch.steps.size(), 1U);
  EXPECT_TRUE(got.batch.metrics.empty());
  EXPECT_EQ(got.batch.malformed, 2U);
  EXPECT_TRUE(got.machine.empty());
  EXPECT_EQ(got.who.job, "a?b?\xc3\xa4");
  EXPECT_EQ(read->header.host, "h?");
}

/// Any bytes of a sound message changed: a value or an error, never more.
TEST(AgentCodecTest, SpoiltMessagesEndInAValueOrAnError) {
  AgentCodec codec;
  std::vector<RankSight> sights;
  for (std::int32_t rank = 0; rank < 8; ++rank)
    sights.push_back(MadeSight(rank, 8, 7, milliseconds(70)));
  const std::string sound =
      AgentCodec::Message({.host = "n", .run = 1, .sequence = 1}, *codec.Pack(sights));
  Rng rng(20261130);
  int refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string body = sound;
    const auto changes = 1 + rng.Below(4);
    for (std::uint64_t i = 0; i < changes; ++i)
      body[static_cast<std::size_t>(rng.Below(body.size()))] = static_cast<char>(rng.Below(256));
    refused += codec.Read(body) ? 0 : 1;
  }
  EXPECT_GT(refused, 0);
}

TEST(MergeSightTest, KeepsTheNewestAndCountsTheRest) {
  RankSight into = MadeSight(0, 1, 0, milliseconds(1));
  into.batch.overwritten = 5;
  into.ended = true;
  for (std::uint64_t step = 1; step <= kSightStepsMost; ++step)
    MergeSight(into, MadeSight(0, 1, step, milliseconds(step)));
  EXPECT_EQ(into.batch.steps.size(), kSightStepsMost);
  EXPECT_EQ(into.batch.steps.front().step, 1U);
  EXPECT_EQ(into.batch.metrics.size(), kSightStepsMost + 1);
  EXPECT_EQ(into.batch.overwritten, 6U);
  EXPECT_EQ(into.state.step, kSightStepsMost + 1);
  EXPECT_TRUE(into.ended);
}

}  // namespace
}  // namespace ringward::watch
