#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace ringward::learn {

/// The bytes of an .npy file of format 1.0, for tests.
inline std::string NpyBytes(const std::string& descr, const std::string& shape,
                            const std::string& data, bool fortran = false) {
  const std::string header = "{'descr': '" + descr +
                             "', 'fortran_order': " + (fortran ? "True" : "False") +
                             ", 'shape': " + shape + ", }\n";
  const auto low = static_cast<char>(header.size() & 255U);
  const auto high = static_cast<char>(header.size() >> 8U);
  return std::string("\x93NUMPY\x01\x00", 8) + low + high + header + data;
}

/// The values as T in memory order, bytes of each reversed where asked.
template <typename T>
std::string Raw(const std::vector<T>& values, bool big_endian = false) {
  std::string bytes;
  for (const T value : values) {
    std::string one(sizeof(T), '\0');
    std::memcpy(one.data(), &value, sizeof(T));
    bytes += big_endian ? std::string(one.rbegin(), one.rend()) : one;
  }
  return bytes;
}

}  // namespace ringward::learn
