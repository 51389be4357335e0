#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "base/rng.h"
#include "detect/level_shift.h"
#include "detect/rank_shift.h"
#include "signal/metric.h"

namespace ringward::detect {
namespace {

constexpr double kFramesPerDay = 86'400.0;
constexpr double kAlarms = 0.1;
constexpr int kFrames = 400;
constexpr int kOnset = 200;

signal::Topology::Groups OneGroupOf(std::size_t members) {
  std::vector<std::int32_t> all(members);
  std::iota(all.begin(), all.end(), 0);
  return {all};
}

/// Changes member m's value of a frame.
using Change = std::function<float(int frame, std::size_t m, float x)>;

/// Members whose CUSUM ever crosses the level, with the frame in which it first does.
std::vector<std::pair<std::size_t, int>> Found(RankShift& shift, std::uint64_t seed,
                                               const Change& change) {
  std::vector<std::pair<std::size_t, int>> found;
  std::vector<float> x(shift.members());
  std::vector<char> known(shift.members(), 0);
  for (int frame = 0; frame < kFrames; ++frame) {
    Rng random(seed, RngPurpose::kTest, static_cast<std::uint64_t>(frame));
    for (std::size_t m = 0; m < x.size(); ++m)
      x[m] = change(frame, m, static_cast<float>(0.03 * random.Normal()));
    if (!shift.Observe(x)) continue;
    const double level = shift.Level(kFramesPerDay, kAlarms);
    for (std::size_t m = 0; m < x.size(); ++m) {
      if (known[m] == 0 && static_cast<double>(shift.cusum(m)) > level) {
        known[m] = 1;
        found.emplace_back(m, frame);
      }
    }
  }
  return found;
}

struct ShiftCase {
  const char* title;
  std::size_t members;
  Change change;
  std::vector<std::size_t> found;
  int frames_max = 25;  // from onset to found
};

/// Adds `shift` to some members from kOnset on. 0.182 is log(1.2).
Change Add(std::vector<std::size_t> members, float shift) {
  return [=](int frame, std::size_t m, float x) {
    const bool one = std::find(members.begin(), members.end(), m) != members.end();
    return one && frame >= kOnset ? x + shift : x;
  };
}

/// The last member is away two frames in three.
Change Gaps(Change change) {
  return [=](int frame, std::size_t m, float x) {
    return m == 7 && frame % 3 != 0 ? signal::kMissing : change(frame, m, x);
  };
}

/// Members differ all the time, by up to three times.
Change Unlike(Change change) {
  return [=](int frame, std::size_t m, float x) {
    return change(frame, m, x) + 0.15F * static_cast<float>((m * 5) % 8);
  };
}

const ShiftCase kShiftCases[] = {
    {"healthy", 8, Add({}, 0.0F), {}},
    {"one of 8", 8, Add({5}, 0.182F), {5}},
    {"two of 8", 8, Add({6, 7}, 0.3F), {6, 7}},
    {"one of 3", 3, Add({1}, 0.3F), {1}, 100},
    {"one of two", 2, Add({1}, 0.4F), {1}, 100},
    {"one alone against its past", 1, Add({0}, 0.4F), {0}, 100},
    {"one of 64", 64, Add({40}, 0.182F), {40}},
    {"down is no trouble", 8, Add({5}, -0.5F), {}},
    {"all together", 8, Add({0, 1, 2, 3, 4, 5, 6, 7}, 0.5F), {}},
    {"steady differences of 3", 3, Unlike(Add({}, 0.0F)), {}},
    {"steady differences", 8, Unlike(Add({}, 0.0F)), {}},
    {"one of 8 that differ", 8, Unlike(Add({5}, 0.182F)), {5}},
    {"one of 64 that differ", 64, Unlike(Add({5}, 0.182F)), {5}},
    {"one, another away now and then", 8, Gaps(Add({5}, 0.182F)), {5}},
    {"away during the warm-up",
     8,
     [](int f, std::size_t m, float x) { return m == 2 && f < 100 ? signal::kMissing : x + 0.4F; },
     {}},
    {"all apart at once",
     16,
     [](int f, std::size_t, float x) { return x * (f >= kOnset ? 6.0F : 1.0F); },
     {}},
    {"one wild frame",
     8,
     [](int f, std::size_t m, float x) { return x + (m == 5 && f == kOnset ? 50.0F : 0.0F); },
     {}},
};

TEST(RankShiftTest, FindsExactlyTheMembersThatShift) {
  for (const ShiftCase& c : kShiftCases) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      SCOPED_TRACE(std::string(c.title) + ", seed " + std::to_string(seed));
      RankShift shift(c.members, OneGroupOf(c.members), {});
      std::vector<std::size_t> members;
      for (const auto& [member, frame] : Found(shift, seed, c.change)) {
        members.push_back(member);
        EXPECT_GE(frame, kOnset) << "member " << member;
        EXPECT_LE(frame, kOnset + c.frames_max) << "member " << member;
      }
      std::sort(members.begin(), members.end());
      EXPECT_EQ(members, c.found);
    }
  }
}

TEST(RankShiftTest, WarmsUpOnOptionsWarmupFrames) {
  RankShift shift(4, OneGroupOf(4), {.warmup = 10});
  const std::vector<float> x(4, 0.5F);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(shift.Observe(x)) << i;
  EXPECT_TRUE(shift.ready());
  EXPECT_TRUE(shift.Observe(x));
  EXPECT_EQ(shift.frames(), 11);
  EXPECT_NEAR(shift.expected(2), 0.5F, 1e-6F);
}

TEST(RankShiftTest, KnowsSinceWhenAndRecovers) {
  RankShift shift(8, OneGroupOf(8), {});
  (void)Found(shift, 7, [](int f, std::size_t m, float x) {
    return x + (m == 5 && f >= kOnset ? 0.3F : 0.0F);
  });
  EXPECT_NEAR(static_cast<double>(shift.since(5)), kOnset, 5.0);
  EXPECT_NEAR(shift.residual()[5], 0.3F, 0.15F);
  shift.Restart(5);
  EXPECT_EQ(shift.cusum(5), 0.0F);
  const std::vector<float> level(8, 0.0F);
  for (int i = 0; i < 50; ++i) shift.Observe(level);
  EXPECT_EQ(shift.cusum(5), 0.0F);
}

TEST(RankShiftTest, AMemberInTroubleKeepsItsBaseline) {
  RankShift shift(8, OneGroupOf(8), {});
  std::vector<float> x(8, 0.0F);
  for (int i = 0; i < 40; ++i) shift.Observe(x);
  shift.SetTrouble(5, true);
  x[5] = 0.5F;
  for (int i = 0; i < 1000; ++i) shift.Observe(x);
  EXPECT_NEAR(shift.expected(5), 0.0F, 1e-3F);
  EXPECT_GT(shift.cusum(5), 100.0F);
}

TEST(RankShiftTest, GroupsAreJudgedApart) {
  // Stage 1 moves as a whole: against its likes no member of it is slow.
  RankShift shift(8, {{0, 2, 4, 6}, {1, 3, 5, 7}}, {});
  EXPECT_TRUE(Found(shift, 3, [](int f, std::size_t m, float x) {
                return x + (m % 2 == 1 && f >= kOnset ? 0.5F : 0.0F);
              }).empty());
}

TEST(LevelShiftTest, FindsAShiftUpAndNothingElse) {
  struct Case {
    const char* title;
    float shift;
    bool found;
  };
  const Case cases[] = {{"healthy", 0.0F, false},
                        {"half more", 0.4F, true},
                        {"twice", 0.7F, true},
                        {"down", -0.7F, false},
                        {"a little", 0.02F, false}};
  for (const Case& c : cases) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      SCOPED_TRACE(std::string(c.title) + ", seed " + std::to_string(seed));
      Rng random(seed);
      LevelShift level({});
      int found = -1;
      for (int i = 0; i < kFrames; ++i) {
        const auto noise = static_cast<float>(0.05 * random.Normal());
        const float x = 2.0F + noise + (i >= kOnset ? c.shift : 0.0F);
        if (!level.Observe(x)) continue;
        const bool above = static_cast<double>(level.cusum()) > level.Level(kFramesPerDay, kAlarms);
        if (above && found < 0) found = i;
      }
      EXPECT_EQ(found >= 0, c.found) << found;
      if (!c.found) continue;
      EXPECT_GE(found, kOnset);
      EXPECT_LE(found, kOnset + 40);
    }
  }
}

TEST(LevelShiftTest, LearnsHowFarTheLevelWanders) {
  LevelShift still({});
  LevelShift restless({});
  Rng random(5);
  for (int i = 0; i < 2000; ++i) {
    still.Observe(static_cast<float>(0.02 * random.Normal()));
    restless.Observe((i / 16) % 2 == 0 ? 0.3F : -0.3F);
  }
  EXPECT_LT(still.wander(), 0.03F);
  EXPECT_GT(restless.wander(), 0.1F);
}

}  // namespace
}  // namespace ringward::detect
