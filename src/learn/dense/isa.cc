#include "learn/dense/isa.h"

namespace ringward::learn {

std::string_view IsaName(Isa isa) {
  switch (isa) {
    case Isa::kBaseline:
      return "baseline";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "unknown";
}

std::vector<Isa> AvailableIsas() {
  std::vector<Isa> isas = {Isa::kBaseline};
  // The builtins also ask the operating system whether it saves the wide registers.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return isas;
  isas.push_back(Isa::kAvx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    isas.push_back(Isa::kAvx512);
  }
  return isas;
}

Isa BestIsa() { return AvailableIsas().back(); }

}  // namespace ringward::learn
