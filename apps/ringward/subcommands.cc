#include "ringward/subcommands.h"

#include "ringward/completion.h"

namespace ringward::cli {

Registry AllSubcommands() {
  Registry registry;
  registry.Add<CompletionCommand>();
  return registry;
}

}  // namespace ringward::cli
