#include "ringward/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.h"
#include "detect/rules.h"
#include "io/byte_source.h"
#include "recording/reader.h"
#include "ringward/detect_options.h"
#include "ringward/incident_text.h"
#include "ringward/learned_model.h"
#include "ringward/score_sheet_text.h"

namespace ringward::cli {
namespace {

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

/// The scores of the runs whose truth is known.
template <typename Runs>
replay::ScoreSheet Sheet(const Runs& runs) {
  replay::ScoreSheet sheet;
  for (const auto& run : runs) {
    if (run.score) sheet.Add(*run.score, run.replayed.seconds);
  }
  return sheet;
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
              "live job.\n"
              "A job that wrote none of these is read by its Horovod timeline and its logs.\n"
              "Recordings are runs of their own; where one has its truth beside it "
              "(FILE.plan.toml), the rules are scored.",
          .example =
              "ringward replay run/\n"
              "ringward replay --json rank*.csv\n"
              "ringward replay --timeline timeline.json --log job.log\n"
              "ringward replay recordings/ --against stricter.toml",
          .exit_codes = {{kExitFound, "an incident was found"}}};
}

void ReplayCommand::AddOptions(OptionTable& table) {
  table.AddPositional("paths", &paths_, {.what = "files, globs or folders"}, "what was recorded")
      .Metavar("PATH")
      .Complete(Completion::kFile);
  AddJobFileOptions(table, files_);
  table.Group("Options");
  detect::AddRuleOptions(table, detect_);
  AddRulesFileOption(table, rules_);
  AddLearnedModelOption(table, model_);
  table
      .Add("against", &against_, {.what = "a file", .allow_empty = true},
           "other rules as TOML, to score side by side")
      .Complete(Completion::kFile);
}

Result<replay::Replayed> ReplayCommand::ReplayTables(const std::vector<std::string>& files) {
  ingest::StepTable table;
  for (const std::string& file : files) {
    RINGWARD_ASSIGN(auto source, io::OpenInput(file));
    ingest::InputReport& report = inputs_.emplace_back();
    RINGWARD_TRY(table.Add(std::move(source), report));
    if (!report.note.empty()) LogWarning(file + ": " + report.note);
  }
  if (table.empty()) {
    for (const ingest::InputReport& report : inputs_) {
      if (report.first_malformed.empty()) continue;
      return Error(Code::kInvalidInput,
                   report.file + ":" + report.first_malformed + " (no line could be read)");
    }
    return Error(Code::kInvalidInput,
                 files.front() + ": no file holds steps of ranks that can be told apart");
  }
  for (const ingest::InputReport& report : inputs_) {
    if (report.lines_malformed <= report.lines_used) continue;
    LogWarning(fmt::format("{}:{}; {} of its lines could not be read", report.file,
                           report.first_malformed, report.lines_malformed));
  }
  RINGWARD_TRY(table.CheckRanks());
  replay::Replayed replayed = replay::ReplayEvents(table.Events(), detect_);
  AddPlaces(table, replayed.causes);
  return replayed;
}

Result<ReplayCommand::Played> ReplayCommand::ReplayRecording(const std::string& file,
                                                             const detect::DetectOptions& rules,
                                                             replay::ReplayRules which) const {
  RINGWARD_ASSIGN(recording::Reader reader, recording::Reader::Open(file));
  Played played{.file = file};
  RINGWARD_ASSIGN(played.replayed, replay::ReplayRecording(reader, rules, which));
  RINGWARD_ASSIGN(const auto truth, TruthOf(file));
  if (truth) played.score = replay::ScoreRun(played.replayed.causes, *truth);
  return played;
}

Result<std::vector<ReplayCommand::Played>> ReplayCommand::Play(const ReplayInputs& inputs) {
  std::vector<Played> runs;
  if (files_.any()) {
    runs.emplace_back();
    RINGWARD_ASSIGN(runs.back().replayed, ReplayJobFiles(files_, detect_, inputs_));
    return runs;
  }
  if (!inputs.recordings) {
    runs.emplace_back();
    RINGWARD_ASSIGN(runs.back().replayed, ReplayTables(inputs.files));
    return runs;
  }
  for (const std::string& file : inputs.files) {
    RINGWARD_ASSIGN(Played played, ReplayRecording(file, detect_, which_));
    inputs_.push_back({.file = file, .format = "recording"});
    runs.push_back(std::move(played));
  }
  return runs;
}

Result<ReplayInputs> ReplayCommand::FindInputs() const {
  if (!files_.any() && paths_.empty())
    return Error(Code::kInvalidInput, "missing PATH: expected files, globs or folders");
  if (!files_.any()) return FindReplayInputs(paths_);
  if (paths_.empty() && against_.empty()) return ReplayInputs();
  return Error(Code::kInvalidInput,
               paths_.empty()
                   ? "--against: compares the scores of recordings"
                   : paths_.front() +
                         ": --timeline and --log tell of a run of their own; replay them "
                         "one by one");
}

Result<replay::ScoreSheet> ReplayCommand::PlayAgainst(const ReplayInputs& inputs) const {
  std::vector<Played> runs;
  for (const std::string& file : inputs.files) {
    RINGWARD_ASSIGN(Played played, ReplayRecording(file, other_, replay::ReplayRules::kGiven));
    runs.push_back(std::move(played));
  }
  return Sheet(runs);
}

Status ReplayCommand::ReadAllRules(const OptionTable& options) {
  // The rules of a recording are its own, unless others are asked for.
  which_ = GivesRules(options) ? replay::ReplayRules::kGiven : replay::ReplayRules::kRecorded;
  RINGWARD_ASSIGN(detect_, ReadRules(rules_, detect_));
  RINGWARD_TRY(AddLearnedModel(model_, detect_));
  if (against_.empty()) return Ok();
  RINGWARD_ASSIGN(other_, ReadRules(against_, {}));
  other_.more = detect_.more;
  return Ok();
}

void ReplayCommand::Print(const std::vector<Played>& runs, Output& out) const {
  for (const Played& run : runs) {
    if (runs.size() > 1) out.Print("{}:\n", run.file);
    PrintIncidents(run.replayed.causes, out);
  }
}

Json ReplayCommand::Document(const std::vector<Played>& runs) const {
  const auto one = [](const Played& run) {
    Json document = IncidentsJson(run.replayed.causes);
    document["findings"] = FindingsJson(run.replayed.findings);
    return document;
  };
  if (runs.size() == 1) {
    Json document = one(runs.front());
    document["inputs"] = InputsJson(inputs_);
    return document;
  }
  Json document{{"healthy", true}, {"runs", Json::array()}};
  for (const Played& run : runs) {
    Json told = one(run);
    told["file"] = run.file;
    document["healthy"] = document["healthy"].get<bool>() && told["healthy"].get<bool>();
    document["runs"].push_back(std::move(told));
  }
  document["inputs"] = InputsJson(inputs_);
  return document;
}

Result<int> ReplayCommand::Run(Context& context) {
  RINGWARD_TRY(ReadAllRules(context.options));
  RINGWARD_ASSIGN(const ReplayInputs inputs, FindInputs());
  RINGWARD_ASSIGN(const std::vector<Played> runs, Play(inputs));
  const bool scored = std::any_of(runs.begin(), runs.end(),
                                  [](const Played& run) { return run.score.has_value(); });
  if (!against_.empty() && !scored) {
    return Error(Code::kInvalidInput, inputs.files.front() +
                                          ": --against compares scores, and no recording has its "
                                          "truth (FILE.plan.toml) beside it");
  }
  const bool found = std::any_of(runs.begin(), runs.end(), [](const Played& run) {
    return std::any_of(run.replayed.causes.begin(), run.replayed.causes.end(), signal::IsIncident);
  });
  std::optional<replay::ScoreSheet> other;
  if (!against_.empty()) {
    RINGWARD_ASSIGN(other, PlayAgainst(inputs));
  }
  if (context.common.json) {
    Json document = Document(runs);
    if (scored) document["score"] = ScoreJson(Sheet(runs));
    if (other) document["score_against"] = ScoreJson(*other);
    context.out.WriteJson(document);
  } else {
    Print(runs, context.out);
    if (scored) context.out.Write("\n" + ScoreText(Sheet(runs)));
    if (other)
      context.out.Write("\n" + ComparisonText("these rules", Sheet(runs), against_, *other));
  }
  return found ? kExitFound : kExitFine;
}

}  // namespace ringward::cli
