#include "ingest/step_csv/columns.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace ringward::ingest {
namespace {

using signal::Known;
using Role = StepColumn::Role;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// Words in small letters with one underscore between: `Step time [ms]` is step_time_ms.
std::string Normal(std::string_view text) {
  std::string name;
  bool was_small = false;
  for (const char c : text) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if ((!letter || (IsUpper(c) && was_small)) && !name.empty() && name.back() != '_') name += '_';
    was_small = letter && !IsUpper(c);
    if (letter) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

struct Name {
  const char* name;
  Role role;
  Known metric;
};

/// Of several names of one role or metric in a header, the first here counts.
constexpr std::array kExact = {
    Name{"global_step", Role::kStep, {}},
    Name{"step", Role::kStep, {}},
    Name{"step_id", Role::kStep, {}},
    Name{"step_number", Role::kStep, {}},
    Name{"step_num", Role::kStep, {}},
    Name{"step_idx", Role::kStep, {}},
    Name{"step_index", Role::kStep, {}},
    Name{"train_step", Role::kStep, {}},
    Name{"training_step", Role::kStep, {}},
    Name{"global_iteration", Role::kStep, {}},
    Name{"iteration", Role::kStep, {}},
    Name{"iter", Role::kStep, {}},
    Name{"rank", Role::kRank, {}},
    Name{"global_rank", Role::kRank, {}},
    Name{"world_rank", Role::kRank, {}},
    Name{"rank_id", Role::kRank, {}},
    Name{"mpi_rank", Role::kRank, {}},
    Name{"worker", Role::kRank, {}},
    Name{"worker_id", Role::kRank, {}},
    Name{"worker_rank", Role::kRank, {}},
    Name{"process", Role::kRank, {}},
    Name{"process_id", Role::kRank, {}},
    Name{"process_rank", Role::kRank, {}},
    Name{"proc", Role::kRank, {}},
    Name{"proc_id", Role::kRank, {}},
    Name{"local_rank", Role::kLocalRank, {}},
    Name{"host", Role::kHost, {}},
    Name{"hostname", Role::kHost, {}},
    Name{"host_name", Role::kHost, {}},
    Name{"node", Role::kHost, {}},
    Name{"node_name", Role::kHost, {}},
    Name{"nodename", Role::kHost, {}},
    Name{"machine", Role::kHost, {}},
    Name{"local_loss", Role::kMetric, Known::kLoss},
    Name{"loss", Role::kMetric, Known::kLoss},
    Name{"train_loss", Role::kMetric, Known::kLoss},
    Name{"training_loss", Role::kMetric, Known::kLoss},
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

/// A timestamp's name without its unit.
constexpr std::array kClocks = {"timestamp", "unix_time",    "unix_timestamp", "unixtime",
                                "unix",      "ts",           "datetime",       "date_time",
                                "wall_time", "wall_clock",   "walltime",       "time",
                                "elapsed",   "elapsed_time", "end_time",       "start_time"};

/// What a time is of, without its unit and without `time` or the like at its end.
struct Phase {
  const char* name;
  Known metric;
  bool part = false;
};

constexpr std::array kPhases = {
    Phase{"step", Known::kStepTime},
    Phase{"iteration", Known::kStepTime},
    Phase{"iter", Known::kStepTime},
    Phase{"batch", Known::kStepTime},
    Phase{"train_step", Known::kStepTime},
    Phase{"training_step", Known::kStepTime},
    Phase{"total", Known::kStepTime},
    Phase{"", Known::kStepTime},  // `duration`
    Phase{"data", Known::kDataTime},
    Phase{"data_load", Known::kDataTime},
    Phase{"data_loading", Known::kDataTime},
    Phase{"dataload", Known::kDataTime},
    Phase{"dataloader", Known::kDataTime},
    Phase{"data_wait", Known::kDataTime},
    Phase{"data_fetch", Known::kDataTime},
    Phase{"fetch", Known::kDataTime},
    Phase{"load", Known::kDataTime},
    Phase{"input", Known::kDataTime},
    Phase{"io", Known::kDataTime},
    Phase{"compute", Known::kComputeTime},
    Phase{"computation", Known::kComputeTime},
    Phase{"forward_backward", Known::kComputeTime},
    Phase{"fwd_bwd", Known::kComputeTime},
    Phase{"forward", Known::kComputeTime, true},
    Phase{"fwd", Known::kComputeTime, true},
    Phase{"backward", Known::kComputeTime, true},
    Phase{"bwd", Known::kComputeTime, true},
    Phase{"optimizer", Known::kComputeTime, true},
    Phase{"optim", Known::kComputeTime, true},
    Phase{"sync", Known::kWaitTime},
    Phase{"wait", Known::kWaitTime},
    Phase{"sync_wait", Known::kWaitTime},
    Phase{"comm_wait", Known::kWaitTime},
    Phase{"allreduce", Known::kWaitTime},
    Phase{"all_reduce", Known::kWaitTime},
    Phase{"communicate", Known::kWaitTime},
    Phase{"communication", Known::kWaitTime},
    Phase{"comm", Known::kWaitTime},
    Phase{"collective", Known::kWaitTime},
    Phase{"barrier", Known::kWaitTime},
    Phase{"grad_sync", Known::kWaitTime},
    Phase{"gradient_sync", Known::kWaitTime},
};

struct Unit {
  const char* name;
  double seconds;
};

constexpr std::array kUnits = {
    Unit{"seconds", 1.0},       Unit{"second", 1.0},  Unit{"secs", 1.0},
    Unit{"sec", 1.0},           Unit{"s", 1.0},       Unit{"ms", 1e-3},
    Unit{"msec", 1e-3},         Unit{"msecs", 1e-3},  Unit{"millis", 1e-3},
    Unit{"milliseconds", 1e-3}, Unit{"us", 1e-6},     Unit{"usec", 1e-6},
    Unit{"usecs", 1e-6},        Unit{"micros", 1e-6}, Unit{"microseconds", 1e-6},
    Unit{"ns", 1e-9},           Unit{"nsec", 1e-9},   Unit{"nanos", 1e-9},
    Unit{"nanoseconds", 1e-9}};

/// Takes `word` and the underscore before it off the end of `name`; false where it does not end so.
bool TakeEnd(std::string_view& name, std::string_view word) {
  if (!name.ends_with(word)) return false;
  const std::string_view rest = name.substr(0, name.size() - word.size());
  if (!rest.empty() && rest.back() != '_') return false;
  name = rest.substr(0, rest.size() - (rest.empty() ? 0 : 1));
  return true;
}

/// Takes a unit off the end (`step_time_in_ms`) or the start (`ms_per_step`) of `name`; null where
/// it names none.
const Unit* TakeUnit(std::string_view& name) {
  for (const Unit& unit : kUnits) {
    const std::string per = std::string(unit.name) + "_per_";
    if (name.starts_with(per)) {
      name.remove_prefix(per.size());
      return &unit;
    }
    if (!TakeEnd(name, unit.name)) continue;
    TakeEnd(name, "in");
    return &unit;
  }
  return nullptr;
}

/// Takes what only says that a time follows: `time`, `duration`, `latency`, `elapsed`.
bool TakeTimeWord(std::string_view& name) {
  if (name.starts_with("time_per_")) {
    name.remove_prefix(std::string_view("time_per_").size());
    return true;
  }
  return TakeEnd(name, "time") || TakeEnd(name, "duration") || TakeEnd(name, "latency") ||
         TakeEnd(name, "elapsed");
}

std::optional<StepColumn> RecogniseClock(std::string_view stem, const Unit* unit) {
  // `epoch` alone is one of training.
  const auto* const found = std::find(kClocks.begin(), kClocks.end(), stem);
  if (found == kClocks.end() && !(stem == "epoch" && unit != nullptr)) return std::nullopt;
  StepColumn column{.role = Role::kTimestamp, .to_unit = unit == nullptr ? 0.0 : unit->seconds};
  column.maybe_step_time = stem == "time" || stem.starts_with("elapsed");
  column.preference = static_cast<int>(found - kClocks.begin());
  return column;
}

StepColumn RecogniseTime(std::string_view name) {
  // A normalised time has the shape of a time and no unit.
  TakeEnd(name, "norm");
  const Unit* const unit = TakeUnit(name);
  if (const auto clock = RecogniseClock(name, unit)) return *clock;
  const bool time = TakeTimeWord(name);
  if (unit == nullptr && !time) return {};
  for (const Phase& phase : kPhases) {
    if (name != phase.name || (name.empty() && !time)) continue;
    StepColumn column{.role = Role::kMetric, .metric = phase.metric};
    column.to_unit = unit == nullptr ? 1.0 : unit->seconds;
    column.has_unit = unit != nullptr;
    column.part = phase.part;
    column.preference = static_cast<int>(&phase - kPhases.data());
    return column;
  }
  return {};
}

bool SameThing(const StepColumn& a, const StepColumn& b) {
  return a.role == b.role && (a.role != Role::kMetric || a.metric == b.metric);
}

/// Of columns for one thing only the preferred stays; parts stay where there is no whole.
void KeepPreferred(std::vector<StepColumn>& columns) {
  for (StepColumn& column : columns) {
    if (column.role == Role::kOther) continue;
    const bool better = std::any_of(columns.begin(), columns.end(), [&](const StepColumn& other) {
      if (&other == &column || !SameThing(other, column)) return false;
      if (other.part || column.part) return column.part && !other.part;
      return other.preference < column.preference ||
             (other.preference == column.preference && &other < &column);
    });
    if (better) column.role = Role::kOther;
  }
}

std::optional<std::int32_t> WholeNumber(std::string_view digits) {
  std::int32_t number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc()) return std::nullopt;
  return number;
}

/// A file's name in small letters, without folders and ending.
std::string StemOf(std::string_view path) {
  std::string name = Lower(path.substr(path.find_last_of('/') + 1));
  if (const std::size_t dot = name.find(".csv"); dot != std::string::npos) name.resize(dot);
  return name;
}

std::optional<std::int32_t> RankBehindWord(std::string_view name) {
  for (const std::string_view word : {"rank", "worker", "proc"}) {
    const std::size_t at = name.rfind(word);
    if (at == std::string_view::npos) continue;
    std::size_t first = at + word.size();
    while (first < name.size() && (name[first] == '_' || name[first] == '-')) ++first;
    std::size_t last = first;
    while (last < name.size() && IsDigit(name[last])) ++last;
    if (last > first) return WholeNumber(name.substr(first, last - first));
  }
  return std::nullopt;
}

}  // namespace

StepColumn RecogniseColumn(std::string_view text) {
  const std::string name = Normal(text);
  for (const Name& known : kExact) {
    if (name != known.name) continue;
    StepColumn column{.role = known.role, .metric = known.metric};
    column.preference = static_cast<int>(&known - kExact.data());
    return column;
  }
  return RecogniseTime(name);
}

std::vector<StepColumn> RecogniseHeader(const std::vector<std::string>& names) {
  std::vector<StepColumn> columns;
  columns.reserve(names.size());
  for (const std::string& name : names) columns.push_back(RecogniseColumn(name));
  const auto is_clock = [](const StepColumn& column) {
    return column.role == Role::kTimestamp && !column.maybe_step_time;
  };
  if (std::any_of(columns.begin(), columns.end(), is_clock)) {
    for (StepColumn& column : columns) {
      if (column.role != Role::kTimestamp || !column.maybe_step_time) continue;
      column.role = Role::kMetric;
      column.has_unit = column.to_unit > 0.0;
      if (!column.has_unit) column.to_unit = 1.0;
      column.preference = static_cast<int>(kPhases.size());
    }
  }
  KeepPreferred(columns);
  return columns;
}

std::optional<std::int32_t> RankInCell(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && IsDigit(text[begin - 1])) --begin;
  // -1 and 1.5 are no ranks; worker-1 is.
  const std::string_view before = text.substr(0, begin);
  const bool word = std::any_of(before.begin(), before.end(),
                                [](unsigned char c) { return std::isalpha(c) != 0; });
  if (!before.empty() && !word) {
    const std::string_view fraction = text.substr(text.find('.') + 1);
    if (text.find('.') == std::string_view::npos ||
        fraction.find_first_not_of('0') != std::string_view::npos) {
      return std::nullopt;
    }
    return RankInCell(text.substr(0, text.find('.')));  // 3.0, as spreadsheets have it
  }
  return WholeNumber(text.substr(begin));
}

std::optional<std::int32_t> RankInName(std::string_view path) {
  const std::string name = StemOf(path);
  if (const auto rank = RankBehindWord(name)) return rank;
  std::size_t end = name.size();
  while (end > 0 && !IsDigit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  return WholeNumber(std::string_view(name).substr(begin, end - begin));
}

bool NamesRank(std::string_view path) { return RankBehindWord(StemOf(path)).has_value(); }

}  // namespace ringward::ingest
