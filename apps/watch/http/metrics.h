#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "watch/http/http_counts.h"
#include "watch/http/snapshot.h"

namespace ringward::watch {

/// All that /metrics shows.
struct MetricSources {
  const Snapshot& snapshot;
  const HttpCounts& http;
};

/// Appends samples in Prometheus's text format.
class MetricText {
 public:
  explicit MetricText(std::string& out) : out_(out) {}
  /// The samples that follow are of this metric.
  void Begin(std::string_view name) { name_ = name; }
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;
  void Add(Labels labels, double value);
  void Add(Labels labels, std::uint64_t value);
  /// With the digits that tell it from its neighbours.
  void Add(Labels labels, float value);

 private:
  void Write(Labels labels, std::string_view value);
  std::string& out_;
  std::string_view name_;
};

/// One metric: the page /metrics and the table of docs/metrics.md are both made of these.
struct MetricRow {
  const char* name;
  const char* type;    ///< "counter" or "gauge"
  const char* unit;    ///< "seconds"; empty: a number of things, or none
  const char* labels;  ///< comma-separated; empty: none
  const char* help;    ///< a sentence without full stop
  void (*render)(const MetricSources& sources, MetricText& text);
};
std::span<const MetricRow> MetricRows();

/// The page, in Prometheus's text format 0.0.4. At most 64 jobs are told of; of a job of more than
/// 256 ranks, the ten ranks with the highest self time.
std::string MetricsPage(const MetricSources& sources);

/// "| `name` | type | unit | labels | help |" for each metric, a line each.
std::string MetricsTable();

}  // namespace ringward::watch
