#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/byte_source.h"
#include "signal/event.h"

namespace ringward::ingest {

/// What a reader made of one file.
struct InputReport {
  std::string file;
  std::string format;
  std::uint64_t lines_used = 0;
  std::uint64_t lines_other = 0;      ///< passed over: of no interest
  std::uint64_t lines_malformed = 0;  ///< could not be read: torn, too few fields, no number
};

/// Steps of a job, one row per rank and step, collected from any number of CSV files: one file per
/// rank (`rank3.csv`), or files with a column `rank` or `worker`. Columns are told by name
/// (columns.h). A row that cannot be read is counted and passed over, so is a torn last line.
/// Without a step column, rows of a rank count from 0 and the table ends with the shortest rank
/// (those of less than half the longest aside): nothing tells that a rank is missing. Not safe for
/// concurrent use.
class StepTable {
 public:
  /// Ranks and rows beyond these are refused: no table of steps has them.
  static constexpr std::int32_t kRankMax = 1'000'000;

  /// Adds one file. False, and nothing changed but the report, when it is no table of steps: no
  /// header with a time, loss or norm in it, or no way to tell the rank. Errors: those of reading.
  Result<bool> Add(std::unique_ptr<io::ByteSource> source, InputReport& report);

  bool empty() const { return rows_.empty(); }
  std::size_t world() const { return world_; }
  /// Whether the ranks can be a job's. kInvalidInput where hardly any of many report: process
  /// numbers, or a mistake, for which frames of that many ranks would not fit into memory.
  Status CheckRanks() const;
  /// The rows as events: a JobOpened, then a frame for every step, in order. Times of receipt are
  /// the rows' timestamps (the latest of a step, never going back), or else steps added up.
  std::vector<signal::Event> Events() const;
  /// Where the row of a rank's step stands; file empty and line 0 where there is none. Lines count
  /// from 1.
  struct Place {
    std::string file;
    std::uint64_t line = 0;
  };
  Place PlaceOf(std::int32_t rank, std::int64_t step) const;

 private:
  struct Row {
    std::int32_t rank = 0;
    std::int64_t step = 0;
    double timestamp = 0.0;  ///< Unix seconds; 0: none
    std::uint32_t file = 0;
    std::uint64_t line = 0;
    std::vector<float> values;  ///< in the order of metrics_
  };
  struct Layout;

  bool ReadRow(const Layout& layout, const std::vector<std::string_view>& fields, Row& row);
  float& ValueOf(Row& row, signal::MetricId metric);
  /// The first step that is not told because ranks without a step column have ended.
  std::int64_t EndStep() const;
  /// The factor that makes a typical step one second long, where times have no unit.
  double UnitFactor() const;
  signal::Frame FrameOf(const std::vector<const Row*>& rows, double factor) const;

  std::vector<std::string> files_;
  std::vector<signal::MetricId> metrics_;
  std::map<std::pair<std::int64_t, std::int32_t>, Row> rows_;  ///< by step, then rank
  std::map<std::int32_t, std::int64_t> next_step_;             ///< of ranks without a step column
  std::size_t world_ = 0;
  bool has_unit_ = true;
};

}  // namespace ringward::ingest
