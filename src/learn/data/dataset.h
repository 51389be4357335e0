#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/data/labels.h"
#include "learn/data/preprocessor.h"
#include "learn/data/reader.h"
#include "learn/data/table.h"
#include "learn/data/timestamp.h"
#include "learn/data/window.h"

namespace ringward::learn {

/// What `train` needs of its data: files -> reader -> preprocessing -> inputs in memory.
struct TrainingSet {
  Preprocessor preprocessor;
  WindowedRows data;               ///< every row of the files, also those not trained on
  std::vector<std::size_t> rows;   ///< rows of `data` to train on, ascending: all without a label,
                                   ///< else those whose whole window is labelled normal
  std::vector<RowLabel> labels;    ///< per row of `data`; empty without a label column
  std::vector<std::string> notes;  ///< sentences for the user
};

/// Reads, selects, fits and transforms. `select_normal` false trains on all rows whatever their
/// label (contaminated data). Fails when no row is left, naming the label values that were found.
Result<TrainingSet> LoadTrainingSet(const DataOptions& data, const PreprocessOptions& options,
                                    bool select_normal = true);

/// The same of rows that are in memory.
Result<TrainingSet> MakeTrainingSet(Table table, const DataOptions& data,
                                    const PreprocessOptions& options, bool select_normal = true);

/// The next rows to score.
struct ScoringBatch {
  Matrix inputs;                 ///< [rows, preprocessor.inputs()]
  Block block;                   ///< the same rows as read: ids, labels, line numbers
  std::vector<RowLabel> labels;  ///< per row; empty without a label column
};

/// What `score` and `evaluate` need: rows in input order, a few at a time, as they arrive.
/// Not safe for concurrent use.
class ScoringStream {
 public:
  /// Time column and window are the model's; `data` gives paths, ids and, for evaluation, label and
  /// normal values. `preprocessor` must outlive the stream.
  static Result<ScoringStream> Open(const DataOptions& data, const Preprocessor& preprocessor);

  /// False at the end.
  Result<bool> Next(ScoringBatch& batch);
  const Schema& schema() const { return reader_->schema(); }
  /// Slots of the id columns in the order of `DataOptions::id`.
  const std::vector<std::size_t>& id_slots() const { return id_slots_; }
  /// For each column of the preprocessor its slot in blocks, see Preprocessor::Bind.
  const std::vector<std::size_t>& slots() const { return slots_; }
  /// What was imputed, unseen or out of range so far.
  const TransformCounts& counts() const { return counts_; }

 private:
  ScoringStream(const Preprocessor& preprocessor, NormalValues normal);
  const Preprocessor* preprocessor_;
  std::unique_ptr<RowReader> reader_;
  std::vector<std::size_t> slots_;
  std::vector<std::size_t> id_slots_;
  NormalValues normal_;
  TimeOrder order_;
  WindowJoiner joiner_;
  TransformCounts counts_;
};

/// Sentences like `12 % of rows have duration outside the training range (0 .. 42908)` for the
/// columns where scoring data differ from training data; at most `limit` (>= 1), worst first.
std::vector<std::string> DriftWarnings(const Preprocessor& preprocessor,
                                       const TransformCounts& counts, std::size_t limit = 5);

}  // namespace ringward::learn
