#pragma once

#include <chrono>
#include <string>

#include "ringward-rank/bench_allreduce_options.h"
#include "ringward/cli/subcommand.h"

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
  int ranks_ = 2;
  std::string engine_ = "auto";
  std::chrono::milliseconds collective_timeout_{30'000};
};

}  // namespace ringward::cli
