#include "learn/dense/spec_check.h"

#include <fmt/format.h>

#include <cmath>

namespace ringward::learn {
namespace {

constexpr int kWidthMax = 1'000'000;
constexpr std::size_t kLayersMax = 100;
constexpr int kMembersMax = 1'000;

Error OutOfRange(std::string_view what, double value, std::string_view range) {
  return {Code::kInvalidInput, fmt::format("net: {} is {}, must be {}", what, value, range)};
}

Status CheckLayer(const LayerSpec& layer, std::size_t index) {
  if (layer.width < 1 || layer.width > kWidthMax) {
    return OutOfRange(fmt::format("width of layer {}", index + 1), layer.width, "1 .. 1000000");
  }
  if (!(layer.dropout >= 0 && layer.dropout < 1)) {
    return OutOfRange(fmt::format("dropout of layer {}", index + 1), layer.dropout, "in [0, 1)");
  }
  return Ok();
}

}  // namespace

Status CheckSpec(const NetSpec& spec) {
  if (spec.inputs < 1 || spec.inputs > kWidthMax) {
    return OutOfRange("number of inputs", spec.inputs, "1 .. 1000000");
  }
  if (spec.layers.empty() || spec.layers.size() > kLayersMax) {
    return OutOfRange("number of layers", static_cast<double>(spec.layers.size()), "1 .. 100");
  }
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    RINGWARD_TRY(CheckLayer(spec.layers[l], l));
  }
  if (spec.members < 1 || spec.members > kMembersMax) {
    return OutOfRange("number of members", spec.members, "1 .. 1000");
  }
  if (!spec.input_noise.empty() &&
      spec.input_noise.size() != static_cast<std::size_t>(spec.members)) {
    return OutOfRange("length of input_noise", static_cast<double>(spec.input_noise.size()),
                      fmt::format("0 or {}, one per member", spec.members));
  }
  for (const float sd : spec.input_noise) {
    if (!(sd >= 0) || std::isinf(sd)) return OutOfRange("input noise", sd, ">= 0 and finite");
  }
  return Ok();
}

std::vector<std::pair<std::string, Activation>> ActivationNames() {
  return {{"identity", Activation::kIdentity},    {"relu", Activation::kRelu},
          {"leaky-relu", Activation::kLeakyRelu}, {"tanh", Activation::kTanh},
          {"sigmoid", Activation::kSigmoid},      {"gelu", Activation::kGelu}};
}

bool NeedsKeys(const NetSpec& spec) {
  for (const float sd : spec.input_noise) {
    if (sd > 0) return true;
  }
  for (const LayerSpec& layer : spec.layers) {
    if (layer.dropout > 0) return true;
  }
  return false;
}

std::size_t ParameterCount(const NetSpec& spec) {
  std::size_t count = 0;
  auto inputs = static_cast<std::size_t>(spec.inputs);
  for (const LayerSpec& layer : spec.layers) {
    const auto width = static_cast<std::size_t>(layer.width);
    count += (inputs + 1) * width;
    inputs = width;
  }
  return count * static_cast<std::size_t>(spec.members);
}

}  // namespace ringward::learn
