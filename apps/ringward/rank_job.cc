#include "ringward/rank_job.h"

#include <filesystem>
#include <system_error>

#include "base/exit_code.h"
#include "base/log.h"
#include "base/terminal.h"
#include "io/sync.h"
#include "launch/job.h"

namespace ringward::cli {
namespace {

/// How the names of `output`'s temporaries begin. An absolute path: whoever removes them may work
/// in another folder.
std::string TemporariesOf(const std::string& output) {
  if (output.empty()) return {};
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(output, error);
  if (error) return {};  // from a deleted folder; nothing can be written there either
  if (!path.has_filename()) path = path.parent_path();
  return io::HiddenPrefix(path.string());
}

/// A rank that ends with a status that none of our own returns is broken; it has found nothing.
int OurExitCode(int code) {
  const bool ours = code == kExitFine || code == kExitBadInput || code == kExitInterrupted;
  return ours ? code : kExitCouldNotRun;
}

}  // namespace

void AddRankJobOptions(OptionTable& table, RankJobOptions& options, const std::string& purpose) {
  table.Group("Ranks");
  table
      .Add("ranks", &options.ranks, {.min = 1, .max = 1024},
           "processes that " + purpose + " together")
      .Short("np")
      .Scope(OptionScope::kLocal);
  table
      .AddChoice("engine", &options.engine,
                 {{"auto", "auto"}, {"mpi", "mpi"}, {"gloo", "gloo"}, {"local", "local"}},
                 "what carries messages between ranks; auto says what it chose")
      .Scope(OptionScope::kLocal);
  table
      .Add("collective-timeout", &options.collective_timeout,
           {.min = std::chrono::milliseconds(100), .max = std::chrono::hours(24)},
           "how long ranks wait for one another before the job ends")
      .Scope(OptionScope::kLocal);
}

Result<int> RunRankJob(const Context& context, const RankJobOptions& options, const RankJob& job) {
  const auto capabilities = launch::ProbeCapabilities();
  RINGWARD_ASSIGN(const auto engine,
                  launch::ChooseEngine(options.engine, options.ranks, capabilities));
  LogInfo(engine.why, {{"ranks", options.ranks}, {"engine", engine.engine}});
  RINGWARD_ASSIGN(const std::string rank, launch::FindHelper("ringward-rank"));
  RINGWARD_ASSIGN(const std::string keeper, launch::FindHelper("ringward-keeper"));
  launch::JobSpec spec{.ranks = options.ranks,
                       .engine = engine,
                       .mpirun = capabilities.mpirun,
                       .keeper = keeper,
                       .command = {rank, job.command},
                       .collective_timeout = options.collective_timeout,
                       .start_timeout = launch::StartTimeout(options.ranks, capabilities.cores),
                       .log_dir = job.log_dir};
  const auto arguments = context.options.ToArgs(OptionScope::kRun);
  spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
  if (context.common.json) spec.command.emplace_back("--json");
  spec.forward_input = job.forward_input;
  spec.temporaries = TemporariesOf(job.output);
  WatchBeside beside(job.watch);
  spec.on_id = [&beside](const std::string& id) { beside.Start(id); };
  spec.on_interrupt = [&beside] { beside.Leave(); };
  RINGWARD_ASSIGN(const auto result, launch::RunJob(spec));
  beside.End();
  if (result.reader_left) context.out.NoteReaderLeft();
  if (!result.message.empty()) WriteStderrLine(result.message);
  return OurExitCode(result.exit_code);
}

}  // namespace ringward::cli
