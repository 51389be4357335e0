#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/byte_source.h"
#include "io/csv_scanner.h"
#include "signal/event.h"

namespace ringward::ingest {

/// What a reader made of one file.
struct InputReport {
  std::string file;
  std::string format;
  std::uint64_t lines_used = 0;
  std::uint64_t lines_other = 0;      ///< passed over: of no interest
  std::uint64_t lines_malformed = 0;  ///< could not be read: torn, too few fields, no number
  std::string first_malformed;        ///< `17: column "loss": "x" is no number`; empty: none
  std::string note;                   ///< of a column that could not be used; empty: none
};

/// Steps of a job, one row per rank and step, collected from any number of CSV files: one file per
/// rank (`rank3.csv`), or files with a column `rank` or `worker`. Columns are told by name
/// (columns.h), the delimiter by the header. A row that cannot be read is counted and passed over,
/// so is a torn last line. Timestamps are Unix times, whose unit their size tells where the name
/// does not, or ISO 8601. Without a rank, hosts (with `local_rank`: their processes) are ranks, in
/// the order in which they appear.
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
    double timestamp = 0.0;     ///< Unix seconds; 0: none; while a file is read, in its own unit
    bool unread_clock = false;  ///< while a file is read: its timestamp is none
    std::uint32_t file = 0;
    std::uint64_t line = 0;
    std::vector<float> values;  ///< in the order of metrics_
  };
  struct Layout;

  /// What is wrong with the row: empty where nothing is.
  std::string ReadRow(Layout& layout, const std::vector<std::string_view>& fields, Row& row);
  std::string ReadCell(Layout& layout, std::size_t index, std::string_view text, Row& row);
  Result<std::vector<Row>> ReadRows(io::CsvScanner& scanner, Layout& layout, InputReport& report);
  /// Makes Unix seconds, or lengths of steps, of the timestamps of one file's rows.
  void SettleClocks(Layout& layout, std::vector<Row>& rows, InputReport& report);
  void Insert(std::vector<Row> rows, InputReport& report);
  std::int32_t RankOfHost(const std::string& host, const std::string& local_rank);
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
  std::map<std::pair<std::string, std::string>, std::int32_t> rank_of_host_;
  std::map<std::int32_t, std::string> hosts_;  ///< of ranks
  std::size_t world_ = 0;
  bool has_unit_ = false;  ///< some time has
  bool has_time_ = false;
};

}  // namespace ringward::ingest
