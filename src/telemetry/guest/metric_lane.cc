#include "telemetry/guest/metric_lane.h"

#include <cmath>
#include <cstring>

namespace ringward::telemetry {
namespace {

constexpr const char* kWellKnownNames[kWellKnownMetrics] = {"local_loss", "local_gradient_norm",
                                                            "samples", "learning_rate"};

std::uint64_t Bit(std::uint32_t metric) { return std::uint64_t{1} << (metric % 64); }

}  // namespace

std::uint32_t FindName(const char (*names)[kNameBytes], std::uint32_t count, const char* name) {
  std::uint32_t at = 0;
  while (at < count && std::strncmp(names[at], name, kNameBytes) != 0) ++at;
  return at;
}

bool IsName(const char* name) {
  if (name == nullptr) return false;
  std::size_t length = 0;
  for (; name[length] != '\0'; ++length) {
    if (name[length] <= ' ' || name[length] > '~' || length + 1 >= kNameBytes) return false;
  }
  return length > 0;
}

void MetricLane::Attach(char* segment, Header& header) {
  lane_.Attach(segment, kMetricsAt, kMetricCapacity, header.heads[1]);
  header_ = &header;
  registered_ = 0;
  for (const char* const name : kWellKnownNames) Register(name);
}

std::int32_t MetricLane::Register(const char* name) {
  if (!IsName(name)) return -1;
  const std::uint32_t at = FindName(header_->metric_names, registered_, name);
  if (at == kMetricsMax) return -1;
  if (at == registered_) {
    std::strncpy(header_->metric_names[at], name, kNameBytes - 1);
    Set(header_->metrics, ++registered_);
  }
  return static_cast<std::int32_t>(at);
}

void MetricLane::Add(std::uint32_t metric, double value) {
  MetricRecord& sum = sums_[metric];
  const bool first = sum.count++ == 0;
  sum.last = value;
  sum.sum = first ? value : sum.sum + value;
  // Comparisons that are false for a NaN, so that it does not stick.
  if (first) sum.min = HUGE_VAL;
  if (first) sum.max = -HUGE_VAL;
  if (value < sum.min) sum.min = value;
  if (value > sum.max) sum.max = value;
  pending_[metric / 64] |= Bit(metric);
}

void MetricLane::WriteSum(std::uint32_t metric, std::int64_t now_ns, std::uint64_t step) {
  MetricRecord& sum = sums_[metric];
  sum.time_ns = now_ns;
  sum.step = step;
  sum.metric = metric;
  lane_.Write(sum);
  sum.count = 0;
  pending_[metric / 64] &= ~Bit(metric);
  if (std::isfinite(sum.sum)) {
    broken_[metric / 64] &= ~Bit(metric);
  } else {
    broken_[metric / 64] |= Bit(metric);
  }
}

bool MetricLane::Postpone(std::uint32_t metric, double value) {
  Add(metric, value);
  return !std::isfinite(value) && (broken_[metric / 64] & Bit(metric)) == 0;
}

void MetricLane::FlushPending(std::int64_t now_ns, std::uint64_t step) {
  for (std::uint32_t word = 0; word < kPendingWords; ++word) {
    while (pending_[word] != 0) {
      const int bit = __builtin_ctzll(pending_[word]);
      WriteSum(word * 64 + static_cast<std::uint32_t>(bit), now_ns, step);
    }
  }
}

}  // namespace ringward::telemetry
