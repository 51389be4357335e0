#pragma once

#include <string>

#include "launch/engine_choice.h"
#include "launch/job.h"
#include "learn/train/settings.h"
#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// `ringward train`: starts the ranks that read, train and write, and watches over them.
class TrainCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  Result<int> DryRun(Context& context, const launch::EngineChoice& engine) const;
  Result<int> RunRanks(Context& context, const launch::EngineChoice& engine,
                       const std::string& mpirun) const;

  learn::TrainSettings settings_;
  int ranks_ = 1;
  std::string engine_ = "auto";
  std::chrono::milliseconds collective_timeout_{30'000};
  std::string log_dir_;
  bool dry_run_ = false;
};

}  // namespace ringward::cli
