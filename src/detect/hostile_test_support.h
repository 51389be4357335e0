#pragma once

// Jobs as nobody should report them: wrong sizes, no numbers, steps and times in disorder, ranks
// that do not exist. Whatever comes of them, nothing may fail.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "signal/event.h"

namespace ringward::detect {

/// Draws what a source could send by mistake or on purpose; the same for the same seed.
class Hostile {
 public:
  explicit Hostile(std::uint64_t seed) : random_(seed) {
    constexpr std::array<std::size_t, 7> kWorlds = {0, 1, 2, 3, 5, 8, 17};
    world_ = kWorlds[random_.Below(kWorlds.size())];
    // Half of the jobs are healthy for the most part, so that detectors get past their warm-up.
    chance_ = random_.Below(2) == 0 ? 0.02 : 0.4;
  }

  /// A run of `count` events.
  std::vector<signal::Event> Events(std::size_t count) {
    std::vector<signal::Event> events;
    if (random_.Below(4) != 0) events.push_back(EventOf(Opened()));
    while (events.size() < count) {
      const bool other = random_.Uniform() < 0.1;
      events.push_back(other ? Other() : FrameEvent());
    }
    return events;
  }

 private:
  bool Chance() { return random_.Uniform() < chance_; }
  std::int32_t Rank() {
    constexpr std::array<std::int32_t, 4> kNobody = {-1, 1'000'000, INT32_MIN, INT32_MAX};
    if (Chance()) return kNobody[random_.Below(kNobody.size())];
    return static_cast<std::int32_t>(random_.Below(world_ + 1));
  }

  template <typename T>
  signal::Event EventOf(T what) {
    return {number_++, now_, std::move(what)};
  }

  signal::JobOpened Opened() {
    std::vector<signal::RankPlace> places(world_);
    const std::uint64_t stages = 1 + random_.Below(3);
    for (std::size_t r = 0; r < world_; ++r) {
      places[r].stage = static_cast<std::int32_t>(r % stages);
      if (random_.Below(4) != 0) places[r].host = std::string(1, static_cast<char>('a' + r / 2));
    }
    return {"hostile", signal::Topology(std::move(places))};
  }

  float Value(float usual) {
    using Limits = std::numeric_limits<float>;
    const std::array<float, 12> wild = {
        signal::kMissing,     Limits::quiet_NaN(), INFINITY,       -INFINITY,     -1.0F, 0.0F,
        Limits::denorm_min(), Limits::max(),       -Limits::max(), 99.0F * usual, 1e9F,  -0.0F};
    if (Chance()) return wild[random_.Below(wild.size())];
    return usual * static_cast<float>(1.0 + 0.1 * random_.Uniform());
  }

  signal::Event FrameEvent() {
    constexpr std::array<float, 15> kUsual = {1.0F, 0.1F,  0.6F, 0.3F,   2.0F, 1.0F, 1.0F, 64.0F,
                                              8e9F, 16e9F, 1.0F, 0.001F, 5.0F, 1.0F, 1.0F};
    signal::Frame frame;
    constexpr std::array<std::int64_t, 5> kSteps = {0, -5, INT64_MIN, INT64_MAX, 1};
    frame.step = Chance() ? kSteps[random_.Below(kSteps.size())] : step_;
    ++step_;
    constexpr std::array<std::int32_t, 5> kCounts = {0, -1, INT32_MIN, INT32_MAX, 16};
    if (Chance()) frame.steps = kCounts[random_.Below(kCounts.size())];
    now_ += std::chrono::milliseconds(Chance() ? -1500 : 1000);
    frame.received = now_;
    constexpr std::array<std::int64_t, 3> kTimes = {INT64_MIN, -1, INT64_MAX};
    if (Chance()) frame.received = signal::Time(kTimes[random_.Below(kTimes.size())]);
    frame.expected_slow = Chance();
    for (std::uint32_t metric = 0; metric < kUsual.size(); ++metric) {
      if (Chance()) continue;
      const std::size_t size = Chance() ? random_.Below(world_ + 4) : world_;
      signal::Column column{metric, {}};
      while (column.values.size() < size) column.values.push_back(Value(kUsual[metric]));
      frame.columns.push_back(std::move(column));
      if (Chance()) frame.columns.push_back(frame.columns.front());
    }
    return EventOf(std::move(frame));
  }

  signal::Event Other() {
    switch (random_.Below(9)) {
      case 8:
        return EventOf(signal::LogLine{
            .kind = static_cast<signal::LogLine::Kind>(random_.Below(signal::LogLine::kKinds)),
            .ranks = {Rank(), Rank()},
            .seconds = Value(5.0F),
            .where = {.file = "log", .line = 1, .text = "x"}});
      case 0:
        return EventOf(signal::RankEnded{Rank(), static_cast<std::int32_t>(random_.Below(2)), 0});
      case 1:
        return EventOf(signal::SourceLost{{Rank(), Rank()}});
      case 2:
        return EventOf(signal::SourceBack{{Rank(), Rank()}});
      case 3:
        if (!Chance()) break;
        world_ = random_.Below(9);
        return EventOf(Opened());
      case 4:
        if (Chance()) return EventOf(signal::JobClosed{});
        break;
      default:
        break;
    }
    return EventOf(signal::Progress{Rank(), static_cast<std::int64_t>(random_.Below(100)) - 1,
                                    static_cast<signal::Phase>(random_.Below(signal::kPhases)),
                                    random_.Below(10), random_.Below(2) == 0,
                                    random_.Below(2) == 0});
  }

  Rng random_;
  std::size_t world_ = 0;
  double chance_ = 0.0;
  std::int64_t step_ = 0;
  signal::Time now_ = std::chrono::seconds(1'000'000);
  std::uint64_t number_ = 0;
};

}  // namespace ringward::detect
