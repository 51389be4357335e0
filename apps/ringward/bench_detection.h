#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "detect/detector.h"
#include "replay/backtest.h"
#include "replay/score_sheet.h"
#include "replay/simulate_job.h"
#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// `ringward bench detection`: planted faults and healthy days, simulated and replayed in memory.
class BenchDetectionCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  Result<replay::ScoreSheet> RunFaults(Context& context);
  Result<std::vector<std::int64_t>> RunHealthy(Context& context);

  replay::JobOptions job_{.steps = 1000};
  detect::DetectOptions detect_;
  std::string model_;
  int runs_ = 70;
  int stages_ = 8;
  double healthy_days_ = 0.0;
  std::vector<replay::FaultKind> kinds_;
  std::optional<double> severity_;
  bool list_ = false;
  double pipeline_seconds_ = 0.0;
  std::uint64_t samples_ = 0;
};

}  // namespace ringward::cli
