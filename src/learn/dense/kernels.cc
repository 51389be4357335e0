#include "learn/dense/kernels.h"

namespace ringward::learn {

// One per kernels_<isa>.cc; those files are the only ones compiled for a wider instruction set.
const Kernels& BaselineKernels();
const Kernels& Avx2Kernels();
const Kernels& Avx512Kernels();

const Kernels& KernelsFor(Isa isa) {
  switch (isa) {
    case Isa::kAvx512:
      return Avx512Kernels();
    case Isa::kAvx2:
      return Avx2Kernels();
    case Isa::kBaseline:
      break;
  }
  return BaselineKernels();
}

}  // namespace ringward::learn
