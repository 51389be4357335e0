#pragma once

#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// `ringward completion bash|zsh`: prints the shell's completion script.
class CompletionCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  enum class Shell { kBash, kZsh };
  Shell shell_ = Shell::kBash;
};

}  // namespace ringward::cli
