#pragma once

#include <string>
#include <vector>

#include "replay/fault.h"
#include "replay/simulate_job.h"
#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// `ringward simulate job`: records a made-up distributed job with planted faults.
class SimulateJobCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  Status ReadPlan(const OptionTable& table);

  replay::JobOptions job_;
  std::vector<replay::FaultKind> faults_;
  std::string plan_;
  std::string out_;
};

}  // namespace ringward::cli
