#include "learn/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "learn/data/table.h"

namespace ringward::learn {
namespace {

constexpr std::size_t kShownLabels = 5;

/// Labels of all rows; empty without a label column.
std::vector<RowLabel> TableLabels(const Table& table, const NormalValues& normal) {
  std::vector<RowLabel> labels;
  const Column* const column = table.schema.WithRole(Role::kLabel);
  if (column == nullptr) return labels;
  for (const Block& block : table.blocks) {
    const auto some = LabelsOf(block, column->slot, normal);
    labels.insert(labels.end(), some.begin(), some.end());
  }
  return labels;
}

/// 1 for rows that are labelled normal; fails when there is none.
Result<std::vector<std::uint8_t>> SelectNormal(const Table& table,
                                               const std::vector<RowLabel>& labels,
                                               const NormalValues& normal,
                                               std::vector<std::string>& notes) {
  std::vector<std::uint8_t> selected(labels.size());
  std::size_t missing = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    selected[i] = labels[i] == RowLabel::kNormal ? 1 : 0;
    missing += labels[i] == RowLabel::kMissing ? 1 : 0;
  }
  const auto count = static_cast<std::size_t>(std::count(selected.begin(), selected.end(), 1));
  const Column& column = *table.schema.WithRole(Role::kLabel);
  if (count == 0) {
    std::set<std::string> seen;
    for (const Block& block : table.blocks) {
      for (std::size_t r = 0; r < block.rows && seen.size() < kShownLabels; ++r) {
        seen.insert(Quoted(block.Text(r, column.slot)));
      }
    }
    std::string values;
    for (const std::string& value : seen) values += (values.empty() ? "" : ", ") + value;
    return Error(Code::kInvalidInput, table.schema.file + ": no row is labelled normal (" +
                                          normal.Describe() + ") in column " + Quoted(column.name) +
                                          ", which holds " + values +
                                          "; --normal names the values that are");
  }
  std::string note = "column " + Quoted(column.name) + ": " + std::to_string(count) + " of " +
                     std::to_string(labels.size()) + " rows are labelled normal and used";
  if (missing > 0) note += "; " + std::to_string(missing) + " have no label";
  notes.push_back(std::move(note));
  return selected;
}

/// Transforms block after block and frees each, so that rows are not held twice for long.
Result<Matrix> TransformAll(Table& table, const Preprocessor& preprocessor,
                            std::vector<std::size_t>& file_start) {
  RINGWARD_ASSIGN(const auto slots, preprocessor.Bind(table.schema));
  Matrix all(table.rows, preprocessor.width());
  TransformCounts counts;
  std::size_t row = 0;
  for (Block& block : table.blocks) {
    const auto out = std::span(all.values).subspan(row * all.cols, block.rows * all.cols);
    RINGWARD_TRY(preprocessor.Transform(block, slots, out, counts));
    if (preprocessor.window() > 1) {
      file_start.resize(row + block.rows, block.first_row - block.first_file_row);
    }
    row += block.rows;
    block = Block();
  }
  return all;
}

/// Rows whose whole window is selected.
std::vector<std::size_t> UsableRows(const WindowedRows& data,
                                    const std::vector<std::uint8_t>& selected) {
  std::vector<std::size_t> rows;
  std::size_t clean_from = 0;  // every row from here to the current one is selected
  for (std::size_t i = 0; i < data.rows(); ++i) {
    if (!selected.empty() && selected[i] == 0) clean_from = i + 1;
    if (clean_from <= data.FirstRowOf(i)) rows.push_back(i);
  }
  return rows;
}

}  // namespace

Result<TrainingSet> LoadTrainingSet(const DataOptions& data, const PreprocessOptions& options,
                                    bool select_normal) {
  RINGWARD_ASSIGN(Table table, LoadTable(data, Purpose::kTrain));
  return MakeTrainingSet(std::move(table), data, options, select_normal);
}

Result<TrainingSet> MakeTrainingSet(Table table, const DataOptions& data,
                                    const PreprocessOptions& options, bool select_normal) {
  TimeOrder order(table.schema.WithRole(Role::kTime));
  for (const Block& block : table.blocks) RINGWARD_TRY(order.Check(block));
  const NormalValues normal(data.normal);
  std::vector<RowLabel> labels = TableLabels(table, normal);
  std::vector<std::uint8_t> selected;
  std::vector<std::string> notes;
  if (select_normal && !labels.empty()) {
    RINGWARD_ASSIGN(selected, SelectNormal(table, labels, normal, notes));
  }
  RINGWARD_ASSIGN(Preprocessor preprocessor, Preprocessor::Fit(table, selected, data, options));
  notes.insert(notes.end(), preprocessor.notes().begin(), preprocessor.notes().end());
  std::vector<std::size_t> file_start;
  RINGWARD_ASSIGN(Matrix rows, TransformAll(table, preprocessor, file_start));
  WindowedRows windows(std::move(rows), preprocessor.window(), std::move(file_start));
  std::vector<std::size_t> usable = UsableRows(windows, selected);
  if (usable.empty()) {
    return Error(Code::kInvalidInput, table.schema.file + ": no " + std::to_string(data.window) +
                                          " consecutive rows are all labelled normal");
  }
  return TrainingSet{std::move(preprocessor), std::move(windows), std::move(usable),
                     std::move(labels), std::move(notes)};
}

ScoringStream::ScoringStream(const Preprocessor& preprocessor, NormalValues normal)
    : preprocessor_(&preprocessor),
      normal_(std::move(normal)),
      joiner_(preprocessor.width(), preprocessor.window()) {}

Result<ScoringStream> ScoringStream::Open(const DataOptions& data,
                                          const Preprocessor& preprocessor) {
  DataOptions options = data;
  options.time = preprocessor.time();
  options.window = preprocessor.window();
  const auto expected =
      preprocessor.named() ? preprocessor.source_columns() : std::vector<std::string>();
  ScoringStream stream(preprocessor, NormalValues(data.normal));
  RINGWARD_ASSIGN(stream.reader_, RowReader::Open(options, Purpose::kScore, expected));
  const Schema& schema = stream.schema();
  RINGWARD_ASSIGN(stream.slots_, preprocessor.Bind(schema));
  for (const std::string& name : options.id) stream.id_slots_.push_back(schema.Find(name)->slot);
  if (!options.kind.empty()) stream.id_slots_.push_back(schema.Find(options.kind)->slot);
  stream.order_ = TimeOrder(schema.WithRole(Role::kTime));
  return stream;
}

Result<bool> ScoringStream::Next(ScoringBatch& batch) {
  RINGWARD_ASSIGN(const bool any, reader_->Next(batch.block));
  if (!any) return false;
  const Block& block = batch.block;
  RINGWARD_TRY(order_.Check(block));
  Matrix rows(block.rows, preprocessor_->width());
  RINGWARD_TRY(preprocessor_->Transform(block, slots_, rows.values, counts_));
  batch.inputs =
      preprocessor_->window() == 1 ? std::move(rows) : joiner_.Join(rows, block.file_index);
  batch.labels.clear();
  if (const Column* const label = schema().WithRole(Role::kLabel)) {
    batch.labels = LabelsOf(block, label->slot, normal_);
  }
  return true;
}

}  // namespace ringward::learn
