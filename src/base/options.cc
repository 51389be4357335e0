#include "base/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "base/nearest_name.h"

namespace ringward {

/// One mention of an option on the command line.
struct OptionTable::Occurrence {
  Option* option = nullptr;
  std::vector<std::string> values;
  bool empties = false;  // --name= of a list
};

namespace {

bool LooksNegative(std::string_view word) {
  const auto digit = [&](std::size_t i) {
    return i < word.size() && std::isdigit(static_cast<unsigned char>(word[i])) != 0;
  };
  return digit(1) || (word.size() > 2 && word[1] == '.' && digit(2));
}

bool SplitsAtCommas(const Option& option) {
  return option.codec().list && option.codec().kind != OptionKind::kText;
}

std::string ExpectedFor(const Option& option, std::string_view text) {
  const OptionCodec& codec = option.codec();
  std::string expected = codec.expected;
  constexpr std::size_t kAlwaysFits = 9;  // digits of every 32-bit number
  if (codec.kind == OptionKind::kInteger && text.size() > kAlwaysFits &&
      text.find_first_not_of("+-0123456789") == std::string_view::npos) {
    expected = "a whole number, " + codec.limits;
  }
  return expected;
}

std::string Suggestion(const Option& option, std::string_view text) {
  return option.codec().kind == OptionKind::kChoice ? DidYouMean(text, option.codec().choices) : "";
}

}  // namespace

Status PutText(Option& option, std::string_view text, bool split_commas) {
  while (true) {
    const std::size_t comma = split_commas ? text.find(',') : std::string_view::npos;
    const std::string_view element = text.substr(0, comma);
    if (!option.codec().put(element)) {
      return Error(Code::kInvalidInput,
                   fmt::format("got '{}', expected {}{}", Printable(element),
                               ExpectedFor(option, element), Suggestion(option, element)));
    }
    if (comma == std::string_view::npos) return Ok();
    text.remove_prefix(comma + 1);
  }
}

Option& OptionTable::Insert(std::string name, OptionCodec codec, std::string help) {
  RINGWARD_CHECK(Find(name) == nullptr);
  options_.emplace_back(std::move(name), std::move(codec), std::move(help));
  options_.back().group_ = group_;
  return options_.back();
}

Option& OptionTable::MakePositional(Option& option) {
  option.positional_ = true;
  option.metavar_ = option.name_;
  std::transform(option.metavar_.begin(), option.metavar_.end(), option.metavar_.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return option;
}

void OptionTable::AddBuiltIns() {
  Option& config = Add("config", &config_file_, {.what = "a TOML file", .allow_empty = true},
                       "read options from a TOML file (keys are the long names); flags win")
                       .Complete(Completion::kFile)
                       .Scope(OptionScope::kLocal);
  config.in_files_ = false;
  Option& help = Add("help", &help_, "show this help").Short("h").Scope(OptionScope::kLocal);
  help.in_files_ = false;
}

void OptionTable::SetSections(std::string own, std::vector<std::string> others) {
  section_ = std::move(own);
  other_sections_ = std::move(others);
}

Option* OptionTable::Find(std::string_view name) {
  const auto found =
      std::find_if(options_.begin(), options_.end(), [&](auto& o) { return o.name_ == name; });
  return found == options_.end() ? nullptr : &*found;
}

Option* OptionTable::FindShort(std::string_view name) {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](auto& o) { return !name.empty() && o.short_ == name; });
  return found == options_.end() ? nullptr : &*found;
}

bool OptionTable::WasSet(std::string_view name) const {
  const Option* option = const_cast<OptionTable*>(this)->Find(name);
  RINGWARD_CHECK(option != nullptr);
  return option->was_set();
}

bool OptionTable::IsFlagWord(std::string_view word) {
  if (word.size() < 2 || word[0] != '-') return false;
  if (word[1] == '-') return true;
  return !LooksNegative(word) || FindShort(word.substr(1)) != nullptr;
}

Error OptionTable::UnknownFlag(std::string_view word) const {
  const std::string_view typed = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const Option& option : options_) {
    if (option.positional()) continue;
    known.push_back("--" + option.name());
    if (!option.short_name().empty()) known.push_back("-" + option.short_name());
  }
  return {Code::kInvalidInput,
          fmt::format("unknown option {}{}", Printable(typed), DidYouMean(typed, known))};
}

/// Reads the flag at args[*at] and its values, and moves *at behind them.
Result<OptionTable::Occurrence> OptionTable::ReadFlag(std::span<const std::string> args,
                                                      std::size_t* at) {
  const std::string_view word = args[(*at)++];
  const bool is_long = word.starts_with("--");
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals).substr(is_long ? 2 : 1);
  Occurrence found{.option = is_long ? Find(name) : FindShort(name)};
  if (found.option == nullptr && name.starts_with("no-") && is_long) {
    Option* negated = Find(name.substr(3));
    if (negated != nullptr && !negated->takes_value() && equals == std::string_view::npos) {
      return Occurrence{.option = negated, .values = {"false"}};
    }
  }
  if (found.option == nullptr || found.option->positional()) return UnknownFlag(word);
  const bool list = found.option->codec().list;
  if (equals != std::string_view::npos) {
    const std::string_view value = word.substr(equals + 1);
    found.empties = list && value.empty();
    if (!found.empties) found.values.emplace_back(value);
  } else if (!found.option->takes_value()) {
    found.values.emplace_back("true");
  } else {
    do {
      if (*at == args.size() || IsFlagWord(args[*at])) break;
      found.values.push_back(args[(*at)++]);
    } while (list);
    if (found.values.empty()) {
      return Error(Code::kInvalidInput, fmt::format("{} needs a value: {}", word.substr(0, equals),
                                                    found.option->codec().expected));
    }
  }
  return found;
}

Option* OptionTable::NextPositional(std::size_t* used) {
  std::size_t index = 0;
  for (Option& option : options_) {
    if (!option.positional_) continue;
    if (index++ < *used) continue;
    if (!option.codec_.list) ++*used;
    return &option;
  }
  return nullptr;
}

Result<std::vector<OptionTable::Occurrence>> OptionTable::Scan(std::span<const std::string> args) {
  std::vector<Occurrence> found;
  std::size_t used_positionals = 0;
  bool flags_ended = false;
  for (std::size_t at = 0; at < args.size();) {
    if (!flags_ended && args[at] == "--") {
      flags_ended = true;
      ++at;
    } else if (!flags_ended && IsFlagWord(args[at])) {
      RINGWARD_ASSIGN(Occurrence flag, ReadFlag(args, &at));
      found.push_back(std::move(flag));
    } else {
      Option* option = NextPositional(&used_positionals);
      if (option == nullptr) {
        return Error(Code::kInvalidInput,
                     fmt::format("unexpected argument '{}'", Printable(args[at])));
      }
      found.push_back({.option = option, .values = {args[at++]}});
    }
  }
  return found;
}

Status OptionTable::Apply(const Occurrence& occurrence, std::vector<const Option*>* seen) {
  Option& option = *occurrence.option;
  const bool first = std::find(seen->begin(), seen->end(), &option) == seen->end();
  if (first || occurrence.empties) option.codec_.clear();  // the first mention replaces the default
  if (first) seen->push_back(&option);
  option.was_set_ = true;
  for (const std::string& value : occurrence.values) {
    auto put = PutText(option, value, SplitsAtCommas(option));
    if (!put) {
      return Error(Code::kInvalidInput, fmt::format("{}: {}", option.flag(), put.error().what()));
    }
  }
  return Ok();
}

Status OptionTable::CheckRequired() const {
  for (const Option& option : options_) {
    if (!option.required() || option.was_set()) continue;
    return Error(Code::kInvalidInput,
                 fmt::format("missing {}: {}", option.flag(), option.codec().expected));
  }
  return Ok();
}

Status OptionTable::ParseArgs(std::span<const std::string> args) {
  const Option* help = Find("help");
  for (const std::string& arg : args) {
    // Help is given whatever else is wrong with the line.
    if (arg == "--") break;
    if (help != nullptr && (arg == "--help" || arg == "-h")) {
      help_requested_ = true;
      return Ok();
    }
  }
  RINGWARD_ASSIGN(const std::vector<Occurrence> found, Scan(args));
  std::vector<const Option*> seen;
  const Option* config = Find("config");
  for (const Occurrence& occurrence : found) {
    if (occurrence.option == config) RINGWARD_TRY(Apply(occurrence, &seen));
  }
  if (!config_file_.empty()) RINGWARD_TRY(ApplyTomlFile(config_file_));
  for (const Occurrence& occurrence : found) {
    if (occurrence.option != config) RINGWARD_TRY(Apply(occurrence, &seen));
  }
  return CheckRequired();
}

}  // namespace ringward
