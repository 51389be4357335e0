#include "ringward/run.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/log.h"
#include "base/terminal.h"
#include "comm/socket.h"
#include "launch/engine_choice.h"
#include "launch/program.h"

namespace ringward::cli {
namespace {

/// What PyTorch's `env://` and programs like it read; the rank itself is set where it starts.
Result<launch::Environment> RankVariables(int ranks) {
  // Free now. Nobody can keep it for rank 0, which binds it itself; programs retry or say so.
  RINGWARD_ASSIGN(const Fd listener, comm::ListenOn("127.0.0.1", 0));
  RINGWARD_ASSIGN(const std::uint16_t port, comm::PortOf(listener));
  const std::string world = std::to_string(ranks);
  return launch::Environment{{"WORLD_SIZE", world},
                             {"LOCAL_WORLD_SIZE", world},
                             {"MASTER_ADDR", "127.0.0.1"},
                             {"MASTER_PORT", std::to_string(port)}};
}

Result<std::string> ProgramPath(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  std::string path = launch::FindInPath(name);
  if (!path.empty()) return path;
  return Error(Code::kInvalidInput, name + ": no such program in PATH");
}

}  // namespace

SubcommandInfo RunCommand::Info() const {
  return {.path = "run",
          .group = "Watching",
          .summary = "start any program as N ranks, end all when one fails, and watch them",
          .details =
              "Each rank has RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and "
              "MASTER_PORT in its\n"
              "environment. Put -- before the program, so that its own options are not taken for "
              "ours. With --json\n"
              "the ranks print to standard error, and a document at the end says how it went.",
          .example =
              "ringward run -np 4 -- python3 train.py --lr 0.1\n"
              "ringward run -np 4 --record run.rwrec -- ./mpi_program",
          .exit_codes = {{1, "and others: the status of the first rank to fail"}}};
}

void RunCommand::AddOptions(OptionTable& table) {
  table.Add("ranks", &ranks_, {.min = 1, .max = 1024}, "processes to start").Short("np");
  table.AddChoice("launcher", &launcher_,
                  {{"auto", Launcher::kAuto},
                   {"processes", Launcher::kProcesses},
                   {"mpirun", Launcher::kMpirun}},
                  "what starts ranks; auto: mpirun for a program linked with Open MPI");
  table.Add("tags", &tags_, "begin each line of a rank's output with [its rank]");
  table
      .Add("log-dir", &log_dir_, {.what = "a folder", .allow_empty = true},
           "write each rank's output to a file in this folder")
      .Complete(Completion::kFolder);
  table.Add("frozen-for", &frozen_for_,
            {.min = std::chrono::milliseconds(0), .max = std::chrono::hours(24)},
            "end the job when a rank has been stopped (SIGSTOP) for as long; 0s: never");
  AddWatchBesideOptions(table, beside_);
  table.AddPositional("command", &command_, {.what = "a program and its arguments"},
                      "the program, then its arguments");
}

Result<launch::JobSpec> RunCommand::Spec() const {
  if (command_.empty()) {
    return Error(Code::kInvalidInput, "a program is needed: ringward run -np 4 -- PROGRAM ...");
  }
  launch::JobSpec spec{.ranks = ranks_,
                       .command = command_,
                       .collective_timeout = frozen_for_,
                       .reports_to_board = false,
                       .forward_input = true,
                       .log_dir = log_dir_,
                       .tags = tags_};
  RINGWARD_ASSIGN(spec.command[0], ProgramPath(command_[0]));
  RINGWARD_ASSIGN(spec.environment, RankVariables(ranks_));
  RINGWARD_ASSIGN(spec.keeper, launch::FindHelper("ringward-keeper"));
  const bool mpi = launch::LinksMpi(spec.command[0]);
  if (launcher_ == Launcher::kMpirun || (launcher_ == Launcher::kAuto && mpi)) {
    const auto capabilities = launch::ProbeCapabilities();
    RINGWARD_ASSIGN(spec.engine, launch::ChooseEngine("mpi", ranks_, capabilities));
    spec.mpirun = capabilities.mpirun;
    if (beside_.wanted()) spec.preload = launch::FindLibrary("libringward_mpi.so");
    LogInfo(mpi ? "started by mpirun: the program is linked with Open MPI" : "started by mpirun",
            {{"ranks", ranks_}});
  } else {
    LogInfo("started as processes: --launcher mpirun is for MPI programs", {{"ranks", ranks_}});
  }
  return spec;
}

Result<int> RunCommand::Run(Context& context) {
  WatchBeside beside(beside_);
  RINGWARD_TRY(beside.Check());
  RINGWARD_ASSIGN(launch::JobSpec spec, Spec());
  if (context.common.json) spec.out = STDERR_FILENO;
  spec.on_id = [&beside](const std::string& id) { beside.Start(id); };
  spec.on_interrupt = [&beside] { beside.Leave(); };
  RINGWARD_ASSIGN(const launch::JobResult result, launch::RunJob(spec));
  beside.End();
  if (result.reader_left) context.out.NoteReaderLeft();
  if (!result.message.empty()) WriteStderrLine(result.message);
  if (context.common.json) {
    context.out.WriteJson({{"exit_code", result.exit_code},
                           {"ranks", ranks_},
                           {"culprit", result.culprit < 0 ? Json() : Json(result.culprit)},
                           {"message", result.message}});
  }
  return result.exit_code;
}

}  // namespace ringward::cli
