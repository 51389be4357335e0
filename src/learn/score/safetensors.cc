#include "learn/score/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"

namespace ringward::learn {
namespace {

static_assert(std::endian::native == std::endian::little,
              "values are stored as they lie in memory");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlign = 8;
constexpr std::size_t kDimensionsMax = 8;

Error Corrupt(const std::string& why) { return Error(Code::kCorrupt, "safetensors: " + why); }

std::string_view BytesOf(const Tensor& tensor) {
  return std::visit(
      [](const auto& values) {
        return std::string_view(reinterpret_cast<const char*>(values.data()),
                                values.size() * sizeof(values[0]));
      },
      tensor.values);
}

/// Number of values of `shape`, or nothing where it would exceed `limit`.
Result<std::size_t> CountOf(const std::vector<std::size_t>& shape, std::size_t limit) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) {
    if (extent != 0 && count > limit / extent) return Corrupt("a shape exceeds the file");
    count *= extent;
  }
  return count;
}

template <typename T>
std::vector<T> Copy(std::string_view bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

Result<std::vector<std::size_t>> ReadSizes(const nlohmann::json& entry, const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array() || found->size() > kDimensionsMax) {
    return Corrupt(std::string("bad ") + key);
  }
  std::vector<std::size_t> sizes;
  for (const auto& item : *found) {
    if (!item.is_number_unsigned()) return Corrupt(std::string("bad ") + key);
    sizes.push_back(item.get<std::size_t>());
  }
  return sizes;
}

Result<Tensor> ReadTensor(const std::string& name, const nlohmann::json& entry,
                          std::string_view data) {
  if (!entry.is_object()) return Corrupt("entry " + name + " is not an object");
  const auto dtype = entry.find("dtype");
  const bool wide = dtype != entry.end() && *dtype == "F64";
  if (!wide && (dtype == entry.end() || *dtype != "F32")) {
    return Corrupt("tensor " + name + " has a dtype other than F32 and F64");
  }
  RINGWARD_ASSIGN(auto shape, ReadSizes(entry, "shape"));
  RINGWARD_ASSIGN(const auto offsets, ReadSizes(entry, "data_offsets"));
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size()) {
    return Corrupt("tensor " + name + " lies outside the file (truncated?)");
  }
  const std::size_t bytes = offsets[1] - offsets[0];
  const std::size_t width = wide ? sizeof(double) : sizeof(float);
  RINGWARD_ASSIGN(const std::size_t count, CountOf(shape, bytes / width));
  if (count * width != bytes)
    return Corrupt("tensor " + name + " has bytes that do not fit its shape");
  const auto part = data.substr(offsets[0], bytes);
  if (wide) return Tensor{name, std::move(shape), Copy<double>(part)};
  return Tensor{name, std::move(shape), Copy<float>(part)};
}

}  // namespace

std::string WriteSafetensors(const std::vector<Tensor>& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::size_t offset = 0;
  for (const Tensor& tensor : tensors) {
    const std::size_t bytes = BytesOf(tensor).size();
    const bool wide = tensor.values.index() == 1;
    RINGWARD_CHECK(!header.contains(tensor.name));
    header[tensor.name] = {{"dtype", wide ? "F64" : "F32"},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = header.dump();
  text.append((kAlign - text.size() % kAlign) % kAlign, ' ');
  const std::uint64_t length = text.size();
  std::string file(kLengthBytes, '\0');
  std::memcpy(file.data(), &length, kLengthBytes);
  file += text;
  for (const Tensor& tensor : tensors) file += BytesOf(tensor);
  return file;
}

Result<std::vector<Tensor>> ReadSafetensors(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes) return Corrupt("shorter than its header (truncated?)");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > bytes.size() - kLengthBytes) return Corrupt("header exceeds the file (truncated?)");
  const auto header = nlohmann::json::parse(bytes.substr(kLengthBytes, length), nullptr, false);
  if (!header.is_object()) return Corrupt("header is not a JSON object");
  const auto data = bytes.substr(kLengthBytes + length);
  std::vector<Tensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    RINGWARD_ASSIGN(auto tensor, ReadTensor(name, entry, data));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace ringward::learn
