#include <fmt/format.h>

#include "ringward/cli/completion_script.h"

namespace ringward::cli {
namespace {

constexpr const char* kZshHead = R"(#compdef ringward
# zsh completion for ringward, printed by `ringward completion zsh`
_ringward() {
  local name='' curcontext="$curcontext" state line
  local -i i depth=0
  local -A opt_args
  local -a names
  for ((i = 2; i < CURRENT; i++)); do
    case "$name|$words[i]" in
)";

constexpr const char* kZshAfterNames = R"(      *) break ;;
    esac
    depth=$((depth + 1))
  done
  shift $depth words
  CURRENT=$((CURRENT - depth))
  case "$name" in
)";

constexpr const char* kZshTail = R"(  esac
}
if [[ $funcstack[1] == _ringward ]]; then
  _ringward "$@"
else
  compdef _ringward ringward
fi
)";

/// Text inside a single-quoted _arguments or _describe specification.
std::string Escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string Action(const Option& option) {
  if (option.completion() == Completion::kFile) return "_files";
  if (option.completion() == Completion::kFolder) return "_files -/";
  if (option.codec().choices.empty()) return " ";
  return fmt::format("({})", fmt::join(option.codec().choices, " "));
}

std::string FlagSpec(const Option& option, const std::string& flag) {
  const std::string help = Escape(option.help());
  if (!option.takes_value()) return fmt::format("      '{}[{}]' \\\n", flag, help);
  // `*-*` in a list: it takes every word up to the next that begins with '-'.
  const bool list = option.codec().list;
  const bool is_long = flag.starts_with("--");
  return fmt::format("      '{}{}{}[{}]:{}{}:{}' \\\n", list ? "*" : "", flag,
                     is_long && !list ? "=" : "", help, list ? "*-*:" : "",
                     Escape(option.metavar()), Action(option));
}

std::string Arguments(const OptionTable& options) {
  std::string out = "_arguments \\\n";
  for (const Option& option : options.options()) {
    if (option.positional()) {
      out += fmt::format("      '{}:{}:{}' \\\n", option.codec().list ? "*" : "",
                         Escape(option.metavar()), Action(option));
      continue;
    }
    out += FlagSpec(option, "--" + option.name());
    if (!option.short_name().empty()) out += FlagSpec(option, "-" + option.short_name());
  }
  return out + "      && return 0";
}

std::string SummaryOf(const Registry& registry, const std::string& path) {
  const auto* entry = registry.Find(path);
  return entry != nullptr ? entry->info.summary : "a family of subcommands";
}

/// names=('train:trains ...' ...); _describe ...
std::string Describe(const Registry& registry, const std::vector<std::string>& words,
                     const std::string& prefix) {
  std::string out = "names=(\n";
  for (const std::string& word : words) {
    out += fmt::format("      '{}:{}'\n", word, Escape(SummaryOf(registry, prefix + word)));
  }
  return out + "      )\n      _describe subcommand names";
}

}  // namespace

std::string ZshCompletion(const Registry& registry) {
  std::string cases;
  for (const auto& entry : registry.entries()) {
    const auto bound = Bind(registry, entry);
    cases += fmt::format("    '{}') {} ;;\n", entry.info.path, Arguments(bound->options));
  }
  const auto first = registry.FirstWords();
  cases += fmt::format("    '') {}\n      compadd -- --help --version ;;\n",
                       Describe(registry, first, ""));
  for (const std::string& family : first) {
    if (!registry.IsFamily(family)) continue;
    const auto seconds = registry.SecondWords(family);
    cases += fmt::format("    '{}') {} ;;\n", family, Describe(registry, seconds, family + " "));
  }
  return kZshHead + NameCases(registry) + kZshAfterNames + cases + kZshTail;
}

}  // namespace ringward::cli
