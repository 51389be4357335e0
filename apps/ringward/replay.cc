#include "ringward/replay.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ingest/step_csv/step_csv.h"
#include "io/expand.h"
#include "recording/reader.h"
#include "replay/recorded.h"
#include "ringward/incident_text.h"

namespace ringward::cli {
namespace {

namespace fs = std::filesystem;

/// Folders become the CSV files below them, in the order of their names.
Result<std::vector<std::string>> FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      RINGWARD_ASSIGN(const std::vector<std::string> expanded, io::ExpandInputs(std::vector{path}));
      files.insert(files.end(), expanded.begin(), expanded.end());
      continue;
    }
    std::vector<std::string> found;
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().string();
      if (at->is_regular_file(error) && name.find(".csv") != std::string::npos)
        found.push_back(name);
    }
    if (error) return Error(Code::kResource, path + ": " + error.message());
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  if (files.empty()) return Error(Code::kInvalidInput, paths.front() + ": holds no .csv file");
  return files;
}

/// Whether the file is an SQLite file, as all recordings are.
Result<bool> IsRecording(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  if (path == "-") return false;  // what is read from a pipe is gone, and SQLite needs a file
  RINGWARD_ASSIGN(const auto source, io::OpenRawInput(path));
  std::array<char, kMagic.size()> begin{};
  RINGWARD_ASSIGN(const std::size_t got, source->Read(begin));
  return std::string_view(begin.data(), got) == kMagic;
}

/// Says where what a detector measured stands in the files.
void AddPlaces(const ingest::StepTable& table, std::vector<signal::Cause>& causes) {
  for (signal::Cause& cause : causes) {
    const std::int32_t rank = cause.culprit_ranks.empty() ? 0 : cause.culprit_ranks.front();
    const auto place = table.PlaceOf(rank, cause.since_step);
    for (signal::Evidence& evidence : cause.evidence) {
      evidence.file = place.file;
      evidence.line = place.line;
    }
  }
}

}  // namespace

SubcommandInfo ReplayCommand::Info() const {
  return {.path = "replay",
          .group = "Watching",
          .summary = "run recorded steps through the detectors",
          .details =
              "Reads CSV files of steps: one per rank (rank3.csv), or any with a column rank or "
              "worker.\n"
              "Columns are told by name: step, timestamp, step_seconds, data_seconds, "
              "compute_seconds,\n"
              "sync_seconds, loss, local_grad_norm, …. The same detectors run here as beside a "
              "live job.",
          .example = "ringward replay run/\nringward replay --json rank*.csv",
          .exit_codes = {{kExitFound, "an incident was found"}}};
}

void ReplayCommand::AddOptions(OptionTable& table) {
  table.AddPositional("paths", &paths_, {.what = "files, globs or folders"}, "what was recorded")
      .Metavar("PATH")
      .Complete(Completion::kFile)
      .Required();
  table.Add("false-alarms-per-day", &detect_.false_alarms_per_day, {.min = 1e-6, .max = 1e6},
            "alarms that a healthy job may give by chance in a day");
  table.Add("worth", &detect_.worth, {.min = 0.0, .max = 1.0},
            "slowness below this share of a step is not told");
}

Result<replay::Replayed> ReplayCommand::ReplayTables(const std::vector<std::string>& files) {
  ingest::StepTable table;
  for (const std::string& file : files) {
    RINGWARD_ASSIGN(auto source, io::OpenInput(file));
    RINGWARD_TRY(table.Add(std::move(source), inputs_.emplace_back()));
  }
  if (table.empty()) {
    return Error(Code::kInvalidInput,
                 files.front() + ": no file holds steps of ranks that can be told apart");
  }
  RINGWARD_TRY(table.CheckRanks());
  replay::Replayed replayed = replay::ReplayEvents(table.Events(), detect_);
  AddPlaces(table, replayed.causes);
  return replayed;
}

Result<replay::Replayed> ReplayCommand::ReplayRecording(const std::string& file) {
  RINGWARD_ASSIGN(recording::Reader reader, recording::Reader::Open(file));
  inputs_.push_back({.file = file, .format = "recording"});
  return replay::ReplayRecording(reader, detect_);
}

Result<int> ReplayCommand::Run(Context& context) {
  RINGWARD_ASSIGN(const std::vector<std::string> files, FilesOf(paths_));
  RINGWARD_ASSIGN(const bool recorded, IsRecording(files.front()));
  if (recorded && files.size() > 1) {
    return Error(Code::kInvalidInput,
                 files[1] + ": a recording is a run of its own, give one at a time");
  }
  RINGWARD_ASSIGN(const replay::Replayed replayed,
                  recorded ? ReplayRecording(files.front()) : ReplayTables(files));
  const bool found =
      std::any_of(replayed.causes.begin(), replayed.causes.end(), signal::IsIncident);
  if (context.common.json) {
    Json document = IncidentsJson(replayed.causes);
    document["inputs"] = InputsJson(inputs_);
    document["findings"] = FindingsJson(replayed.findings);
    context.out.WriteJson(document);
  } else {
    PrintIncidents(replayed.causes, context.out);
  }
  return found ? kExitFound : kExitFine;
}

}  // namespace ringward::cli
