#include "learn/data/options.h"

#include <map>

namespace ringward::learn {
namespace {

constexpr int kWindowMax = 100'000;

Error Bad(std::string what) { return {Code::kInvalidInput, std::move(what)}; }

}  // namespace

Status Validate(const DataOptions& options) {
  if (options.paths.empty()) return Bad("--data: at least one file is needed");
  if (options.window < 1 || options.window > kWindowMax) {
    return Bad("--window: " + std::to_string(options.window) + " is not in 1 .. " +
               std::to_string(kWindowMax));
  }
  const char d = options.delimiter;
  if (d == '"' || d == '\n' || d == '\r' || d == '.' || (d >= '0' && d <= '9')) {
    return Bad("--delimiter: a quote, a point, a digit or the end of a line cannot part fields");
  }
  for (const std::string& name : options.numeric) {
    for (const std::string& other : options.categorical) {
      if (name == other) return Bad("--numeric, --categorical: both name the column " + name);
    }
  }
  return Ok();
}

Result<HeaderMode> ParseHeaderMode(const std::string& text) {
  if (text == "auto") return HeaderMode::kAuto;
  if (text == "yes") return HeaderMode::kYes;
  if (text == "no") return HeaderMode::kNo;
  return Bad("--header: \"" + text + "\" is none of auto, yes, no");
}

Result<char> ParseDelimiter(const std::string& text) {
  static const std::map<std::string, char> kWords = {
      {"auto", '\0'}, {"comma", ','}, {"semicolon", ';'}, {"tab", '\t'},
      {"\\t", '\t'},  {"pipe", '|'},  {"space", ' '}};
  const auto word = kWords.find(text);
  if (word != kWords.end()) return word->second;
  if (text.size() == 1) return text[0];
  return Bad("--delimiter: give one character, or auto, comma, semicolon, tab, pipe or space");
}

}  // namespace ringward::learn
