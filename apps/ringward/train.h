#pragma once

#include <string>

#include "learn/train/settings.h"
#include "ringward/cli/subcommand.h"
#include "ringward/rank_job.h"
#include "ringward/watch_beside.h"

namespace ringward::cli {

/// `ringward train`: starts the ranks that read, train and write, and watches over them.
class TrainCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  Result<int> DryRun(Context& context) const;

  learn::TrainSettings settings_;
  RankJobOptions ranks_;
  std::string log_dir_;
  WatchBesideOptions watch_;
  bool dry_run_ = false;
};

}  // namespace ringward::cli
