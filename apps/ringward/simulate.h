#pragma once

#include <string>

#include "learn/simulate/table.h"
#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// `ringward simulate table`: writes a made-up sensor table with planted faults.
class SimulateTableCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  Result<learn::SimulateTableSummary> WriteFile(Context& context);

  learn::SimulateTableOptions options_;
  std::string start_ = "2026-01-05T00:00:00Z";
  std::string out_;
};

}  // namespace ringward::cli
