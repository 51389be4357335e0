#include "ringward/telemetry_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/expand.h"
#include "learn/telemetry/table.h"
#include "pipeline/pipeline.h"
#include "recording/reader.h"
#include "ringward/recording_file.h"

namespace ringward::cli {
namespace {

/// Of all recordings together: as many as a model has use for.
constexpr std::size_t kTelemetryRowsMost = 200'000;

/// The recordings among the inputs; none where all are tables.
Result<std::vector<std::string>> RecordingsOf(const std::vector<std::string>& paths) {
  if (std::find(paths.begin(), paths.end(), "-") != paths.end()) return std::vector<std::string>();
  RINGWARD_ASSIGN(const std::vector<std::string> files, io::ExpandInputs(paths));
  std::vector<std::string> recordings;
  for (const std::string& file : files) {
    RINGWARD_ASSIGN(const bool is, IsRecording(file));
    if (is) recordings.push_back(file);
  }
  if (!recordings.empty() && recordings.size() != files.size())
    return Error(Code::kInvalidInput, recordings.front() + ": tables and recordings together");
  return recordings;
}

Status CheckOptions(const learn::DataOptions& data, const std::string& file) {
  const bool columns = data.label.empty() && data.time.empty() && data.id.empty();
  if (columns && data.window == 1) return Ok();
  return Error(Code::kInvalidInput,
               file + ": --label, --id, --time and --window mean nothing with recordings");
}

/// One recording through the watching path, event by event.
Result<learn::Block> HealthyRows(const std::string& file, std::size_t rows_max,
                                 std::vector<std::string>& notes) {
  RINGWARD_ASSIGN(recording::Reader reader, recording::Reader::Open(file));
  pipeline::State state{detect::DetectOptions{}};
  learn::TelemetryTable table(rows_max);
  while (true) {
    RINGWARD_ASSIGN(const auto event, reader.NextEvent());
    if (!event) break;
    const auto outcome = pipeline::Step(state, std::span(&*event, 1), event->received);
    table.Take(*event, outcome.causes);
  }
  if (table.steps_left_out() > 0) {
    notes.push_back(
        fmt::format("{}: {} steps of incidents are left out", file, table.steps_left_out()));
  }
  return table.Finish(file);
}

}  // namespace

Result<ReadSet> ReadTrainingSet(const learn::TrainSettings& settings) {
  RINGWARD_ASSIGN(const auto recordings, RecordingsOf(settings.data.paths));
  if (recordings.empty()) {
    RINGWARD_ASSIGN(auto set, learn::LoadTrainingSet(settings.data, settings.preprocess,
                                                     !settings.contaminated));
    return ReadSet{std::move(set), ""};
  }
  RINGWARD_TRY(CheckOptions(settings.data, recordings.front()));
  RINGWARD_ASSIGN(learn::Schema schema,
                  learn::MakeSchema(learn::TelemetryFeatureNames(), true, recordings.front(), {}));
  learn::Table table{.schema = std::move(schema)};
  std::vector<std::string> notes;
  for (const std::string& file : recordings) {
    RINGWARD_ASSIGN(learn::Block block,
                    HealthyRows(file, kTelemetryRowsMost / recordings.size(), notes));
    if (block.rows == 0) continue;
    block.first_row = table.rows;
    block.file_index = table.blocks.size();
    table.rows += block.rows;
    table.blocks.push_back(std::move(block));
  }
  if (table.rows == 0)
    return Error(Code::kInvalidInput, recordings.front() + ": holds no healthy step to learn from");
  RINGWARD_ASSIGN(auto set,
                  learn::MakeTrainingSet(std::move(table), settings.data, settings.preprocess));
  set.notes.insert(set.notes.begin(), notes.begin(), notes.end());
  return ReadSet{std::move(set), std::string(learn::kTelemetryFeatures)};
}

}  // namespace ringward::cli
