#include "learn/simulate/fault.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace ringward::learn {
namespace {

/// How long and how large events of a kind are.
struct Shape {
  const char* name;
  std::uint64_t rows_min;
  std::uint64_t rows_max;
  double size_min;
  double size_max;
};
constexpr std::array<Shape, kFaultKinds> kShapes{{
    {"drift", 20, 60, 1.2, 2.2},
    {"spike", 1, 3, 3.0, 6.0},
    {"correlation-break", 8, 25, 0.0, 0.0},
    {"stuck-sensor", 24, 72, 0.0, 0.0},
    {"level-shift", 8, 25, 1.0, 1.8},
    {"noise-burst", 5, 15, 0.6, 1.2},
}};

const Shape& ShapeOf(FaultKind kind) { return kShapes[static_cast<std::size_t>(kind)]; }

FaultEvent DrawEvent(FaultKind kind, std::span<const Sensor> sensors, Rng& rng) {
  const Shape& shape = ShapeOf(kind);
  FaultEvent event;
  event.kind = kind;
  event.length = shape.rows_min + rng.Below(shape.rows_max - shape.rows_min + 1);
  event.size = shape.size_min + (shape.size_max - shape.size_min) * rng.Uniform();
  if (rng.Below(2) == 1) event.size = -event.size;
  event.sensor = rng.Below(sensors.size());
  // A slow sensor may repeat itself, or read like its twin, without being wrong.
  const bool needs_motion = kind == FaultKind::kStuckSensor || kind == FaultKind::kCorrelationBreak;
  while (needs_motion && !sensors[event.sensor].moves) event.sensor = rng.Below(sensors.size());
  return event;
}

}  // namespace

const char* NameOf(FaultKind kind) { return ShapeOf(kind).name; }

std::vector<FaultEvent> PlanFaults(std::uint64_t rows, std::uint64_t anomalous,
                                   std::span<const FaultKind> kinds,
                                   std::span<const Sensor> sensors, std::uint64_t seed) {
  RINGWARD_CHECK(anomalous <= rows && !kinds.empty() && !sensors.empty() && sensors[0].moves);
  Rng rng(seed, RngPurpose::kSimulate, 2);
  std::vector<FaultEvent> events;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::uint64_t left = anomalous / kinds.size() + (i < anomalous % kinds.size() ? 1 : 0);
    while (left > 0) {
      events.push_back(DrawEvent(kinds[i], sensors, rng));
      events.back().length = std::min(events.back().length, left);
      left -= events.back().length;
    }
  }
  for (std::size_t i = events.size(); i > 1; --i) std::swap(events[i - 1], events[rng.Below(i)]);
  // Cuts drawn evenly among the normal rows are where the events are inserted.
  std::vector<std::uint64_t> cuts(events.size());
  for (std::uint64_t& cut : cuts) cut = rng.Below(rows - anomalous + 1);
  std::sort(cuts.begin(), cuts.end());
  std::uint64_t inserted = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i].start = cuts[i] + inserted;
    inserted += events[i].length;
  }
  return events;
}

FaultInjector::FaultInjector(std::span<const Sensor> sensors, std::uint64_t seed)
    : sensors_(sensors), rng_(seed, RngPurpose::kSimulate, 3) {}

void FaultInjector::Apply(const FaultEvent* event, std::uint64_t row,
                          std::span<const double> elsewhere, std::span<double> readings) {
  if (last_.empty()) last_.assign(readings.begin(), readings.end());
  const std::vector<double> before = last_;
  std::copy(readings.begin(), readings.end(), last_.begin());
  if (event == nullptr) return;
  const std::size_t sensor = event->sensor;
  const double deviation = sensors_[sensor].deviation;
  const double progress =
      static_cast<double>(row - event->start + 1) / static_cast<double>(event->length);
  double& reading = readings[sensor];
  switch (event->kind) {
    case FaultKind::kDrift:
      reading += event->size * deviation * progress;
      break;
    case FaultKind::kSpike:
    case FaultKind::kLevelShift:
      reading += event->size * deviation;
      break;
    case FaultKind::kCorrelationBreak:
      reading = elsewhere[sensor];
      break;
    case FaultKind::kStuckSensor:
      if (row == event->start) held_ = before[sensor];
      reading = held_;
      break;
    case FaultKind::kNoiseBurst:
      reading += event->size * deviation * rng_.Normal();
      break;
  }
}

}  // namespace ringward::learn
