#include "ringward/cli/app.h"
#include "ringward/subcommands.h"

int main(int argc, char** argv) {
  return ringward::cli::Main(ringward::cli::AllSubcommands(), argc, argv);
}
