#include "ringward/train.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "base/exit_code.h"
#include "launch/memory.h"
#include "learn/data/dataset.h"
#include "learn/dense/spec_check.h"
#include "learn/score/model.h"
#include "learn/train/fit.h"
#include "learn/train/recipe.h"
#include "ringward/telemetry_set.h"

namespace ringward::cli {
namespace {

/// Bytes one rank needs: its copy of the rows (rank 0 holds the reader's as well), and parameters,
/// as they are and packed, with their gradient and optimizer state.
std::size_t RankBytes(const learn::TrainingSet& set, const learn::NetSpec& net) {
  const std::size_t rows = set.data.base().values.size();
  return sizeof(float) * (rows + 5 * learn::ParameterCount(net));
}

/// The folder's one absolute name, with a slash at its end; "" where there is none.
std::string NameOfFolder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (error) return {};
  std::string name = fs::weakly_canonical(whole, error).string();
  if (error) return {};
  return name.ends_with('/') ? name : name + '/';
}

/// Logs inside --out would make it a folder that holds other files, which no model replaces.
Status CheckLogFolder(const std::string& log_dir, const std::string& out) {
  const std::string model = NameOfFolder(out);
  if (log_dir.empty() || model.empty() || !NameOfFolder(log_dir).starts_with(model)) return Ok();
  return Error(Code::kInvalidInput, "--log-dir " + log_dir + ": is in --out, which holds a model");
}

}  // namespace

SubcommandInfo TrainCommand::Info() const {
  return {
      .path = "train",
      .group = "Models",
      .summary = "train an anomaly detector on a table, on one or more ranks",
      .details =
          "Learns what normal rows look like. With --label, only rows with a --normal "
          "value are learned from. "
          "Data may be recordings of jobs: then it\nlearns what healthy telemetry looks like, for "
          "`watch --model` and `replay --model`.",
      .example =
          "ringward train --data connections.csv.gz --label attack --normal normal -np 2 "
          "--out model",
      .exit_codes = {}};
}

void TrainCommand::AddOptions(OptionTable& table) {
  learn::AddTrainOptions(table, settings_);
  AddRankJobOptions(table, ranks_, "train");
  table
      .Add("log-dir", &log_dir_, {.what = "a folder", .allow_empty = true},
           "write each rank's output to a file in this folder")
      .Complete(Completion::kFolder)
      .Scope(OptionScope::kLocal);
  AddWatchBesideOptions(table, watch_);
  table.Add("dry-run", &dry_run_, "print ranks, engine, memory and data, and stop")
      .Scope(OptionScope::kLocal);
}

Result<int> TrainCommand::DryRun(Context& context) const {
  RINGWARD_ASSIGN(const auto engine,
                  launch::ChooseEngine(ranks_.engine, ranks_.ranks, launch::ProbeCapabilities()));
  RINGWARD_ASSIGN(const ReadSet read, ReadTrainingSet(settings_));
  const learn::TrainingSet& set = read.set;
  RINGWARD_TRY(
      learn::CheckSizes(settings_, set.rows.size(), set.preprocessor.inputs(), ranks_.ranks));
  const auto net = learn::MakeNetSpec(settings_, static_cast<int>(set.preprocessor.inputs()));
  const auto loop = learn::MakeLoopOptions(settings_, set.rows.size(), ranks_.ranks);
  const std::size_t bytes = RankBytes(set, net);
  RINGWARD_TRY(launch::CheckMemory(ranks_.ranks, static_cast<double>(bytes),
                                   launch::AvailableMemory(), "rows and nets"));
  if (context.common.json) {
    context.out.WriteJson({{"ranks", ranks_.ranks},
                           {"engine", engine.engine},
                           {"why", engine.why},
                           {"rows", set.data.rows()},
                           {"rows_to_train_on", set.rows.size()},
                           {"inputs", set.preprocessor.inputs()},
                           {"members", net.members},
                           {"steps", loop.steps},
                           {"global_batch", loop.global_batch},
                           {"bytes_per_rank", bytes},
                           {"notes", set.notes}});
    return kExitFine;
  }
  context.out.Print("ranks      {}, {}\n", ranks_.ranks, engine.why);
  context.out.Print("data       {} rows, {} to train on, {} inputs\n", set.data.rows(),
                    set.rows.size(), set.preprocessor.inputs());
  for (const auto& note : set.notes) context.out.Print("note       {}\n", note);
  context.out.Print("training   {} nets, {} steps of {} rows\n", net.members, loop.steps,
                    std::min(loop.global_batch, set.rows.size()));
  context.out.Print("memory     about {:.1f} MiB a rank, and the file's rows once more on rank 0\n",
                    static_cast<double>(bytes) / (1U << 20U));
  return kExitFine;
}

Result<int> TrainCommand::Run(Context& context) {
  RINGWARD_TRY(learn::Validate(settings_));
  RINGWARD_TRY(CheckLogFolder(log_dir_, settings_.out));
  RINGWARD_TRY(WatchBeside(watch_).Check());
  if (!dry_run_) RINGWARD_TRY(learn::CheckModelFolder(settings_.out));
  if (dry_run_) return DryRun(context);
  const auto& paths = settings_.data.paths;
  return RunRankJob(context, ranks_,
                    {.command = "train",
                     .log_dir = log_dir_,
                     .forward_input = std::find(paths.begin(), paths.end(), "-") != paths.end(),
                     .watch = watch_,
                     .output = settings_.out});
}

}  // namespace ringward::cli
