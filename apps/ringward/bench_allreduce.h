#pragma once

#include "ringward-rank/bench_allreduce_options.h"
#include "ringward/cli/subcommand.h"
#include "ringward/rank_job.h"

namespace ringward::cli {

/// `ringward bench allreduce`: time and correctness of the engine's all-reduce, beside the
/// library's own in the same run.
class BenchAllReduceCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  rank::AllReduceBenchOptions options_;
  RankJobOptions ranks_{.ranks = 2};
};

}  // namespace ringward::cli
