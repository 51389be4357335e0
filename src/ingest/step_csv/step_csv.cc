#include "ingest/step_csv/step_csv.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "ingest/step_csv/columns.h"
#include "io/csv_scanner.h"

namespace ringward::ingest {
namespace {

using Role = StepColumn::Role;

constexpr std::size_t kSparseWorld = 1024;  // ranks that may be missing for any reason
constexpr std::size_t kSparseFactor = 16;   // of the ranks that report
// Nanoseconds in 64 bits reach twice as far: seconds since 1970, and of one step.
constexpr double kTimestampMost = 4e9;
constexpr float kStepSecondsMost = 1e8F;
using signal::kMissing;
using signal::Known;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

/// A number, `nan` and `inf` among them; nothing where the text is none.
std::optional<double> Number(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

struct StepTable::Layout {
  std::vector<StepColumn> columns;
  std::optional<std::int32_t> rank;  ///< of the whole file
  bool has_rank = false;
  bool has_step = false;
};

float& StepTable::ValueOf(Row& row, signal::MetricId metric) {
  auto found = std::find(metrics_.begin(), metrics_.end(), metric);
  const auto index = static_cast<std::size_t>(found - metrics_.begin());
  if (found == metrics_.end()) metrics_.push_back(metric);
  if (row.values.size() <= index) row.values.resize(metrics_.size(), kMissing);
  return row.values[index];
}

bool StepTable::ReadRow(const Layout& layout, const std::vector<std::string_view>& fields,
                        Row& row) {
  if (fields.size() != layout.columns.size()) return false;
  row.rank = layout.rank.value_or(0);
  bool any = false;
  bool has_step = false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const StepColumn& column = layout.columns[i];
    if (column.role == Role::kOther || Trim(fields[i]).empty()) continue;
    const std::optional<double> value = Number(fields[i]);
    if (!value) return false;
    switch (column.role) {
      case Role::kStep:
        if (!(std::fabs(*value) < 9e15)) return false;
        row.step = static_cast<std::int64_t>(*value);
        has_step = true;
        break;
      case Role::kRank:
        if (!(*value >= 0.0 && *value <= kRankMax)) return false;
        row.rank = static_cast<std::int32_t>(*value);
        break;
      case Role::kTimestamp:
        if (!(*value >= 0.0 && *value < kTimestampMost)) return false;
        row.timestamp = *value;
        break;
      default:
        ValueOf(row, signal::IdOf(column.metric)) = static_cast<float>(*value * column.to_unit);
        any = true;
        break;
    }
  }
  if (!has_step) row.step = next_step_[row.rank]++;
  return any;
}

Result<bool> StepTable::Add(std::unique_ptr<io::ByteSource> source, InputReport& report) {
  report.file = source->name();
  const std::string name = source->name();
  io::CsvScanner scanner(std::move(source));
  std::vector<std::string_view> fields;
  RINGWARD_ASSIGN(const bool any, scanner.Next(fields));
  if (!any) return false;
  Layout layout;
  bool has_metric = false;
  for (const std::string_view field : fields) {
    layout.columns.push_back(RecogniseColumn(Trim(field)));
    const StepColumn& column = layout.columns.back();
    has_metric = has_metric || column.role == Role::kMetric;
    layout.has_rank = layout.has_rank || column.role == Role::kRank;
    if (column.role == Role::kMetric && !column.has_unit) has_unit_ = false;
  }
  if (!layout.has_rank) layout.rank = RankInName(name);
  if (!has_metric || (!layout.has_rank && (!layout.rank || *layout.rank > kRankMax))) return false;
  report.format = "step-csv";
  files_.push_back(name);
  while (true) {
    RINGWARD_ASSIGN(const bool more, scanner.Next(fields));
    if (!more) break;
    Row row;
    row.file = static_cast<std::uint32_t>(files_.size() - 1);
    row.line = scanner.line();
    if (!ReadRow(layout, fields, row)) {
      ++report.lines_malformed;
      continue;
    }
    world_ = std::max(world_, static_cast<std::size_t>(row.rank) + 1);
    const bool fresh = rows_.try_emplace({row.step, row.rank}, std::move(row)).second;
    ++(fresh ? report.lines_used : report.lines_other);  // the first of two rows of one step counts
  }
  return true;
}

Status StepTable::CheckRanks() const {
  std::set<std::int32_t> ranks;
  for (const auto& [key, row] : rows_) ranks.insert(row.rank);
  if (world_ <= kSparseWorld || world_ <= kSparseFactor * ranks.size()) return Ok();
  const auto last = std::max_element(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) {
    return a.second.rank < b.second.rank;
  });
  const Row& row = last->second;
  return Error(Code::kInvalidInput, files_[row.file] + ":" + std::to_string(row.line) + ": rank " +
                                        std::to_string(row.rank) + " in a job of which " +
                                        std::to_string(ranks.size()) +
                                        " ranks report: ranks count from 0");
}

double StepTable::UnitFactor() const {
  if (has_unit_) return 1.0;
  std::vector<float> steps;
  const auto found = std::find(metrics_.begin(), metrics_.end(), signal::IdOf(Known::kStepTime));
  const auto index = static_cast<std::size_t>(found - metrics_.begin());
  for (const auto& [key, row] : rows_) {
    if (index < row.values.size() && row.values[index] > 0.0F) steps.push_back(row.values[index]);
  }
  if (steps.empty()) return 1.0;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return 1.0 / static_cast<double>(*middle);
}

std::int64_t StepTable::EndStep() const {
  std::int64_t longest = 0;
  for (const auto& [rank, next] : next_step_) longest = std::max(longest, next);
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  for (const auto& [rank, next] : next_step_) {
    if (2 * next >= longest) end = std::min(end, next);
  }
  return end;
}

signal::Frame StepTable::FrameOf(const std::vector<const Row*>& rows, double factor) const {
  signal::Frame frame;
  frame.step = rows.front()->step;
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    signal::Column column{metrics_[m], std::vector<float>(world_, kMissing)};
    const bool time = metrics_[m] <= signal::IdOf(Known::kWaitTime);
    for (const Row* const row : rows) {
      if (m >= row->values.size() || signal::IsMissing(row->values[m])) continue;
      const auto scale = static_cast<float>(time ? factor : 1.0);
      column.values[static_cast<std::size_t>(row->rank)] = row->values[m] * scale;
    }
    frame.columns.push_back(std::move(column));
  }
  return frame;
}

std::vector<signal::Event> StepTable::Events() const {
  const double factor = UnitFactor();
  std::vector<signal::Event> events;
  events.push_back({0, {}, signal::JobOpened{"", signal::Topology(world_)}});
  double now = 0.0;
  const std::int64_t end = EndStep();
  for (auto at = rows_.begin(); at != rows_.end() && at->first.first < end;) {
    const std::int64_t step = at->first.first;
    std::vector<const Row*> rows;
    double latest = 0.0;
    for (; at != rows_.end() && at->first.first == step; ++at) {
      rows.push_back(&at->second);
      latest = std::max(latest, at->second.timestamp);
    }
    signal::Frame frame = FrameOf(rows, factor);
    float longest = 0.0F;
    if (const signal::Column* const steps = frame.Find(Known::kStepTime)) {
      for (const float value : steps->values) {
        if (value < kStepSecondsMost) longest = std::max(longest, value);
      }
    }
    now = latest > 0.0 ? std::max(now, latest) : now + static_cast<double>(longest);
    now = std::min(now, kTimestampMost);
    frame.received = signal::FromSeconds(now);
    const signal::Time received = frame.received;
    events.push_back({events.size(), received, std::move(frame)});
  }
  if (events.size() > 1) events.front().received = events[1].received;
  return events;
}

StepTable::Place StepTable::PlaceOf(std::int32_t rank, std::int64_t step) const {
  const auto found = rows_.find({step, rank});
  if (found == rows_.end()) return {};
  return {files_[found->second.file], found->second.line};
}

}  // namespace ringward::ingest
