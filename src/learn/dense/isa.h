#pragma once

#include <string_view>
#include <vector>

namespace ringward::learn {

/// Instruction sets the kernels are compiled for. Every x86-64 processor runs kBaseline (SSE2).
enum class Isa { kBaseline, kAvx2, kAvx512 };

/// "baseline", "avx2" or "avx512".
std::string_view IsaName(Isa isa);

/// What this processor and operating system can run, slowest first; kBaseline is always there.
std::vector<Isa> AvailableIsas();

/// The last of AvailableIsas().
Isa BestIsa();

}  // namespace ringward::learn
