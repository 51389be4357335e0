#include "ingest/step_csv/step_csv.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/text_value.h"
#include "ingest/step_csv/clock_text.h"
#include "ingest/step_csv/columns.h"

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

/// Unix times below this are counted from the start of something.
constexpr double kAnyUnixTime = 1e8;
constexpr std::size_t kQuotedMost = 40;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

/// A number, `nan` and `inf` among them; nothing where the text is none.
std::optional<double> Number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

bool SaysNothing(std::string_view text) {
  constexpr std::array<std::string_view, 9> kNothing = {"",     "-",   "None", "none", "null",
                                                        "NULL", "N/A", "n/a",  "NA"};
  return std::find(kNothing.begin(), kNothing.end(), text) != kNothing.end();
}

std::string Quoted(std::string_view text) {
  return '"' + Printable(text.substr(0, kQuotedMost), kQuotedMost) + '"';
}

std::string NoNumber(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma != std::string_view::npos && text.find(',', comma + 1) == std::string_view::npos) {
    const std::string point =
        std::string(text.substr(0, comma)) + "." + std::string(text.substr(comma + 1));
    if (Number(point)) return Quoted(text) + " has a decimal comma, where a point is expected";
  }
  return Quoted(text) + " is no number";
}

/// The delimiter of a file by its first line: the most frequent of them outside quotes.
char DelimiterOf(std::string_view line) {
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char delimiter : {',', ';', '\t', '|'}) {
    bool quoted = false;
    const auto count = std::count_if(line.begin(), line.end(), [&](char c) {
      quoted = quoted != (c == '"');
      return c == delimiter && !quoted;
    });
    if (count > most) {
      most = count;
      best = delimiter;
    }
  }
  return best;
}

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

struct StepTable::Layout {
  std::vector<std::string> names;
  std::vector<StepColumn> columns;
  std::optional<std::int32_t> rank;  ///< of the whole file
  std::string first_clock;           ///< the first timestamp that is none
  // Of the row that is being read.
  std::string host;
  std::string local_rank;

  const StepColumn* Find(Role role) const {
    const auto found = std::find_if(columns.begin(), columns.end(),
                                    [&](const StepColumn& column) { return column.role == role; });
    return found == columns.end() ? nullptr : &*found;
  }
  bool HasMetric() const { return Find(Role::kMetric) != nullptr; }
  bool HasMetric(Known metric) const {
    return std::any_of(columns.begin(), columns.end(), [&](const StepColumn& column) {
      return column.role == Role::kMetric && column.metric == metric;
    });
  }
};

float& StepTable::ValueOf(Row& row, signal::MetricId metric) {
  auto found = std::find(metrics_.begin(), metrics_.end(), metric);
  const auto index = static_cast<std::size_t>(found - metrics_.begin());
  if (found == metrics_.end()) metrics_.push_back(metric);
  if (row.values.size() <= index) row.values.resize(metrics_.size(), kMissing);
  return row.values[index];
}

std::string StepTable::ReadCell(Layout& layout, std::size_t index, std::string_view text,
                                Row& row) {
  const StepColumn& column = layout.columns[index];
  if (column.role == Role::kHost) layout.host = text;
  if (column.role == Role::kLocalRank) layout.local_rank = text;
  if (column.role == Role::kRank) {
    const auto rank = RankInCell(text);
    if (!rank || *rank > kRankMax) return Quoted(text) + " is no rank";
    row.rank = *rank;
  }
  if (column.role != Role::kStep && column.role != Role::kTimestamp &&
      column.role != Role::kMetric) {
    return {};
  }
  std::optional<double> value = Number(text);
  if (column.role == Role::kTimestamp) {
    if (value) {
      row.timestamp = *value;
    } else if (const auto clock = ParseClock(text)) {
      row.timestamp = *clock / (column.to_unit > 0.0 ? column.to_unit : 1.0);
    } else {
      row.unread_clock = true;
      if (layout.first_clock.empty()) layout.first_clock = text;
    }
    return {};
  }
  if (!value) return NoNumber(text);
  if (column.role == Role::kStep) {
    if (!(std::fabs(*value) < 9e15)) return Quoted(text) + " is no step";
    row.step = static_cast<std::int64_t>(*value);
    return {};
  }
  float& cell = ValueOf(row, signal::IdOf(column.metric));
  const auto scaled = static_cast<float>(*value * column.to_unit);
  cell = column.part && !signal::IsMissing(cell) ? cell + scaled : scaled;
  return {};
}

std::string StepTable::ReadRow(Layout& layout, const std::vector<std::string_view>& fields,
                               Row& row) {
  if (fields.size() != layout.columns.size()) {
    return std::to_string(fields.size()) + " fields where " +
           std::to_string(layout.columns.size()) + " are expected";
  }
  row.rank = layout.rank.value_or(-1);
  bool has_step = false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view text = Trim(fields[i]);
    const Role role = layout.columns[i].role;
    if (role == Role::kOther || SaysNothing(text)) continue;
    if (std::string what = ReadCell(layout, i, text, row); !what.empty()) {
      return "column " + Quoted(layout.names[i]) + ": " + what;
    }
    has_step = has_step || role == Role::kStep;
  }
  if (row.rank < 0 && layout.Find(Role::kRank) == nullptr && !layout.host.empty()) {
    row.rank = RankOfHost(layout.host, layout.local_rank);
  }
  if (row.rank < 0) return "no rank";
  const bool clock = layout.Find(Role::kTimestamp) != nullptr && row.timestamp != 0.0;
  if (row.values.empty() && !clock) return "no value";
  if (!layout.host.empty()) hosts_[row.rank] = layout.host;
  if (!has_step) row.step = next_step_[row.rank]++;
  return {};
}

/// Hosts, or their processes, are numbered as they come.
std::int32_t StepTable::RankOfHost(const std::string& host, const std::string& local_rank) {
  const auto next = static_cast<std::int32_t>(rank_of_host_.size());
  if (next > kRankMax) return -1;
  return rank_of_host_.try_emplace({host, local_rank}, next).first->second;
}

Result<std::vector<StepTable::Row>> StepTable::ReadRows(io::CsvScanner& scanner, Layout& layout,
                                                        InputReport& report) {
  std::vector<Row> rows;
  std::vector<std::string_view> fields;
  while (true) {
    RINGWARD_ASSIGN(const bool more, scanner.Next(fields));
    if (!more) return rows;
    Row row;
    row.file = static_cast<std::uint32_t>(files_.size());
    row.line = scanner.line();
    layout.host.clear();
    layout.local_rank.clear();
    const std::string what = ReadRow(layout, fields, row);
    if (what.empty()) {
      rows.push_back(std::move(row));
      continue;
    }
    if (report.first_malformed.empty()) {
      report.first_malformed = std::to_string(scanner.line()) + ": " + what;
    }
    ++report.lines_malformed;
  }
}

void StepTable::SettleClocks(Layout& layout, std::vector<Row>& rows, InputReport& report) {
  const StepColumn* const column = layout.Find(Role::kTimestamp);
  if (column == nullptr) return;
  const std::string& name = layout.names[static_cast<std::size_t>(column - layout.columns.data())];
  std::vector<double> clocks;
  std::size_t unread = 0;
  for (const Row& row : rows) {
    if (row.timestamp > 0.0) clocks.push_back(row.timestamp);
    unread += row.unread_clock ? 1 : 0;
  }
  if (2 * unread > rows.size()) {
    report.note = "column " + Quoted(name) + ": " + Quoted(layout.first_clock) +
                  " is no time that is known (Unix or ISO 8601); steps are added up instead";
    for (Row& row : rows) row.timestamp = 0.0;
    return;
  }
  const double typical = clocks.empty() ? 0.0 : MedianOf(std::move(clocks));
  const double unit = column->to_unit > 0.0 ? column->to_unit : ClockUnit(typical);
  const bool length = column->maybe_step_time && typical * unit < kAnyUnixTime &&
                      !layout.HasMetric(Known::kStepTime);
  std::erase_if(rows, [&](Row& row) {
    const double seconds = row.timestamp * unit;
    const bool good = !row.unread_clock && seconds >= 0.0 && seconds < kTimestampMost;
    if (!good) {
      ++report.lines_malformed;
      if (report.first_malformed.empty()) {
        report.first_malformed = std::to_string(row.line) + ": column " + Quoted(name) +
                                 ": no Unix time in the unit of the others";
      }
      return true;
    }
    if (length && row.timestamp > 0.0) {
      ValueOf(row, signal::IdOf(Known::kStepTime)) = static_cast<float>(seconds);
    }
    row.timestamp = length ? 0.0 : seconds;
    return false;
  });
  if (length) {
    has_time_ = has_time_ || !rows.empty();
    has_unit_ = has_unit_ || column->to_unit > 0.0;
  }
}

void StepTable::Insert(std::vector<Row> rows, InputReport& report) {
  for (Row& row : rows) {
    if (row.values.empty()) {
      ++report.lines_other;  // a time, and nothing of the step
      continue;
    }
    world_ = std::max(world_, static_cast<std::size_t>(row.rank) + 1);
    const std::pair key{row.step, row.rank};
    const bool fresh = rows_.try_emplace(key, std::move(row)).second;
    ++(fresh ? report.lines_used : report.lines_other);  // the first of two rows of one step counts
  }
}

Result<bool> StepTable::Add(std::unique_ptr<io::ByteSource> source, InputReport& report) {
  report.file = source->name();
  const std::string name = source->name();
  io::CsvScanner scanner(std::move(source));
  RINGWARD_ASSIGN(const std::string first, scanner.PeekLine(0));
  scanner.SetDelimiter(DelimiterOf(first));
  scanner.Rewind();
  scanner.Commit();
  std::vector<std::string_view> fields;
  RINGWARD_ASSIGN(const bool any, scanner.Next(fields));
  if (!any) return false;
  Layout layout;
  for (const std::string_view field : fields) layout.names.emplace_back(Trim(field));
  layout.columns = RecogniseHeader(layout.names);
  const StepColumn* const clock = layout.Find(Role::kTimestamp);
  const bool metric = layout.HasMetric() || (clock != nullptr && clock->maybe_step_time);
  if (layout.Find(Role::kRank) == nullptr) layout.rank = RankInName(name);
  const bool ranks = layout.Find(Role::kRank) != nullptr || layout.Find(Role::kHost) != nullptr;
  if (!metric || (!ranks && (!layout.rank || *layout.rank > kRankMax))) return false;
  // The number in the name of a file of several hosts is another one.
  if (layout.Find(Role::kHost) != nullptr && !NamesRank(name)) layout.rank.reset();
  RINGWARD_ASSIGN(std::vector<Row> rows, ReadRows(scanner, layout, report));
  for (const StepColumn& column : layout.columns) {
    if (column.role != Role::kMetric || column.metric > Known::kWaitTime) continue;
    has_time_ = true;
    has_unit_ = has_unit_ || column.has_unit;
  }
  SettleClocks(layout, rows, report);
  report.format = "step-csv";
  files_.push_back(name);
  Insert(std::move(rows), report);
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
  if (has_unit_ || !has_time_) return 1.0;  // a time without a unit beside others is in seconds
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
  std::vector<signal::RankPlace> places(world_);
  for (const auto& [rank, host] : hosts_) {
    if (static_cast<std::size_t>(rank) < world_) places[static_cast<std::size_t>(rank)].host = host;
  }
  events.emplace_back().what = signal::JobOpened{"", signal::Topology(std::move(places))};
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
