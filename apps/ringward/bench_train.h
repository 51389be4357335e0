#pragma once

#include "ringward/cli/subcommand.h"
#include "ringward/train_bench.h"

namespace ringward::cli {

/// `ringward bench train`: steps per second of a net, beside the rate of OpenBLAS on its products.
class BenchTrainCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  bench::TrainBenchOptions options_;
};

}  // namespace ringward::cli
