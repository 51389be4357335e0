#pragma once

#include "base/result.h"
#include "learn/dense/net_spec.h"

namespace ringward::learn {

/// Fails with kInvalidInput naming the field of `spec` that is out of its range.
Status CheckSpec(const NetSpec& spec);

/// Whether training draws random numbers by row: the spec has noise or dropout.
bool NeedsKeys(const NetSpec& spec);

}  // namespace ringward::learn
