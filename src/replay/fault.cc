#include "replay/fault.h"

#include <array>

namespace ringward::replay {

const char* NameOf(FaultKind kind) {
  constexpr std::array<const char*, kFaultKinds> kNames = {
      "slow-rank",        "intermittent", "slow-link", "slow-network", "slow-input", "uneven-data",
      "uneven-partition", "freeze",       "kill",      "nan",          "spike",      "leak",
      "clock-skew",       "lost-reports", "odd-rows"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<FaultKind> ParseFaultKind(std::string_view name) {
  for (std::size_t i = 0; i < kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    if (name == NameOf(kind)) return kind;
  }
  return Error(Code::kInvalidInput, "no kind of fault is called '" + std::string(name) + "'");
}

}  // namespace ringward::replay
