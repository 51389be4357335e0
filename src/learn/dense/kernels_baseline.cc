#define RINGWARD_KERNELS baseline
#include "learn/dense/kernel/table.h"

namespace ringward::learn {

const Kernels& BaselineKernels() {
  static constexpr Kernels kTable = baseline::MakeTable(Isa::kBaseline);
  return kTable;
}

}  // namespace ringward::learn
