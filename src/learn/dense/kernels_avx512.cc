#define RINGWARD_KERNELS avx512
#include "learn/dense/kernel/table.h"

namespace ringward::learn {

const Kernels& Avx512Kernels() {
  static constexpr Kernels kTable = avx512::MakeTable(Isa::kAvx512);
  return kTable;
}

}  // namespace ringward::learn
