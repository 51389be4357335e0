#pragma once

#include <vector>

namespace ringward::learn {

/// gelu is x times the normal distribution function of x, not the approximation by tanh.
enum class Activation { kIdentity, kRelu, kLeakyRelu, kTanh, kSigmoid, kGelu };

/// Slope of leaky relu left of zero.
inline constexpr float kLeakySlope = 0.01F;

/// One fully connected layer: y = activation(x W + b).
struct LayerSpec {
  int width = 0;  ///< outputs, 1 .. 1,000,000
  Activation activation = Activation::kIdentity;
  double dropout = 0.0;  ///< share of this layer's outputs zeroed while training, in [0, 1); the
                         ///< others are divided by 1 - dropout
};

/// E feed-forward nets of one shape, trained side by side in one plan.
struct NetSpec {
  int inputs = 0;                  ///< features of a row, 1 .. 1,000,000
  std::vector<LayerSpec> layers;   ///< 1 .. 100; the last one's width is the output's
  int members = 1;                 ///< E, 1 .. 1,000: nets that share the shape, not the parameters
  std::vector<float> input_noise;  ///< per member: sd (>= 0) of Gaussian noise added to inputs
                                   ///< while training; empty = none
};

}  // namespace ringward::learn
