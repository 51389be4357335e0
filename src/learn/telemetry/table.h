#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/data/options.h"
#include "learn/data/schema.h"
#include "learn/data/table.h"
#include "learn/telemetry/features.h"
#include "signal/cause.h"
#include "signal/event.h"

namespace ringward::learn {

/// The columns of a table of telemetry: TelemetryFeatureNames().
const Schema& TelemetrySchema();

/// Rows of features, [rows, features], as a block of that schema; NaN is a missing cell.
Block TelemetryBlock(std::span<const float> rows);

/// Collects the healthy rows of one run of a job: one for each rank and step, without the steps of
/// incidents, and a margin around them. Beyond `rows_max` every second step is dropped, again and
/// again, so that what stays is spread over the whole run. Not safe for concurrent use.
class TelemetryTable {
 public:
  explicit TelemetryTable(std::size_t rows_max) : rows_max_(rows_max) {}

  /// The next event of the run, and what the watching path said after it.
  void Take(const signal::Event& event, std::span<const signal::Cause> changed);

  /// Steps that were left out because of incidents, of those that had rows.
  std::size_t steps_left_out() const { return left_out_; }
  /// The rows, in order of steps; `file` names the run in messages. Once, at the end.
  Block Finish(const std::string& file);

 private:
  struct Step {
    std::int64_t step = 0;
    std::vector<float> rows{};  ///< [ranks that told, features]
  };

  void TakeFrame(const signal::Frame& frame);
  bool InTrouble() const;
  void LeaveOut(std::int64_t from);
  void Thin();

  const std::size_t rows_max_;
  std::vector<TelemetryFeatures> features_;  ///< none before the job is known, then one
  std::vector<Step> steps_;
  std::vector<Step> done_;  ///< of the jobs before, in the same recording
  std::size_t rows_ = 0;
  std::size_t stride_ = 1;
  std::size_t frames_ = 0;
  std::size_t calm_ = 0;  ///< frames since the last trouble
  bool any_trouble_ = false;
  std::map<std::uint64_t, bool> open_;  ///< incidents by id
  std::size_t left_out_ = 0;
};

}  // namespace ringward::learn
