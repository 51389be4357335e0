#pragma once

#include <optional>
#include <string>

#include "learn/data/options.h"
#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// `ringward score`: rows in, scores out, in input order, as rows arrive.
class ScoreCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  std::string model_;
  learn::DataOptions data_;
  std::string out_;
  int explain_ = 0;
  std::optional<double> false_alarm_rate_;
  bool fail_on_anomaly_ = false;
};

}  // namespace ringward::cli
