#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "learn/dense/net_spec.h"

namespace ringward::learn {

/// Fails with kInvalidInput naming the field of `spec` that is out of its range.
Status CheckSpec(const NetSpec& spec);

/// Every activation with its name in options and model files: identity, relu, leaky-relu, tanh,
/// sigmoid, gelu.
std::vector<std::pair<std::string, Activation>> ActivationNames();

/// Whether training draws random numbers by row: the spec has noise or dropout.
bool NeedsKeys(const NetSpec& spec);

/// Parameters of all members of a net of this shape, without taking memory for them.
std::size_t ParameterCount(const NetSpec& spec);

}  // namespace ringward::learn
