#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/exit_code.h"
#include "base/log.h"
#include "base/terminal.h"
#include "learn/data/dataset.h"
#include "learn/train/fit.h"
#include "learn/train/recipe.h"
#include "learn/train/settings.h"
#include "ringward-rank/rank_context.h"
#include "ringward-rank/train_output.h"
#include "ringward-rank/train_recorder.h"
#include "ringward/cli/common_options.h"
#include "ringward/cli/output.h"
#include "ringward/telemetry_set.h"

namespace ringward::rank {
namespace {

struct RankOptions {
  learn::TrainSettings settings;
  cli::CommonOptions common;
};

/// Reads what the launcher handed on, and configures this rank's log.
Status ParseArguments(const RankContext& context, RankOptions& options) {
  OptionTable table;
  learn::AddTrainOptions(table, options.settings);
  cli::AddCommonOptions(table, options.common);
  RINGWARD_TRY(table.ParseArgs(context.arguments));
  RINGWARD_TRY(learn::Validate(options.settings));
  return cli::ConfigureLogFrom(options.common, table, context.environment.rank);
}

ProgressStyle StyleOf(const RankContext& context, bool quiet) {
  if (quiet) return ProgressStyle::kOff;
  return context.environment.columns > 0 ? ProgressStyle::kBar : ProgressStyle::kLines;
}

/// Reads the data on rank 0 and says what the user should know about it.
Result<cli::ReadSet> Read(const RankOptions& options) {
  RINGWARD_ASSIGN(auto read, cli::ReadTrainingSet(options.settings));
  for (const std::string& note : read.set.notes) LogInfo(note);
  return read;
}

/// Shows how far training is, on rank 0.
class TrainProgress {
 public:
  TrainProgress(const RankContext& context, const RankOptions& options, std::size_t rows)
      : batch_(
            std::min(rows, learn::GlobalBatchOf(options.settings, context.environment.world_size))),
        steps_(
            learn::MakeLoopOptions(options.settings, rows, context.environment.world_size).steps),
        progress_(StyleOf(context, options.common.quiet), SystemClock(), "train", "rows",
                  static_cast<std::uint64_t>(steps_) * batch_) {}

  void Update(std::int64_t step, double loss) {
    progress_.Update({.done = static_cast<std::uint64_t>(step) * batch_,
                      .note = fmt::format("step {}/{}", step, steps_),
                      .loss = loss});
  }
  void Finish() { progress_.Finish(); }

 private:
  std::size_t batch_;
  std::int64_t steps_;
  Progress progress_;
};

}  // namespace

Result<int> RunTrain(RankContext& context) {
  RankOptions options;
  RINGWARD_TRY(ParseArguments(context, options));
  const TrainRecorder recorder(context);
  const bool first = context.environment.rank == 0;
  std::optional<learn::TrainingSet> set;
  std::string features;
  std::optional<TrainProgress> progress;
  if (first) {
    // The launcher passes lines on, and says how wide the terminal behind it is.
    DeclareStderrTerminal(static_cast<std::size_t>(std::max(context.environment.columns, 0)));
    RINGWARD_TRY(learn::CheckModelFolder(options.settings.out));
    learn::StepRecorder(recorder.get()).Enter(telemetry::Phase::kData);
    RINGWARD_ASSIGN(cli::ReadSet read, Read(options));
    set = std::move(read.set);
    features = std::move(read.features);
    progress.emplace(context, options, set->rows.size());
  }
  learn::LoopHooks hooks;
  hooks.recorder = recorder.get();
  hooks.on_step = [&](std::int64_t step, double, double loss) {
    context.SetStep(static_cast<std::uint64_t>(step));
    if (progress) progress->Update(step, loss);
  };
  RINGWARD_ASSIGN(auto fitted,
                  learn::Fit(*context.communicator, options.settings, set ? &*set : nullptr,
                             SystemClock(), hooks, context.Patient()));
  // However long rank 0 takes to write: the end of MPI has a deadline.
  if (!first) {
    RINGWARD_TRY(context.communicator->Barrier(context.Patient()));
    return kExitFine;
  }
  progress->Finish();
  fitted->model.features = features;
  const TrainOutcome outcome{options.settings, *set, *fitted, context.environment.world_size,
                             context.communicator->engine()};
  RINGWARD_TRY(learn::SaveModel(fitted->model, options.settings.out,
                                {{"report.html", TrainReportPage(outcome)}}));
  cli::Output out(STDOUT_FILENO);
  if (options.common.json) {
    out.WriteJson(TrainJson(outcome));
  } else {
    out.Write(TrainText(outcome));
  }
  RINGWARD_TRY(out.Finish());
  RINGWARD_TRY(context.communicator->Barrier(context.Patient()));
  return kExitFine;
}

}  // namespace ringward::rank
