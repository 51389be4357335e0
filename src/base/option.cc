#include "base/option.h"

#include <algorithm>
#include <utility>

namespace ringward {
namespace {

std::string DefaultMetavar(const OptionCodec& codec) {
  switch (codec.kind) {
    case OptionKind::kFlag:
      return "";
    case OptionKind::kInteger:
      return "N";
    case OptionKind::kReal:
      return "X";
    case OptionKind::kText:
      return "TEXT";
    case OptionKind::kChoice:
      return "NAME";
    case OptionKind::kDuration:
      return "TIME";
    case OptionKind::kBytes:
      return "SIZE";
  }
  return "";
}

}  // namespace

Option::Option(std::string name, OptionCodec codec, std::string help)
    : name_(std::move(name)),
      help_(std::move(help)),
      metavar_(DefaultMetavar(codec)),
      codec_(std::move(codec)),
      default_(codec_.texts()) {}

Option& Option::Short(std::string name) {
  short_ = std::move(name);
  return *this;
}

Option& Option::Metavar(std::string word) {
  metavar_ = std::move(word);
  return *this;
}

Option& Option::Complete(Completion what) {
  completion_ = what;
  if (codec_.kind == OptionKind::kText && metavar_ == "TEXT") {
    metavar_ = what == Completion::kFolder ? "DIR" : "FILE";
  }
  return *this;
}

Option& Option::Scope(OptionScope scope) {
  scope_ = scope;
  return *this;
}

Option& Option::Required(bool required) {
  required_ = required;
  return *this;
}

std::string Option::key() const {
  std::string key = name_;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string Option::flag() const {
  if (!positional_) return "--" + name_;
  return metavar_;
}

ScalarCodec<bool> FlagCodec() {
  ScalarCodec<bool> codec;
  codec.kind = OptionKind::kFlag;
  codec.expected = "true or false";
  codec.parse = ParseBool;
  codec.format = [](const bool& value) { return std::string(value ? "true" : "false"); };
  return codec;
}

ScalarCodec<std::string> TextCodec(TextRule rule) {
  ScalarCodec<std::string> codec;
  codec.kind = OptionKind::kText;
  codec.expected = rule.what;
  codec.range = "";
  codec.parse = [rule = std::move(rule)](std::string_view text) -> std::optional<std::string> {
    if (text.empty() && !rule.allow_empty) return std::nullopt;
    if (rule.accept && !rule.accept(text)) return std::nullopt;
    return std::string(text);
  };
  codec.format = [](const std::string& value) { return value; };
  return codec;
}

}  // namespace ringward
