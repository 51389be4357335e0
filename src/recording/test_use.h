#pragma once

#include <string>
#include <vector>

#include "base/check.h"
#include "recording/reader.h"

namespace ringward::recording {

/// An error is one printable line of bounded length.
inline void CheckLine(const Error& error) {
  RINGWARD_CHECK(!error.what().empty() && error.what().size() < 1000);
  for (const char c : error.what()) RINGWARD_CHECK(static_cast<unsigned char>(c) >= 0x20);
}

/// Reads to the end or to an error; "" or the error.
template <typename Next>
void ReadAll(Next next, std::vector<std::string>& errors) {
  while (true) {
    const auto each = next();
    if (!each) {
      CheckLine(each.error());
      errors.push_back(each.error().what());
    }
    if (!each || !*each) return;
  }
}

/// Reads everything a recording holds; the errors met.
inline std::vector<std::string> UseReader(Reader& reader) {
  std::vector<std::string> errors;
  ReadAll([&] { return reader.NextEvent(); }, errors);
  ReadAll([&] { return reader.NextCall(); }, errors);
  ReadAll([&] { return reader.NextFinding(); }, errors);
  ReadAll([&] { return reader.NextCause(); }, errors);
  const auto minutes = reader.Minutes();
  if (!minutes) {
    CheckLine(minutes.error());
    errors.push_back(minutes.error().what());
  }
  return errors;
}

}  // namespace ringward::recording
