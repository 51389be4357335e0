#include "ringward/bench_allreduce.h"

#include "base/log.h"
#include "base/terminal.h"
#include "launch/engine_choice.h"
#include "launch/job.h"

namespace ringward::cli {

SubcommandInfo BenchAllReduceCommand::Info() const {
  return {.path = "bench allreduce",
          .group = "Tools",
          .summary = "time the all-reduce of an engine beside the library's own",
          .details =
              "One line per size, as nccl-tests print them. 'time' is the median over blocks, "
              "'ratio' the median of ours over the library's in neighbouring blocks, '#wrong' the "
              "elements that were not the reduction, over all ranks.",
          .example = "ringward bench allreduce -np 2 --engine mpi -b 8 -e 64M -f 4",
          .exit_codes = {}};
}

void BenchAllReduceCommand::AddOptions(OptionTable& table) {
  rank::AddAllReduceBenchOptions(table, options_);
  table.Group("Ranks");
  table.Add("ranks", &ranks_, {.min = 1, .max = 1024}, "processes that reduce together")
      .Short("np")
      .Scope(OptionScope::kLocal);
  table
      .AddChoice("engine", &engine_,
                 {{"auto", "auto"}, {"mpi", "mpi"}, {"gloo", "gloo"}, {"local", "local"}},
                 "what carries messages between ranks; auto says what it chose")
      .Scope(OptionScope::kLocal);
  table
      .Add("collective-timeout", &collective_timeout_,
           {.min = std::chrono::milliseconds(100), .max = std::chrono::hours(24)},
           "how long ranks wait for one another before the job ends")
      .Scope(OptionScope::kLocal);
}

Result<int> BenchAllReduceCommand::Run(Context& context) {
  if (options_.begin > options_.end) {
    return Error(Code::kInvalidInput, "--begin is larger than --end");
  }
  const auto capabilities = launch::ProbeCapabilities();
  RINGWARD_ASSIGN(const auto engine, launch::ChooseEngine(engine_, ranks_, capabilities));
  LogInfo(engine.why, {{"ranks", ranks_}, {"engine", engine.engine}});
  RINGWARD_ASSIGN(const std::string rank, launch::FindHelper("ringward-rank"));
  RINGWARD_ASSIGN(const std::string keeper, launch::FindHelper("ringward-keeper"));
  launch::JobSpec job{.ranks = ranks_,
                      .engine = engine,
                      .mpirun = capabilities.mpirun,
                      .keeper = keeper,
                      .command = {rank, "bench-allreduce"},
                      .collective_timeout = collective_timeout_};
  const auto arguments = context.options.ToArgs(OptionScope::kRun);
  job.command.insert(job.command.end(), arguments.begin(), arguments.end());
  if (context.common.json) job.command.emplace_back("--json");
  RINGWARD_ASSIGN(const auto result, launch::RunJob(job));
  if (!result.message.empty()) WriteStderrLine("ringward: " + result.message);
  return result.exit_code;
}

}  // namespace ringward::cli
