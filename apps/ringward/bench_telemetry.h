#pragma once

#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// `ringward bench telemetry`: what the calls of the recorder cost a training process.
class BenchTelemetryCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  double seconds_ = 0.2;  // of each measurement
};

}  // namespace ringward::cli
