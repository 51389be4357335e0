#include "recording/minute_maker.h"

#include <algorithm>
#include <cmath>

#include "recording/schema.h"
#include "signal/metric.h"

namespace ringward::recording {
namespace {

/// Numbers held at a time, 64 MiB. More ranks than fit are worked on in parts, each of which
/// decompresses the columns again.
constexpr std::size_t kValuesMax = std::size_t{1} << 24U;

/// REQUIRES: not empty. Reorders.
double MedianOf(std::span<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (double{*middle} + double{*std::max_element(values.begin(), middle)}) / 2.0;
}

}  // namespace

Result<MinuteMaker> MinuteMaker::Make(Database& database) {
  MinuteMaker maker;
  maker.name_ = &database.name();
  RINGWARD_ASSIGN(maker.next_, database.Prepare("SELECT min(metric) FROM sample_rows"
                                                " WHERE key >= ? AND key < ? AND metric > ?"));
  RINGWARD_ASSIGN(maker.shape_, database.Prepare("SELECT count(*), max(count) FROM sample_rows"
                                                 " WHERE key >= ? AND key < ? AND metric = ?"));
  RINGWARD_ASSIGN(maker.columns_, database.Prepare("SELECT key, count, data FROM sample_rows"
                                                   " WHERE key >= ? AND key < ? AND metric = ?"));
  // A minute that was begun before a crash is made again.
  RINGWARD_ASSIGN(maker.insert_,
                  database.Prepare("INSERT OR REPLACE INTO minute_rows VALUES(?,?,?,?,?,?,?)"));
  return maker;
}

Result<bool> MinuteMaker::MakeNext(std::int64_t minute, std::uint64_t first_key,
                                   std::uint64_t key_end) {
  // A minute can be dropped before all its metrics were worked on.
  if (minute != minute_) metric_ = -1;
  minute_ = minute;
  next_.Start(first_key, key_end, metric_);
  RINGWARD_TRY(next_.Step());
  const bool any = sqlite3_column_type(next_.get(), 0) == SQLITE_INTEGER;
  metric_ = any ? sqlite3_column_int64(next_.get(), 0) : -1;
  next_.Reset();
  if (!any) return false;
  shape_.Start(first_key, key_end, metric_);
  RINGWARD_TRY(shape_.Step());
  Row row(shape_, *name_, "sample_rows");
  const auto frames = row.Int<std::size_t>(0, 1, kEventMax);
  const auto ranks = row.Int<std::size_t>(1, 0, kRanksMax);
  const Status verdict = row.Verdict();
  shape_.Reset();
  RINGWARD_TRY(verdict);
  const std::size_t part = std::max<std::size_t>(1, kValuesMax / frames);
  for (std::size_t first = 0; first < ranks; first += part) {
    const std::size_t count = std::min(part, ranks - first);
    RINGWARD_TRY(Fill(first_key, key_end, first, count, frames));
    for (std::size_t i = 0; i < count; ++i) {
      RINGWARD_TRY(Insert(minute, first + i, std::span(values_).subspan(i * frames, frames)));
    }
  }
  return true;
}

Status MinuteMaker::Fill(std::uint64_t first_key, std::uint64_t key_end, std::size_t first_rank,
                         std::size_t ranks, std::size_t frames) {
  values_.assign(ranks * frames, signal::kMissing);
  columns_.Start(first_key, key_end, metric_);
  for (std::size_t frame = 0; frame < frames; ++frame) {
    RINGWARD_ASSIGN(const bool there, columns_.Step());
    if (!there) return Ok();
    Row row(columns_, *name_, "sample_rows");
    column_.resize(row.Int<std::size_t>(1, 0, kRanksMax));
    if (!unpacker_.Unpack(row.Blob(2), column_)) row.Refuse(2, "is damaged");
    if (!row.sound()) {
      Status verdict = row.Verdict();
      columns_.Reset();
      return verdict;
    }
    const std::size_t end = std::min(first_rank + ranks, column_.size());
    for (std::size_t rank = first_rank; rank < end; ++rank) {
      values_[(rank - first_rank) * frames + frame] = column_[rank];
    }
  }
  columns_.Reset();
  return Ok();
}

Status MinuteMaker::Insert(std::int64_t minute, std::size_t rank, std::span<float> values) {
  const auto missing = std::remove_if(values.begin(), values.end(), signal::IsMissing);
  if (missing == values.begin()) return Ok();
  const auto end =
      std::remove_if(values.begin(), missing, [](float value) { return !std::isfinite(value); });
  const auto finite = values.first(static_cast<std::size_t>(end - values.begin()));
  // NaN becomes NULL.
  double low = std::nan("");
  double median = low;
  double high = low;
  if (!finite.empty()) {
    const auto [least, most] = std::minmax_element(finite.begin(), finite.end());
    low = *least;
    high = *most;
    median = MedianOf(finite);
  }
  return insert_.Run(minute, metric_, rank, finite.size(), low, median, high);
}

}  // namespace ringward::recording
