#pragma once

#include <string>

#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// `ringward model info`: what is in a model folder.
class ModelInfoCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  std::string model_;
};

}  // namespace ringward::cli
