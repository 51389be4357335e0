#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ringward/cli/output.h"
#include "ringward/score_stream.h"

namespace ringward::cli {

/// Where scores go: one row at a time, in order. Nothing is left of a file that was not finished.
class ScoreWriter {
 public:
  virtual ~ScoreWriter() = default;
  virtual Status Write(const ScoredRow& row) = 0;
  virtual Status Flush() = 0;   ///< makes the rows so far visible where that is possible
  virtual Status Finish() = 0;  ///< after the last row
};

struct ScoreColumns {
  std::vector<std::string> ids;  ///< names of the id columns
  std::size_t reasons = 0;
};

/// kInvalidInput where an id column has the name of one that score writes, or is there twice: in
/// JSON and to readers of CSV by name, one would hide the other.
Status CheckNames(const ScoreColumns& columns);

/// A writer for `path`, by its ending: .jsonl, .npy, else CSV; "" writes CSV to `out`. NPY holds
/// numbers only [rows, 4]: row, score, p_value, anomaly; ids and reasons are kInvalidInput there.
Result<std::unique_ptr<ScoreWriter>> MakeScoreWriter(const std::string& path,
                                                     const ScoreColumns& columns, Output& out);

/// The members of a row as JSON, ids first.
Json RowJson(const ScoreColumns& columns, const ScoredRow& row);

}  // namespace ringward::cli
