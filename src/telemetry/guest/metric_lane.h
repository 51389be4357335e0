#pragma once

#include <cstdint>

#include "telemetry/guest/lane.h"
#include "telemetry/guest/layout.h"

namespace ringward::telemetry {

/// Values of named metrics. The caller holds the lane's gate.
class MetricLane {
 public:
  void Attach(char* segment, Header& header);
  /// The number of a metric, new or known; -1 where the name is empty, too long or one too many.
  std::int32_t Register(const char* name);
  std::uint32_t registered() const { return registered_; }
  /// Adds a value and writes a record at once. REQUIRES: metric < registered().
  void Record(std::uint32_t metric, double value, std::int64_t now_ns, std::uint64_t step) {
    Add(metric, value);
    WriteSum(metric, now_ns, step);
  }
  /// Adds a value to what FlushPending() will write. True where it should be written at once: the
  /// first that is not finite is news.
  bool Postpone(std::uint32_t metric, double value);
  void FlushPending(std::int64_t now_ns, std::uint64_t step);
  void WriteSum(std::uint32_t metric, std::int64_t now_ns, std::uint64_t step);
  std::uint64_t records() const { return lane_.written(); }

 private:
  static constexpr std::uint32_t kPendingWords = kMetricsMax / 64;
  void Add(std::uint32_t metric, double value);

  Lane<MetricRecord> lane_;
  Header* header_;
  std::uint32_t registered_;
  MetricRecord sums_[kMetricsMax];
  std::uint64_t pending_[kPendingWords];  // bit per metric with values not yet written
  std::uint64_t broken_[kPendingWords];   // bit per metric whose newest record is not finite
};

/// The position of `name` among the first `count` of `names`; `count` where it is not there.
std::uint32_t FindName(const char (*names)[kNameBytes], std::uint32_t count, const char* name);
/// Not empty, short enough, and of printable ASCII characters without space.
bool IsName(const char* name);

}  // namespace ringward::telemetry
