#define RINGWARD_KERNELS avx2
#include "learn/dense/kernel/table.h"

namespace ringward::learn {

const Kernels& Avx2Kernels() {
  static constexpr Kernels kTable = avx2::MakeTable(Isa::kAvx2);
  return kTable;
}

}  // namespace ringward::learn
