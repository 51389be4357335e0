#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "recording/pack.h"
#include "recording/sqlite.h"
#include "signal/event.h"
#include "signal/metric.h"

namespace ringward::recording {

/// Writes events as rows, inside the transaction of its owner.
class EventWriter {
 public:
  static Result<EventWriter> Make(Database& database);

  /// `events` are sound (EventRules). Every metric of a frame that is not in the file yet is added
  /// with its name in `metrics`; kInvalidInput for one that has no name there.
  Status Write(std::span<const signal::Event> events, const signal::MetricTable& metrics);

 private:
  Status WriteOne(const signal::Event& event, const signal::MetricTable& metrics);
  Status WriteProgress(std::span<const signal::Event> run);
  Status WriteJob(const signal::Event& event, const signal::JobOpened& job);
  Status WriteFrame(const signal::Event& event, const signal::Frame& frame,
                    const signal::MetricTable& metrics);
  Status WriteSource(const signal::Event& event, bool lost, std::span<const std::int32_t> ranks);
  Status WriteLogLine(const signal::Event& event, const signal::LogLine& line);
  Status AddMetrics(const signal::MetricTable& metrics);
  Status LoadNames();

  Packer packer_;
  Statement plain_, rank_, frame_, sample_, progress_, ended_, log_line_, metric_, names_;
  std::unordered_map<std::string, std::int64_t> ids_;  ///< of the file, by name
  std::vector<std::int64_t> file_ids_;                 ///< by the id that frames use
};

}  // namespace ringward::recording
