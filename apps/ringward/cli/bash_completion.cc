#include <fmt/format.h>

#include "ringward/cli/completion_script.h"

namespace ringward::cli {
namespace {

// The script walks the words before the cursor to find the subcommand (`name`) and the last flag,
// then looks both up in three case statements. `takes` is 1 for a flag with one value, 2 for a
// list. bash splits `--flag=value` at '=', which is why '=' may stand where a word is expected.
constexpr const char* kBashHead =
    R"(# bash completion for ringward, printed by `ringward completion bash`
_ringward() {
  local cur=${COMP_WORDS[COMP_CWORD]} before=$((COMP_CWORD - 1))
  local name='' flag='' flag_at=-1 word i takes=0 values='' files=''
  COMPREPLY=()
  [[ $cur == '=' ]] && cur=''
  [[ ${COMP_WORDS[before]} == '=' ]] && ((before -= 1))
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -?* ]]; then
      flag=$word flag_at=$i
    fi
    case "$name|$word" in
)";

constexpr const char* kBashAfterNames = R"(    esac
  done
  case "$name|$flag" in
)";

constexpr const char* kBashAfterFlags = R"(  esac
  if [[ $cur == -* ]] || ! ((takes == 2 || (takes == 1 && flag_at == before))); then
    values='' files=''
    case "$name" in
)";

constexpr const char* kBashTail = R"(    esac
  fi
  case $files in
    file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur") ;;
  esac
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null || true
  fi
}
complete -F _ringward ringward
)";

/// "values='auto mpi'", "files=file" or "".
std::string Offer(const Option& option) {
  if (option.completion() == Completion::kFile) return " files=file";
  if (option.completion() == Completion::kFolder) return " files=folder";
  if (option.codec().choices.empty()) return "";
  return fmt::format(" values='{}'", fmt::join(option.codec().choices, " "));
}

std::string FlagCases(const std::string& path, const OptionTable& options) {
  std::string out;
  for (const Option& option : options.options()) {
    if (!option.takes_value() || option.positional()) continue;
    std::string pattern = fmt::format("'{}|--{}'", path, option.name());
    if (!option.short_name().empty())
      pattern += fmt::format(" | '{}|-{}'", path, option.short_name());
    out +=
        fmt::format("    {}) takes={}{} ;;\n", pattern, option.codec().list ? 2 : 1, Offer(option));
  }
  return out;
}

std::string FlagWords(const OptionTable& options) {
  std::string out;
  for (const Option& option : options.options()) {
    if (option.positional()) continue;
    out += (out.empty() ? "--" : " --") + option.name();
    if (!option.short_name().empty()) out += " -" + option.short_name();
    if (!option.takes_value() && option.default_texts().front() == "true") {
      out += " --no-" + option.name();
    }
  }
  return out;
}

std::string WordCases(const std::string& path, const OptionTable& options) {
  std::string positional = " files=file";
  for (const Option& option : options.options()) {
    if (!option.positional()) continue;
    if (const std::string offer = Offer(option); !offer.empty()) positional = offer;
    break;
  }
  return fmt::format("      '{}') if [[ $cur == -* ]]; then values='{}'; else{}; fi ;;\n", path,
                     FlagWords(options), positional);
}

}  // namespace

std::string NameCases(const Registry& registry) {
  std::string out;
  for (const std::string& first : registry.FirstWords()) {
    out += fmt::format("      '|{0}') name='{0}' ;;\n", first);
    for (const std::string& second : registry.SecondWords(first)) {
      out += fmt::format("      '{0}|{1}') name='{0} {1}' ;;\n", first, second);
    }
  }
  return out;
}

std::string BashCompletion(const Registry& registry) {
  std::string flags;
  std::string words;
  for (const auto& entry : registry.entries()) {
    const auto bound = Bind(registry, entry);
    flags += FlagCases(entry.info.path, bound->options);
    words += WordCases(entry.info.path, bound->options);
  }
  const auto first = registry.FirstWords();
  words += fmt::format("      '') values='{} help --help --version' ;;\n", fmt::join(first, " "));
  for (const std::string& family : first) {
    if (!registry.IsFamily(family)) continue;
    words += fmt::format("      '{}') values='{} --help' ;;\n", family,
                         fmt::join(registry.SecondWords(family), " "));
  }
  return kBashHead + NameCases(registry) + kBashAfterNames + flags + kBashAfterFlags + words +
         kBashTail;
}

}  // namespace ringward::cli
