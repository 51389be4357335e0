// The table of one instruction set.
#pragma once

#include "learn/dense/kernel/gradient.h"
#include "learn/dense/kernel/peak.h"
#include "learn/dense/kernel/update.h"

namespace ringward::learn::RINGWARD_KERNELS {

constexpr Kernels MakeTable(Isa isa) {
  return {.isa = isa,
          .to_panels = ToPanels,
          .from_panels = FromPanels,
          .pack_weights = PackWeights,
          .forward = Forward,
          .loss = Loss,
          .output_delta = OutputDelta,
          .input_delta = InputDelta,
          .gradient = Gradient,
          .add_noise = AddNoise,
          .adam = Adam,
          .sgd = Sgd,
          .multiply_adds = MultiplyAdds,
          .multiply_add_flops = 2.0 * kChains * kLanes};
}

}  // namespace ringward::learn::RINGWARD_KERNELS
