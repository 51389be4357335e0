#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/option.h"
#include "base/result.h"

namespace ringward {

/// The options of one subcommand, filled once from a plain struct. One table reads the command line
/// and TOML files, prints help, and writes the options back, so that all four agree.
///
///   struct TrainOptions { double learning_rate = 1e-3; std::vector<std::string> data; };
///   table.Add("learning-rate", &o.learning_rate, {.min = 0, .max = 1, .min_exclusive = true},
///             "step size of the optimizer");
///   table.Add("data", &o.data, {.what = "files or globs"}, "rows to train on").Required();
///
/// Targets: bool, whole numbers, float/double, std::string, std::chrono durations, and std::vector
/// or std::optional of those; the value at Add is the default. Unsigned 64-bit options hold at most
/// 2^63 - 1. The table points into the struct, which must outlive it. Not safe for concurrent use.
///
/// Command line: `--name value`, `--name=value`, `--flag`, `--no-flag`, `-np 4`; a list takes every
/// word up to the next flag (`--data a b`) and may be repeated; lists of numbers and names also
/// split at commas; `--name=` empties a list; of a repeated scalar the last wins; `--` ends the
/// flags. A word is a flag when it begins with '-', except `-` alone and numbers (`-1`). Files: key
/// = long name with '-' or '_'. Flags win over files, later files over earlier ones. Errors are
/// kInvalidInput, one line: `--epochs: got '0', expected a whole number, x >= 1`, or
/// `job.toml:3:10: epochs: got ...`. Targets are unspecified after an error.
class OptionTable {
 public:
  OptionTable() = default;
  OptionTable(const OptionTable&) = delete;  // targets and returned references would be shared
  OptionTable& operator=(const OptionTable&) = delete;

  /// Options added from now on are listed under `title` in help.
  void Group(std::string title) { group_ = std::move(title); }

  template <typename T>
  Option& Add(std::string name, T* target, RuleOf<T> rule, std::string help) {
    return Insert(std::move(name), Bind(target, std::move(rule)), std::move(help));
  }
  /// Any value of the type.
  template <typename T>
  Option& Add(std::string name, T* target, std::string help) {
    return Add(std::move(name), target, RuleOf<T>{}, std::move(help));
  }
  Option& Add(std::string name, bool* target, std::string help) {
    return Insert(std::move(name), BindCodec(FlagCodec(), target), std::move(help));
  }
  /// One value of an enumeration (or a list or an optional of it), by name.
  template <typename T>
  Option& AddChoice(std::string name, T* target,
                    std::vector<std::pair<std::string, typename ValueOf<T>::type>> names,
                    std::string help) {
    return Insert(std::move(name), BindCodec(ChoiceCodec(std::move(names)), target),
                  std::move(help));
  }
  /// A whole number of bytes written with units (64K, 1GiB).
  template <typename T>
  Option& AddBytes(std::string name, T* target, Bounds<typename ValueOf<T>::type> bounds,
                   std::string help) {
    return Insert(std::move(name), BindCodec(BytesCodec(bounds), target), std::move(help));
  }
  /// An argument without a flag, in the order of adding; a list takes all that are left.
  template <typename T>
  Option& AddPositional(std::string name, T* target, RuleOf<T> rule, std::string help) {
    Option& option = Add(std::move(name), target, std::move(rule), std::move(help));
    return MakePositional(option);
  }
  template <typename E>
  Option& AddPositionalChoice(std::string name, E* target,
                              std::vector<std::pair<std::string, E>> names, std::string help) {
    return MakePositional(AddChoice(std::move(name), target, std::move(names), std::move(help)));
  }
  /// Adds --config FILE and --help/-h. After ParseArgs, help_requested() tells whether to print
  /// Help.
  void AddBuiltIns();

  /// The table's own section in files ("train", or "simulate.table") and those of other
  /// subcommands, which are passed over. Without this call only top-level keys are known.
  void SetSections(std::string own, std::vector<std::string> others);

  /// Reads a command line (without the program's and subcommand's names): the file named by
  /// --config, then the flags, then checks that required options were given. Stops at --help
  /// without checking.
  Status ParseArgs(std::span<const std::string> args);
  /// Applies TOML text; `file_name` is for errors. Flags given to ParseArgs later win.
  Status ApplyToml(std::string_view text, const std::string& file_name);
  /// Reads at most 1 MiB.
  Status ApplyTomlFile(const std::string& path);

  bool help_requested() const { return help_requested_; }
  /// True when a flag or file gave the option. The name must exist.
  bool WasSet(std::string_view name) const;
  const std::deque<Option>& options() const { return options_; }

  /// "[options] DIR FILE..." for the usage line.
  std::string Usage() const;
  /// The grouped list of options with defaults and ranges, wrapped at `width` columns.
  std::string Help(std::size_t width = 100) const;
  /// The values in force as TOML, readable by ApplyToml: those of scope kStored, and with `widest`
  /// = kRun also those. Unset optionals are left out. Bytes that are no UTF-8 become U+FFFD.
  std::string ToToml(OptionScope widest = OptionScope::kStored) const;
  /// The values that were set or differ from their defaults as arguments for ParseArgs of a table
  /// like this one, whether they came from flags, files or the program. For handing options to the
  /// ranks.
  std::vector<std::string> ToArgs(OptionScope widest = OptionScope::kRun) const;

 private:
  struct Occurrence;
  template <typename T>
  static OptionCodec Bind(T* target, RuleOf<T> rule) {
    using Value = typename ValueOf<T>::type;
    if constexpr (std::is_same_v<Value, std::string>) {
      return BindCodec(TextCodec(std::move(rule)), target);
    } else if constexpr (std::is_same_v<Value, bool>) {
      return BindCodec(FlagCodec(), target);
    } else {
      return BindCodec(NumberCodec<Value>(rule), target);
    }
  }
  Option& Insert(std::string name, OptionCodec codec, std::string help);
  Option& MakePositional(Option& option);
  Option* Find(std::string_view name);
  Option* FindShort(std::string_view name);
  Option* NextPositional(std::size_t* used);
  Result<Occurrence> ReadFlag(std::span<const std::string> args, std::size_t* at);
  Result<std::vector<Occurrence>> Scan(std::span<const std::string> args);
  Status Apply(const Occurrence& occurrence, std::vector<const Option*>* seen);
  bool IsFlagWord(std::string_view word);
  Error UnknownFlag(std::string_view word) const;
  Status CheckRequired() const;

  std::deque<Option> options_;  // a deque keeps the references that Add returns
  std::string group_ = "Options";
  std::string section_;
  std::vector<std::string> other_sections_;
  std::string config_file_;
  bool help_ = false;
  bool help_requested_ = false;
};

/// Splits `text` as that option's list would be ("128,64"), and puts every element. On refusal
/// returns the error's text after "got": `'x', expected ...`. Shared by flags and files.
Status PutText(Option& option, std::string_view text, bool split_commas);

}  // namespace ringward
