#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace ringward::learn {

/// A named array; the variant's type is its dtype (F32 or F64).
struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;  ///< product == number of values; empty = a scalar
  std::variant<std::vector<float>, std::vector<double>> values;
};

/// Bytes of a .safetensors file: u64 header length, JSON header, values little-endian (format
/// documented by the safetensors project). REQUIRES: unique names, shapes that match.
std::string WriteSafetensors(const std::vector<Tensor>& tensors);

/// Reads what WriteSafetensors or any other writer made, F32 and F64 only. Never allocates more
/// than the bytes given justify. Fails with kCorrupt and a reason.
Result<std::vector<Tensor>> ReadSafetensors(std::string_view bytes);

}  // namespace ringward::learn
