#include "ingest/step_csv/columns.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace ringward::ingest {
namespace {

using signal::Known;
using Role = StepColumn::Role;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

struct Name {
  const char* name;
  Role role;
  Known metric;
};

constexpr std::array kExact = {
    Name{"step", Role::kStep, {}},
    Name{"iteration", Role::kStep, {}},
    Name{"iter", Role::kStep, {}},
    Name{"global_step", Role::kStep, {}},
    Name{"rank", Role::kRank, {}},
    Name{"worker", Role::kRank, {}},
    Name{"worker_id", Role::kRank, {}},
    Name{"process", Role::kRank, {}},
    Name{"timestamp", Role::kTimestamp, {}},
    Name{"unix_time", Role::kTimestamp, {}},
    Name{"loss", Role::kMetric, Known::kLoss},
    Name{"local_loss", Role::kMetric, Known::kLoss},
    Name{"train_loss", Role::kMetric, Known::kLoss},
    Name{"local_grad_norm", Role::kMetric, Known::kGradientNorm},
    Name{"local_gradient_norm", Role::kMetric, Known::kGradientNorm},
    Name{"grad_norm", Role::kMetric, Known::kReducedNorm},
    Name{"gradient_norm", Role::kMetric, Known::kReducedNorm},
    Name{"samples", Role::kMetric, Known::kSamples},
    Name{"batch_size", Role::kMetric, Known::kSamples},
    Name{"rss_bytes", Role::kMetric, Known::kMemory},
    Name{"memory_bytes", Role::kMetric, Known::kMemory},
    Name{"memory_limit_bytes", Role::kMetric, Known::kMemoryLimit},
    Name{"retransmits_per_second", Role::kMetric, Known::kRetransmits},
    Name{"run_wait_share", Role::kMetric, Known::kRunWait},
    Name{"core_stolen_share", Role::kMetric, Known::kCoreStolen},
    Name{"core_others_share", Role::kMetric, Known::kCoreOthers},
    Name{"swap_bytes_per_second", Role::kMetric, Known::kSwapBytes},
    Name{"memory_left_bytes", Role::kMetric, Known::kMemoryLeft},
    Name{"gpu_held_back_share", Role::kMetric, Known::kGpuHeldBack},
    Name{"gpu_held_back_reasons", Role::kMetric, Known::kGpuReasons},
    Name{"gpu_temperature_celsius", Role::kMetric, Known::kGpuTemperature},
    Name{"gpu_clock_hertz", Role::kMetric, Known::kGpuClock},
    Name{"gpu_fatal_errors", Role::kMetric, Known::kGpuErrors},
};

/// A time's name without its unit.
constexpr std::array kTimes = {
    Name{"step", Role::kMetric, Known::kStepTime},
    Name{"step_time", Role::kMetric, Known::kStepTime},
    Name{"batch_time", Role::kMetric, Known::kStepTime},
    Name{"iteration_time", Role::kMetric, Known::kStepTime},
    Name{"duration", Role::kMetric, Known::kStepTime},
    Name{"data", Role::kMetric, Known::kDataTime},
    Name{"data_time", Role::kMetric, Known::kDataTime},
    Name{"compute", Role::kMetric, Known::kComputeTime},
    Name{"compute_time", Role::kMetric, Known::kComputeTime},
    Name{"sync", Role::kMetric, Known::kWaitTime},
    Name{"sync_time", Role::kMetric, Known::kWaitTime},
    Name{"wait", Role::kMetric, Known::kWaitTime},
    Name{"wait_time", Role::kMetric, Known::kWaitTime},
    Name{"allreduce", Role::kMetric, Known::kWaitTime},
    Name{"communicate", Role::kMetric, Known::kWaitTime},
    Name{"communication_time", Role::kMetric, Known::kWaitTime},
};

struct Unit {
  const char* ending;
  double seconds;
};

constexpr std::array kUnits = {Unit{"_seconds", 1.0}, Unit{"_secs", 1.0}, Unit{"_s", 1.0},
                               Unit{"_ms", 1e-3},     Unit{"_us", 1e-6},  Unit{"_ns", 1e-9}};

const Name* FindTime(std::string_view name) {
  const auto* const found = std::find_if(kTimes.begin(), kTimes.end(),
                                         [&](const Name& known) { return name == known.name; });
  return found == kTimes.end() ? nullptr : found;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

StepColumn RecogniseColumn(std::string_view text) {
  const std::string name = Lower(text);
  for (const Name& known : kExact) {
    if (name == known.name) return {known.role, known.metric, 1.0, true};
  }
  for (const Unit& unit : kUnits) {
    if (!name.ends_with(unit.ending)) continue;
    const std::string_view stem =
        std::string_view(name).substr(0, name.size() - std::string_view(unit.ending).size());
    if (const Name* const time = FindTime(stem))
      return {Role::kMetric, time->metric, unit.seconds, true};
  }
  // A normalised time has the shape of a time and no unit.
  const std::string_view stem =
      name.ends_with("_norm") ? std::string_view(name).substr(0, name.size() - 5) : name;
  if (const Name* const time = FindTime(stem);
      time != nullptr && stem.find("time") != std::string_view::npos) {
    return {Role::kMetric, time->metric, 1.0, false};
  }
  return {};
}

std::optional<std::int32_t> RankInName(std::string_view path) {
  std::string name = Lower(path.substr(path.find_last_of('/') + 1));
  if (const std::size_t dot = name.find(".csv"); dot != std::string::npos) name.resize(dot);
  std::size_t end = name.size();
  for (const char* const word : {"rank", "worker", "proc"}) {
    const std::size_t at = name.rfind(word);
    if (at == std::string::npos) continue;
    std::size_t first = at + std::string_view(word).size();
    while (first < name.size() && (name[first] == '_' || name[first] == '-')) ++first;
    std::size_t last = first;
    while (last < name.size() && IsDigit(name[last])) ++last;
    if (last > first) {
      end = last;
      break;
    }
  }
  while (end > 0 && !IsDigit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  std::int32_t rank = 0;
  const auto [rest, error] = std::from_chars(name.data() + begin, name.data() + end, rank);
  if (begin == end || error != std::errc()) return std::nullopt;
  return rank;
}

}  // namespace ringward::ingest
