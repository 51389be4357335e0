#include <fmt/format.h>

#include <algorithm>

#include "base/options.h"

namespace ringward {
namespace {

constexpr std::size_t kLeftColumn = 30;  // where the help of an option begins

/// "--data FILE...", "-np, --ranks N", "--[no-]shuffle".
std::string LeftSide(const Option& option) {
  if (option.positional()) return option.metavar() + (option.codec().list ? "..." : "");
  std::string left;
  if (!option.short_name().empty()) left += "-" + option.short_name() + ", ";
  const bool on_by_default =
      !option.takes_value() && option.default_texts() == std::vector<std::string>{"true"};
  left += (on_by_default ? "--[no-]" : "--") + option.name();
  if (option.takes_value()) left += " " + option.metavar();
  if (option.codec().list) left += option.codec().kind == OptionKind::kText ? "..." : ",...";
  return left;
}

/// "[default: 0.001; 0 < x <= 1]".
std::string Limits(const Option& option) {
  std::vector<std::string> parts;
  if (option.required()) parts.emplace_back("required");
  const auto& defaults = option.default_texts();
  const bool shown = option.takes_value() && !defaults.empty() && !defaults.front().empty();
  if (shown && !option.required()) {
    const bool text_list = option.codec().kind == OptionKind::kText && option.codec().list;
    parts.push_back(fmt::format("default: {}", fmt::join(defaults, text_list ? " " : ",")));
  }
  const OptionCodec& codec = option.codec();
  const bool text = codec.kind == OptionKind::kText;
  if (!text && !codec.range.empty()) {
    parts.push_back((codec.list ? "each of " : "") + codec.range);
  } else if (text || option.takes_value()) {
    parts.push_back(codec.expected);
  }
  return parts.empty() ? "" : fmt::format("[{}]", fmt::join(parts, "; "));
}

/// Appends `text` wrapped between the columns `indent` and `width`; the cursor is at `column`.
void Wrap(std::string* out, std::string_view text, std::size_t indent, std::size_t width,
          std::size_t column) {
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (column > indent && column + 1 + word.size() > width) {
      *out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      *out += ' ';
      ++column;
    }
    *out += word;
    column += word.size();
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
}

std::string Entry(const Option& option, std::size_t width) {
  std::string out = "  " + LeftSide(option);
  if (out.size() + 2 > kLeftColumn) {
    out += "\n" + std::string(kLeftColumn, ' ');
  } else {
    out.append(kLeftColumn - out.size(), ' ');
  }
  const std::string limits = Limits(option);
  Wrap(&out, option.help() + (limits.empty() ? "" : " " + limits), kLeftColumn, width, kLeftColumn);
  return out + "\n";
}

}  // namespace

std::string OptionTable::Usage() const {
  std::string usage;
  const auto add = [&](const Option& option, const std::string& text) {
    usage += (usage.empty() ? "" : " ") + (option.required() ? text : "[" + text + "]");
  };
  for (const Option& option : options_) {
    if (!option.positional() && option.required()) add(option, LeftSide(option));
  }
  usage += usage.empty() ? "[options]" : " [options]";
  for (const Option& option : options_) {
    if (option.positional()) add(option, LeftSide(option));
  }
  return usage;
}

std::string OptionTable::Help(std::size_t width) const {
  width = std::max<std::size_t>(width, kLeftColumn + 20);
  std::vector<std::string> groups;
  for (const Option& option : options_) {
    if (std::find(groups.begin(), groups.end(), option.group()) == groups.end()) {
      groups.push_back(option.group());
    }
  }
  std::string out;
  for (const std::string& group : groups) {
    out += (out.empty() ? "" : "\n") + group + ":\n";
    for (const Option& option : options_) {
      if (option.group() == group) out += Entry(option, width);
    }
  }
  return out;
}

std::vector<std::string> OptionTable::ToArgs(OptionScope widest) const {
  std::vector<std::string> args;
  std::vector<std::string> positionals;
  for (const Option& option : options_) {
    if (option.scope() > widest || (!option.IsChanged() && !option.was_set())) continue;
    const std::vector<std::string> texts = option.codec().texts();
    if (option.positional()) positionals.insert(positionals.end(), texts.begin(), texts.end());
    if (option.positional()) continue;
    if (texts.empty() && option.codec().list) args.push_back("--" + option.name() + "=");
    for (const std::string& text : texts) {
      if (text.empty() && option.codec().list) {
        args.insert(args.end(), {"--" + option.name(), ""});  // `--name=` would empty the list
      } else {
        args.push_back("--" + option.name() + "=" + text);
      }
    }
  }
  if (!positionals.empty()) {
    args.emplace_back("--");
    args.insert(args.end(), positionals.begin(), positionals.end());
  }
  return args;
}

}  // namespace ringward
