// Option files and command lines: whatever the bytes, an error is one line; what is accepted is
// written back, read again and the same.
#include "base/options.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace {

using ringward::OptionTable;
using ringward::Status;

struct Target {
  bool flag = false;
  int whole = 1;
  double real = 1;
  std::string text;
  std::vector<std::string> texts;
  std::vector<int> numbers;
  std::chrono::milliseconds span{1};
  std::uint64_t bytes = 1;
  std::string choice = "a";
  std::vector<std::string> rest;
  OptionTable table;

  Target() {
    table.Add("flag", &flag, "");
    table.Add("whole", &whole, {.min = -5}, "").Short("np");
    table.Add("real", &real, {.min = 0, .max = 1e9, .min_exclusive = true}, "");
    table.Add("text", &text, {.allow_empty = true}, "");
    table.Add("texts", &texts, {.allow_empty = true}, "");
    table.Add("numbers", &numbers, {.max = 1000}, "");
    table.Add("span", &span, "");
    table.AddBytes("bytes", &bytes, {}, "");
    table.AddChoice("choice", &choice, {{"a", "a"}, {"bee", "bee"}}, "");
    table.AddPositional("rest", &rest, {.allow_empty = true}, "");
    table.SetSections("train", {"score", "simulate.table"});
  }
};

/// True when the input was accepted; checks the error otherwise.
bool Accepted(const Status& status) {
  if (status) return true;
  const std::string& line = status.error().what();
  RINGWARD_CHECK(!line.empty() && line.size() < 4096);
  RINGWARD_CHECK(line.find_first_of("\n\r\x1b") == std::string::npos);
  return false;
}

void CheckRoundTrip(const Target& first) {
  Target second;
  RINGWARD_CHECK(Accepted(second.table.ParseArgs(first.table.ToArgs())));
  RINGWARD_CHECK(second.table.ToToml() == first.table.ToToml());
  Target third;
  RINGWARD_CHECK(Accepted(third.table.ApplyToml(first.table.ToToml(), "again")));
  RINGWARD_CHECK(third.table.ToToml() == first.table.ToToml());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  Target file;
  if (Accepted(file.table.ApplyToml(input, "job.toml"))) CheckRoundTrip(file);
  std::vector<std::string> args;  // one a line
  for (std::size_t at = 0; at < input.size();) {
    const std::size_t end = std::min(input.find('\n', at), input.size());
    args.emplace_back(input.substr(at, end - at));
    at = end + 1;
  }
  Target line;
  if (Accepted(line.table.ParseArgs(args))) CheckRoundTrip(line);
  return 0;
}
