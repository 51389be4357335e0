#include "ringward/completion.h"

#include <nlohmann/json.hpp>

#include "ringward/cli/completion_script.h"

namespace ringward::cli {

SubcommandInfo CompletionCommand::Info() const {
  return {.path = "completion",
          .group = "Tools",
          .summary = "print the completion script of a shell",
          .details = "",
          .example = "source <(ringward completion bash)",
          .exit_codes = {}};
}

void CompletionCommand::AddOptions(OptionTable& table) {
  table
      .AddPositionalChoice("shell", &shell_, {{"bash", Shell::kBash}, {"zsh", Shell::kZsh}},
                           "the shell to complete in")
      .Required();
}

Result<int> CompletionCommand::Run(Context& context) {
  const std::string script =
      shell_ == Shell::kBash ? BashCompletion(context.registry) : ZshCompletion(context.registry);
  if (context.common.json) {
    context.out.WriteJson({{"script", script}});
  } else {
    context.out.Write(script);
  }
  return kExitFine;
}

}  // namespace ringward::cli
