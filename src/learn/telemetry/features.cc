#include "learn/telemetry/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "detect/robust.h"
#include "signal/metric.h"

namespace ringward::learn {
namespace {

using signal::IsMissing;
using signal::Known;

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

enum Feature : std::size_t {
  kSelf,
  kData,
  kCompute,
  kWait,
  kStep,
  kTransfer,
  kLoss,
  kNorm,
  kMachine,  ///< the first of kMachineFeatures
};

enum class Scale { kAsIs, kLogarithm };

/// A number of the machine, against the rank's own past.
struct MachineFeature {
  Known metric;
  const char* name;
  Scale scale;
};
constexpr std::array kMachineFeatures = {
    MachineFeature{Known::kMemory, "memory_vs_past", Scale::kLogarithm},
    MachineFeature{Known::kCpu, "cpu_vs_past", Scale::kLogarithm},
    MachineFeature{Known::kRunWait, "run_wait_vs_past", Scale::kAsIs},
    MachineFeature{Known::kCoreOthers, "core_others_vs_past", Scale::kAsIs},
    MachineFeature{Known::kCpuPressure, "cpu_pressure_vs_past", Scale::kAsIs},
    MachineFeature{Known::kMemoryPressure, "memory_pressure_vs_past", Scale::kAsIs},
    MachineFeature{Known::kIoPressure, "io_pressure_vs_past", Scale::kAsIs},
    MachineFeature{Known::kStorageBytes, "storage_vs_past", Scale::kLogarithm},
    MachineFeature{Known::kNetworkBytes, "network_vs_past", Scale::kLogarithm},
    MachineFeature{Known::kRetransmits, "retransmits_vs_past", Scale::kLogarithm},
    MachineFeature{Known::kTemperature, "temperature_vs_past", Scale::kAsIs}};
constexpr std::size_t kFeatures = kMachine + kMachineFeatures.size();

constexpr std::int64_t kWarmUp = 64;        // frames
constexpr std::uint32_t kPastMemory = 512;  // values that a past rests on at most
constexpr std::uint32_t kSpreadMemory = 64;
constexpr std::uint32_t kClipFrom = 8;  // values; before, nobody knows what is far out
constexpr float kClip = 4.0F;           // spreads by which one value may move the past
constexpr float kFurthest = 32.0F;      // spreads: further out is all the same
constexpr float kSpreadMin = 1e-3F;     // of logarithms and shares of a step
constexpr float kFloorShare = 0.2F;     // of a step, added to self time before the logarithm

}  // namespace

const std::vector<std::string>& TelemetryFeatureNames() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = {"self_vs_others", "data_vs_others", "compute_vs_others",
                                      "wait_vs_others", "step_vs_past",   "transfer_vs_past",
                                      "loss_vs_others", "norm_vs_others"};
    for (const MachineFeature& feature : kMachineFeatures) names.emplace_back(feature.name);
    return names;
  }();
  return kNames;
}

TelemetryFeatures::TelemetryFeatures(std::size_t world)
    : world_(world),
      rows_(world * kFeatures, kNone),
      has_(world, 0),
      past_(world * kFeatures, 0.0F),
      past_count_(world * kFeatures, 0),
      spread_(kFeatures, 0.0F),
      spread_count_(kFeatures, 0) {}

float& TelemetryFeatures::At(std::size_t rank, std::size_t feature) {
  return rows_[rank * kFeatures + feature];
}

std::span<const float> TelemetryFeatures::row(std::size_t rank) const {
  return std::span(rows_).subspan(rank * kFeatures, kFeatures);
}

void TelemetryFeatures::ReadTimes() {
  const float step = std::max(times_.typical_step(), 1e-9F);
  const auto median = [&](std::span<const float> values) {
    scratch_.clear();
    for (const float value : values) {
      if (!IsMissing(value)) scratch_.push_back(value);
    }
    return scratch_.empty() ? kNone : detect::MedianInPlace(scratch_);
  };
  const float self = median(times_.self());
  const float data = median(times_.data());
  const float compute = median(times_.compute());
  const float wait = median(times_.wait());
  float transfer = kNone;  // the last to come waits for nobody
  for (const float value : times_.wait()) {
    if (!IsMissing(value)) transfer = std::fmin(transfer, value);
  }
  const auto share = [&](float value, float others) {
    return IsMissing(value) ? kNone : (value - others) / step;
  };
  for (std::size_t r = 0; r < world_; ++r) {
    has_[r] = IsMissing(times_.self()[r]) ? 0 : 1;
    if (has_[r] == 0) continue;
    const float floor = kFloorShare * step;
    At(r, kSelf) = std::log((times_.self()[r] + floor) / (self + floor));
    At(r, kData) = share(times_.data()[r], data);
    At(r, kCompute) = share(times_.compute()[r], compute);
    At(r, kWait) = share(times_.wait()[r], wait);
    At(r, kStep) = std::log(step);
    At(r, kTransfer) = transfer / step;
  }
}

void TelemetryFeatures::ReadAgainstOthers(const signal::Frame& frame) {
  for (const auto& [metric, feature] :
       {std::pair{Known::kLoss, kLoss}, std::pair{Known::kGradientNorm, kNorm}}) {
    const signal::Column* const column = frame.Find(metric);
    if (column == nullptr) continue;
    const std::size_t count = std::min(world_, column->values.size());
    const auto is_good = [](float value) { return std::isfinite(value) && value > 0.0F; };
    scratch_.clear();
    for (std::size_t r = 0; r < count; ++r) {
      if (is_good(column->values[r])) scratch_.push_back(column->values[r]);
    }
    if (scratch_.empty()) continue;
    const float median = detect::MedianInPlace(scratch_);
    for (std::size_t r = 0; r < count; ++r) {
      if (is_good(column->values[r])) At(r, feature) = std::log(column->values[r] / median);
    }
  }
}

void TelemetryFeatures::ReadMachine(const signal::Frame& frame) {
  for (std::size_t f = 0; f < kMachineFeatures.size(); ++f) {
    const signal::Column* const column = frame.Find(kMachineFeatures[f].metric);
    if (column == nullptr) continue;
    const bool logarithm = kMachineFeatures[f].scale == Scale::kLogarithm;
    for (std::size_t r = 0; r < std::min(world_, column->values.size()); ++r) {
      const float value = column->values[r];
      if (!std::isfinite(value)) continue;
      At(r, kMachine + f) = logarithm ? std::log1p(std::max(value, 0.0F)) : value;
    }
  }
}

/// Values become distances from each rank's past in units of their usual size, and teach both.
void TelemetryFeatures::Standardise() {
  for (std::size_t f = 0; f < kFeatures; ++f) {
    const float spread = std::max(spread_[f], kSpreadMin);
    scratch_.clear();
    for (std::size_t r = 0; r < world_; ++r) {
      const std::size_t cell = r * kFeatures + f;
      float& value = rows_[cell];
      if (has_[r] == 0) value = kNone;
      if (std::isnan(value)) continue;
      std::uint32_t& count = past_count_[cell];
      const float distance = count == 0 ? 0.0F : value - past_[cell];
      const bool clips = spread_count_[f] >= kClipFrom;
      const float most = clips ? kClip * spread : std::numeric_limits<float>::max();
      if (count == 0) past_[cell] = value;
      count = std::min(count + 1, kPastMemory);
      past_[cell] += std::clamp(distance, -most, most) / static_cast<float>(count);
      if (count > 1) scratch_.push_back(std::fabs(distance));
      value = std::clamp(distance / spread, -kFurthest, kFurthest);
    }
    if (scratch_.empty()) continue;
    // Of ranks that are well: those in trouble are few.
    const float typical = detect::MedianInPlace(scratch_);
    spread_count_[f] = std::min(spread_count_[f] + 1, kSpreadMemory);
    spread_[f] += (typical - spread_[f]) / static_cast<float>(spread_count_[f]);
  }
}

bool TelemetryFeatures::Take(const signal::Frame& frame) {
  if (frame.expected_slow || !times_.Read(frame, world_)) return false;
  std::fill(rows_.begin(), rows_.end(), kNone);
  ReadTimes();
  ReadAgainstOthers(frame);
  ReadMachine(frame);
  Standardise();
  return ++frames_ > kWarmUp;
}

}  // namespace ringward::learn
