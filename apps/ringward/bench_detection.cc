#include "ringward/bench_detection.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/progress.h"
#include "detect/rules.h"
#include "replay/plan.h"
#include "ringward/learned_model.h"
#include "ringward/score_sheet_text.h"

namespace ringward::cli {
namespace {

using replay::FaultKind;
using replay::FaultOutcome;

constexpr double kDaySeconds = 86'400.0;

std::vector<std::pair<std::string, FaultKind>> KindNames() {
  std::vector<std::pair<std::string, FaultKind>> names;
  for (std::size_t i = 0; i < replay::kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    names.emplace_back(NameOf(kind), kind);
  }
  return names;
}

Status Interrupted() { return Error(Code::kInterrupted, "interrupted"); }

}  // namespace

SubcommandInfo BenchDetectionCommand::Info() const {
  return {
      .path = "bench detection",
      .group = "Tools",
      .summary = "score the detectors on simulated jobs with planted faults",
      .details =
          "Simulates jobs, one fault in each, kinds in turn, and healthy days; runs the live "
          "pipeline\n"
          "over them and counts what was found, who was blamed, and how often nothing was wrong.",
      .example = "ringward bench detection --world 64 --runs 140 --healthy-days 2",
      .exit_codes = {}};
}

void BenchDetectionCommand::AddOptions(OptionTable& table) {
  table.Add("world", &job_.world, {.min = 2, .max = 16'384}, "ranks");
  table.Add("ranks-per-host", &job_.ranks_per_host, {.min = 1, .max = 1024}, "ranks of a host");
  table.Add("stages", &stages_, {.min = 1, .max = 1024},
            "pipeline stages of every fourth job; the others are data parallel");
  table.Add("runs", &runs_, {.min = 0, .max = 1'000'000}, "jobs with a planted fault");
  table.Add("steps", &job_.steps, {.min = 100, .max = 1'000'000'000}, "steps of each of them");
  table.Add("healthy-days", &healthy_days_, {.min = 0.0, .max = 100'000.0}, "days without a fault");
  table.Add("step-seconds", &job_.step_seconds, {.min = 1e-4, .max = 1e4}, "seconds of a step");
  table.Add("cv", &job_.cv, {.min = 0.0, .max = 0.5}, "coefficient of variation of self time");
  table.Add("severity", &severity_, {.min = 0.01, .max = 100.0},
            "of every fault; drawn from 0.1 to 3 when not given");
  table.AddChoice("kinds", &kinds_, KindNames(),
                  "faults to plant; all when not given (odd-rows only with --model)");
  detect::AddRuleOptions(table, detect_);
  AddLearnedModelOption(table, model_);
  table.Add("seed", &job_.seed, "another seed, other faults and noise");
  table.Add("list", &list_, "show every fault and what came of it");
}

Result<replay::ScoreSheet> BenchDetectionCommand::RunFaults(Context& context) {
  std::vector<FaultKind> kinds = kinds_;
  if (kinds.empty()) {
    for (const auto& [name, kind] : KindNames()) {
      if (kind != FaultKind::kOddRows || !model_.empty()) kinds.push_back(kind);
    }
  }
  Progress progress(context.common.progress_style(), SystemClock(), "bench detection", "runs",
                    static_cast<std::uint64_t>(runs_));
  replay::ScoreSheet sheet;
  for (int run = 0; run < runs_; ++run) {
    if (InterruptRequested()) return Interrupted().error();
    replay::JobOptions job = job_;
    job.seed = job_.seed * 1'000'003 + static_cast<std::uint64_t>(run);
    const FaultKind kind = kinds[static_cast<std::size_t>(run) % kinds.size()];
    const bool pipeline =
        kind == FaultKind::kUnevenPartition || (run / static_cast<int>(kinds.size())) % 4 == 3;
    if (pipeline && job.world % stages_ == 0) job.stages = stages_;
    job.faults = {replay::DrawFault(kind, job, job.seed ^ 0xfa017ULL)};
    if (severity_) job.faults.front().severity = *severity_;
    RINGWARD_ASSIGN(const replay::Backtest test, replay::RunBacktest(job, detect_));
    pipeline_seconds_ += test.seconds_of_pipeline;
    samples_ += test.samples;
    const replay::RunScore score = replay::ScoreRun(test.causes, job.faults);
    sheet.Add(score, test.seconds_of_job);
    if (list_ && !context.common.json) {
      const FaultOutcome& o = score.faults.front();
      const replay::Fault& f = job.faults.front();
      context.out.Print(
          "run {:>4} {:<17} severity {:.2f} step {:>6} ranks {}: {} {} {} after {} steps, {} "
          "false\n",
          run, NameOf(o.kind), o.severity, f.onset, f.ranks.empty() ? -1 : f.ranks.front(),
          o.found ? o.told : "MISSED", o.right_culprit ? "" : "WRONG CULPRIT",
          o.right_kind ? "" : "WRONG KIND", o.delay_steps, score.false_incidents);
      for (const signal::Cause& cause : test.causes) {
        const bool strange = !o.right_kind || !o.right_culprit || score.false_incidents > 0;
        if (strange)
          context.out.Print("      {} ({} to {}, {:.2f})\n", cause.summary, cause.since_step,
                            cause.found_step, cause.confidence);
      }
    }
    progress.Update({.done = static_cast<std::uint64_t>(run) + 1});
  }
  progress.Finish();
  return sheet;
}

Result<std::vector<std::int64_t>> BenchDetectionCommand::RunHealthy(Context& context) {
  std::vector<std::int64_t> alarms;
  const auto days = static_cast<int>(std::ceil(healthy_days_));
  for (int day = 0; day < days; ++day) {
    if (InterruptRequested()) return Interrupted().error();
    replay::JobOptions job = job_;
    job.seed = job_.seed * 1'000'003 + 500'000 + static_cast<std::uint64_t>(day);
    const double share = std::min(1.0, healthy_days_ - day);
    // A step lasts longer than its typical time: the slowest of all ranks decides.
    job.steps = std::max<std::int64_t>(
        100, static_cast<std::int64_t>(share * kDaySeconds / job.step_seconds));
    if (day % 4 == 3 && job.world % stages_ == 0) job.stages = stages_;
    RINGWARD_ASSIGN(const replay::Backtest test, replay::RunBacktest(job, detect_));
    pipeline_seconds_ += test.seconds_of_pipeline;
    samples_ += test.samples;
    alarms.push_back(replay::ScoreRun(test.causes, {}).false_incidents);
    if (!list_ || context.common.json) continue;
    context.out.Print("healthy day {}: {} alarms in {:.0f} s\n", day, alarms.back(),
                      test.seconds_of_job);
    for (const signal::Cause& cause : test.causes) {
      context.out.Print("      {} ({} to {}, {:.2f})\n", cause.summary, cause.since_step,
                        cause.found_step, cause.confidence);
    }
  }
  return alarms;
}

Result<int> BenchDetectionCommand::Run(Context& context) {
  RINGWARD_TRY(AddLearnedModel(model_, detect_));
  const InterruptScope scope;
  RINGWARD_ASSIGN(const replay::ScoreSheet sheet, RunFaults(context));
  RINGWARD_ASSIGN(const std::vector<std::int64_t> alarms, RunHealthy(context));
  std::int64_t healthy_alarms = 0;
  for (const std::int64_t count : alarms) healthy_alarms += count;
  const double nanoseconds =
      samples_ == 0 ? 0.0 : 1e9 * pipeline_seconds_ / static_cast<double>(samples_);
  if (context.common.json) {
    Json document = ScoreJson(sheet);
    document["healthy_days"] = healthy_days_;
    document["healthy_alarms"] = healthy_alarms;
    document["nanoseconds_per_sample"] = nanoseconds;
    context.out.WriteJson(document);
    return kExitFine;
  }
  if (runs_ > 0) context.out.Write(ScoreText(sheet));
  if (!alarms.empty())
    context.out.Print("{} false alarms in {:g} healthy days\n", healthy_alarms, healthy_days_);
  context.out.Print("{:.1f} ns a sample over {} samples\n", nanoseconds, samples_);
  return kExitFine;
}

}  // namespace ringward::cli
