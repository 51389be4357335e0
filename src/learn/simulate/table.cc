#include "learn/simulate/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/rng.h"
#include "learn/simulate/plant.h"

namespace ringward::learn {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{64} * 1024;
constexpr std::int64_t kStartMax = 253'402'300'799;  // the last second of year 9999

template <typename T>
Status InRange(const char* name, T value, T low, T high) {
  if (value >= low && value <= high) return Ok();
  return Error(Code::kInvalidInput,
               fmt::format("{} is {}, should be in {} .. {}", name, value, low, high));
}

Status CheckOptions(const SimulateTableOptions& options) {
  RINGWARD_TRY(InRange<std::uint64_t>("rows", options.rows, 1, 1'000'000'000));
  RINGWARD_TRY(InRange("sensors", options.sensors, 4, 1000));
  RINGWARD_TRY(InRange("anomalies", options.anomalies, 0.0, 0.5));
  RINGWARD_TRY(InRange("missing", options.missing, 0.0, 0.5));
  RINGWARD_TRY(InRange<std::int64_t>("interval", options.interval, 1, 86'400));
  const auto span = static_cast<std::int64_t>(options.rows - 1) * options.interval;
  return InRange<std::int64_t>("start", options.start, 0, kStartMax - span);
}

std::vector<FaultKind> KindsOf(const SimulateTableOptions& options) {
  std::vector<FaultKind> kinds = options.kinds;
  for (std::size_t i = 0; options.kinds.empty() && i < kFaultKinds; ++i) {
    kinds.push_back(static_cast<FaultKind>(i));
  }
  std::sort(kinds.begin(), kinds.end());  // the order of the wish makes no difference
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return kinds;
}

/// Says which cells are empty, by drawing the distance to the next one.
class MissingCells {
 public:
  MissingCells(double share, std::uint64_t seed)
      : share_(share), rng_(seed, RngPurpose::kSimulate, 4) {
    Draw();
  }
  bool Next() {
    if (distance_ > 0.0) {
      distance_ -= 1.0;
      return false;
    }
    Draw();
    return true;
  }

 private:
  void Draw() {
    distance_ = share_ > 0.0 ? std::floor(std::log1p(-rng_.Uniform()) / std::log1p(-share_))
                             : std::numeric_limits<double>::infinity();
  }
  double share_;
  Rng rng_;
  double distance_ = 0.0;
};

class TableWriter {
 public:
  TableWriter(const SimulateTableOptions& options, const LineSink& sink)
      : options_(options),
        sink_(sink),
        sensors_(MakeSensors(static_cast<std::size_t>(options.sensors))),
        plant_(sensors_, options.seed, 0),
        elsewhere_(sensors_, options.seed, 1),
        injector_(sensors_, options.seed),
        missing_(options.missing, options.seed),
        readings_(sensors_.size()),
        elsewhere_readings_(sensors_.size()) {
    const auto anomalous = static_cast<std::uint64_t>(
        std::llround(options.anomalies * static_cast<double>(options.rows)));
    events_ = PlanFaults(options.rows, anomalous, KindsOf(options), sensors_, options.seed);
  }

  Result<SimulateTableSummary> Write() {
    WriteHeader();
    for (std::uint64_t row = 0; row < options_.rows; ++row) {
      WriteRow(row);
      if (buffer_.size() >= kChunkBytes) RINGWARD_TRY(Flush());
    }
    RINGWARD_TRY(Flush());
    summary_.rows = options_.rows;
    return std::move(summary_);
  }

 private:
  void WriteHeader() {
    summary_.columns = {"timestamp"};
    for (const Sensor& sensor : sensors_) summary_.columns.push_back(sensor.name);
    for (const char* const name : {"mode", "label", "kind", "faulty_sensor"}) {
      summary_.columns.emplace_back(name);
    }
    buffer_ = fmt::format("{}\n", fmt::join(summary_.columns, ","));
  }

  /// The event under way at `row`, or null. Rows are asked for in order.
  const FaultEvent* EventAt(std::uint64_t row) {
    while (next_event_ < events_.size() &&
           row >= events_[next_event_].start + events_[next_event_].length) {
      ++next_event_;
    }
    if (next_event_ == events_.size() || row < events_[next_event_].start) return nullptr;
    return &events_[next_event_];
  }

  void Count(const FaultEvent& event, std::uint64_t row) {
    const auto kind = static_cast<std::size_t>(event.kind);
    ++summary_.anomalous_rows;
    ++summary_.rows_of_kind[kind];
    if (row == event.start) ++summary_.events_of_kind[kind];
  }

  void WriteRow(std::uint64_t row) {
    // The other station is half a day apart, so that it is seldom in the same state.
    constexpr double kElsewhereShift = 9.0 * 3600.0;
    const std::int64_t time = options_.start + static_cast<std::int64_t>(row) * options_.interval;
    const auto interval = static_cast<double>(options_.interval);
    plant_.Step(static_cast<double>(time), interval, readings_);
    if (!events_.empty()) {
      elsewhere_.Step(static_cast<double>(time) + kElsewhereShift, interval, elsewhere_readings_);
    }
    const FaultEvent* const event = EventAt(row);
    if (event != nullptr) Count(*event, row);
    injector_.Apply(event, row, elsewhere_readings_, readings_);
    auto out = std::back_inserter(buffer_);
    buffer_ += FormatUtc(time);
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      buffer_ += ',';
      if (!missing_.Next()) fmt::format_to(out, "{:.{}f}", readings_[i], sensors_[i].decimals);
    }
    fmt::format_to(out, ",{},{},{},{}\n", plant_.mode(), event != nullptr ? 1 : 0,
                   event != nullptr ? NameOf(event->kind) : "normal",
                   event != nullptr ? sensors_[event->sensor].name : "none");
  }

  Status Flush() {
    RINGWARD_TRY(sink_(buffer_));
    buffer_.clear();
    return Ok();
  }

  const SimulateTableOptions& options_;
  const LineSink& sink_;
  std::vector<Sensor> sensors_;
  Plant plant_;
  Plant elsewhere_;
  FaultInjector injector_;
  MissingCells missing_;
  std::vector<FaultEvent> events_;
  std::size_t next_event_ = 0;
  std::vector<double> readings_;
  std::vector<double> elsewhere_readings_;
  std::string buffer_;
  SimulateTableSummary summary_;
};

}  // namespace

Result<SimulateTableSummary> SimulateTable(const SimulateTableOptions& options,
                                           const LineSink& sink) {
  RINGWARD_TRY(CheckOptions(options));
  return TableWriter(options, sink).Write();
}

}  // namespace ringward::learn
