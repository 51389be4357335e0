#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace ringward::recording {

/// The path of a recording in a folder of its own, removed with all that is in it.
class TestFile {
 public:
  TestFile() {
    folder_ = (std::filesystem::temp_directory_path() / "recording-test-XXXXXX").string();
    RINGWARD_CHECK(mkdtemp(folder_.data()) != nullptr);
  }
  ~TestFile() { std::filesystem::remove_all(folder_); }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  const std::string& folder() const { return folder_; }
  std::string path() const { return folder_ + "/run.rwrec"; }

 private:
  std::string folder_;
};

/// 2026-01-05T10:00:00Z.
inline constexpr signal::Time kStart = std::chrono::seconds(1767607200);

/// A run told second by second: one frame, the progress of every rank and one call each.
class TestRun {
 public:
  explicit TestRun(std::size_t world, std::uint64_t seed = 1) : world_(world), rng_(seed) {
    metrics.Add("queue_length");
  }

  /// The events of the next second; the first one opens the job.
  std::vector<signal::Event> Second() {
    std::vector<signal::Event> events;
    const auto add = [&](auto what) { events.push_back({number_++, now_, std::move(what)}); };
    if (step_ == 0) add(signal::JobOpened{"train", Places()});
    for (std::size_t rank = 0; rank < world_; ++rank) {
      now_ += signal::Time(rng_.Below(1000));
      add(signal::Progress{.rank = static_cast<std::int32_t>(rank),
                           .step = step_,
                           .phase = static_cast<signal::Phase>(rng_.Below(signal::kPhases)),
                           .sequence = static_cast<std::uint64_t>(step_) * 3,
                           .in_collective = rng_.Below(2) == 1,
                           .idle = rng_.Below(2) == 1});
    }
    add(MakeFrame());
    called_ = now_;
    now_ = kStart + std::chrono::seconds(++step_);
    return events;
  }
  /// The call that is made with what Second() gave so far.
  Call MakeCall() {
    return {
        .number = call_++, .now = called_, .last_event = static_cast<std::int64_t>(number_) - 1};
  }
  signal::Time now() const { return called_; }
  std::uint64_t number() const { return number_; }

  signal::MetricTable metrics;

 private:
  signal::Topology Places() const {
    std::vector<signal::RankPlace> places;
    for (std::size_t rank = 0; rank < world_; ++rank) {
      places.push_back({"node" + std::to_string(rank / 4), static_cast<std::int32_t>(rank % 2),
                        static_cast<std::int32_t>(rank / 2)});
    }
    return signal::Topology(std::move(places));
  }
  signal::Frame MakeFrame() {
    signal::Frame frame;
    frame.step = step_;
    frame.received = now_;
    frame.expected_slow = step_ % 7 == 0;
    for (const signal::MetricId metric : {0U, 3U, 4U, signal::MetricId{signal::kKnownMetrics}}) {
      signal::Column column{metric, std::vector<float>(world_)};
      for (float& value : column.values) value = static_cast<float>(1.0 + 0.05 * rng_.Normal());
      frame.columns.push_back(std::move(column));
    }
    if (step_ % 5 == 0) frame.columns[0].values[0] = signal::kMissing;
    return frame;
  }

  std::size_t world_;
  Rng rng_;
  signal::Time now_ = kStart;
  signal::Time called_ = kStart;
  std::int64_t step_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t call_ = 0;
};

/// Writes `seconds` of `run`, one batch a second.
inline Status WriteSeconds(Writer& writer, TestRun& run, int seconds) {
  for (int i = 0; i < seconds; ++i) {
    const auto events = run.Second();
    const Call call = run.MakeCall();
    RINGWARD_TRY(writer.Append({.events = events, .calls = {&call, 1}}, run.metrics));
  }
  return Ok();
}

}  // namespace ringward::recording
