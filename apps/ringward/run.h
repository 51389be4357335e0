#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "launch/job.h"
#include "ringward/cli/subcommand.h"
#include "ringward/watch_beside.h"

namespace ringward::cli {

/// How a program's ranks are started.
enum class Launcher : std::uint8_t {
  kAuto,       ///< mpirun for a program that is linked with Open MPI, else processes
  kProcesses,  ///< told what they are by RANK, WORLD_SIZE and so on
  kMpirun,
};

/// `ringward run`: any program as N ranks of this machine, with the watcher beside it.
class RunCommand final : public Subcommand {
 public:
  RunCommand() { beside_.watch = true; }
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  Result<launch::JobSpec> Spec() const;

  int ranks_ = 1;
  Launcher launcher_ = Launcher::kAuto;
  bool tags_ = true;
  std::string log_dir_;
  std::chrono::milliseconds frozen_for_{0};
  WatchBesideOptions beside_;
  std::vector<std::string> command_;
};

}  // namespace ringward::cli
