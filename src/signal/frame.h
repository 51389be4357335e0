#pragma once

#include <cstdint>
#include <vector>

#include "signal/metric.h"
#include "signal/time.h"

namespace ringward::signal {

/// One number of one rank, as a source reports it.
struct Sample {
  std::int32_t rank = 0;
  MetricId metric = 0;
  std::int64_t step = -1;  ///< -1: of no step
  Time host_time{};
  Time received{};
  float value = 0.0F;
};

/// All ranks' values of one metric.
struct Column {
  MetricId metric = 0;
  std::vector<float> values;  ///< [world]; kMissing where a rank has not reported
};

/// All metrics of all ranks of one step. A frame is closed when every rank that is alive has
/// reported the step, or when waiting for the rest was given up. Steps of one run rise strictly.
struct Frame {
  std::int64_t step = 0;
  std::int32_t steps = 1;  ///< how many steps are summed in it, this being the last
  Time received{};         ///< when it was closed
  bool expected_slow =
      false;  ///< a rank marked the step: compiling, evaluating, writing a checkpoint
  std::vector<Column> columns;

  const Column* Find(Known metric) const {
    for (const Column& column : columns) {
      if (column.metric == IdOf(metric)) return &column;
    }
    return nullptr;
  }
};

}  // namespace ringward::signal
