#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/step_times.h"
#include "signal/frame.h"

namespace ringward::learn {

/// The set of features that this program makes; a model says which it was trained on. Any change of
/// their number, order or meaning is another set.
inline constexpr std::string_view kTelemetryFeatures = "telemetry-1";

/// Their names, in order (docs/detectors/learned.md has the table).
const std::vector<std::string>& TelemetryFeatureNames();

/// Turns frames of one job into a row of numbers for each rank: how each number differs from the
/// rank's own past, of many also against the ranks of the same step, in units of what is usual for
/// this job. So one model fits jobs of other step times and sizes. What belongs to no rank's past
/// (the job's step and transfer) is the same in all rows. Not safe for concurrent use.
class TelemetryFeatures {
 public:
  explicit TelemetryFeatures(std::size_t world);

  /// Takes the next frame. True where rows() are of it: not in the first steps, from which the past
  /// is learned, nor where ranks are known to be slow or do not tell their times.
  bool Take(const signal::Frame& frame);

  /// [world, features], row after row; NaN where a rank has not told it. Valid until the next
  /// frame.
  std::span<const float> rows() const { return rows_; }
  std::span<const float> row(std::size_t rank) const;
  /// Whether the rank has told its time in this frame.
  bool has(std::size_t rank) const { return has_[rank] != 0; }
  std::size_t world() const { return world_; }

 private:
  void ReadTimes();
  void ReadAgainstOthers(const signal::Frame& frame);
  void ReadMachine(const signal::Frame& frame);
  void Standardise();
  float& At(std::size_t rank, std::size_t feature);

  const std::size_t world_;
  detect::StepTimes times_;
  std::vector<float> rows_;                ///< [world, features]
  std::vector<char> has_;                  ///< [world]
  std::vector<float> past_;                ///< [world, features] what is usual for the rank
  std::vector<std::uint32_t> past_count_;  ///< [world, features] values that it rests on
  std::vector<float> spread_;              ///< [features] usual distance from the past, over ranks
  std::vector<std::uint32_t> spread_count_;
  std::int64_t frames_ = 0;
  std::vector<float> scratch_;
};

}  // namespace ringward::learn
