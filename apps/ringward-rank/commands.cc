#include <array>
#include <string_view>

#include "ringward-rank/rank_context.h"

namespace ringward::rank {
namespace {

struct Entry {
  std::string_view name;
  RankCommand run;
};

constexpr std::array kCommands = {
    Entry{"bench-allreduce", RunBenchAllReduceCommand},
    Entry{"selftest", RunSelftest},
    Entry{"train", RunTrain},
};

}  // namespace

RankCommand FindCommand(const std::string& name) {
  for (const Entry& entry : kCommands) {
    if (entry.name == name) return entry.run;
  }
  return nullptr;
}

}  // namespace ringward::rank
