#pragma once

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text_value.h"

namespace ringward {

/// The values an option takes. An unset end is open; both ends belong to the range unless
/// exclusive.
template <typename T>
struct Bounds {
  std::optional<T> min;
  std::optional<T> max;
  bool min_exclusive = false;
  bool max_exclusive = false;

  bool Contain(const T& x) const {
    if (min && (min_exclusive ? !(*min < x) : x < *min)) return false;
    return !max || (max_exclusive ? x < *max : !(*max < x));
  }
};

inline constexpr Bounds<double> kProbability{.min = 0.0, .max = 1.0};

/// What a text option takes.
struct TextRule {
  std::string what = "any text";  ///< for help and errors, e.g. "a folder"
  bool allow_empty = false;
  std::function<bool(std::string_view)> accept = nullptr;  ///< more conditions; may be empty
};

enum class OptionKind { kFlag, kInteger, kReal, kText, kChoice, kDuration, kBytes };

/// What shell completion offers for the value.
enum class Completion { kNone, kFile, kFolder };

/// How far an option's value travels.
enum class OptionScope {
  kStored,  ///< part of what was done: stored with the result, handed to the ranks
  kRun,     ///< how it is run: handed to the ranks, not stored (log level)
  kLocal,   ///< for the process that read it only (--json, -np)
};

/// An option's value with its type erased: everything goes through text.
struct OptionCodec {
  OptionKind kind = OptionKind::kText;
  bool list = false;
  std::string expected;  ///< "a whole number, x >= 1"
  std::string range;     ///< "x >= 1", or "" where every value of the kind will do
  std::string limits;    ///< what the type can hold, for whole numbers
  std::vector<std::string> choices;
  std::function<bool(std::string_view)> put;  ///< sets, or appends to a list; false: refused
  std::function<void()> clear;                ///< empties a list or an optional
  std::function<std::vector<std::string>()>
      texts;  ///< the current value; empty: unset, or no element
};

/// One option: names, help and the bound variable. Made by OptionTable::Add, which returns it for
/// the setters: `table.Add("ranks", &o.ranks, {.min = 1}, "...").Short("np")`.
class Option {
 public:
  Option(std::string name, OptionCodec codec, std::string help);

  Option& Short(std::string name);         ///< "np" for -np N
  Option& Metavar(std::string word);       ///< placeholder of the value in help
  Option& Complete(Completion what);       ///< what the shell offers
  Option& Scope(OptionScope scope);        ///< default kStored
  Option& Required(bool required = true);  ///< must be given by flag or file

  const std::string& name() const { return name_; }  ///< long name without dashes
  std::string key() const;                           ///< name in files: '_' for '-'
  std::string flag() const;                          ///< "--name", or NAME of a positional
  const std::string& short_name() const { return short_; }
  const std::string& help() const { return help_; }
  const std::string& metavar() const { return metavar_; }
  const std::string& group() const { return group_; }
  const OptionCodec& codec() const { return codec_; }
  const std::vector<std::string>& default_texts() const { return default_; }
  Completion completion() const { return completion_; }
  OptionScope scope() const { return scope_; }
  bool required() const { return required_; }
  bool positional() const { return positional_; }
  bool in_files() const { return in_files_; }
  bool takes_value() const { return codec_.kind != OptionKind::kFlag; }
  bool was_set() const { return was_set_; }
  /// True where the bound variable differs from what it held when the option was added.
  bool IsChanged() const { return codec_.texts() != default_; }

 private:
  friend class OptionTable;
  std::string name_;
  std::string short_;
  std::string help_;
  std::string metavar_;
  std::string group_;
  OptionCodec codec_;
  std::vector<std::string> default_;
  Completion completion_ = Completion::kNone;
  OptionScope scope_ = OptionScope::kStored;
  bool required_ = false;
  bool positional_ = false;
  bool in_files_ = true;
  bool was_set_ = false;
};

/// Reading and writing one value of type T; the building block of codecs.
template <typename T>
struct ScalarCodec {
  OptionKind kind;
  std::string expected;
  std::string range;
  std::string limits;
  std::vector<std::string> choices;
  std::function<std::optional<T>(std::string_view)> parse;
  std::function<std::string(const T&)> format;
};

template <typename T>
struct IsDuration : std::false_type {};
template <typename Rep, typename Period>
struct IsDuration<std::chrono::duration<Rep, Period>> : std::true_type {};

template <typename T>
std::string FormatNumber(const T& value) {
  if constexpr (IsDuration<T>::value) {
    return FormatDuration(std::chrono::duration_cast<std::chrono::nanoseconds>(value));
  } else {
    return fmt::format("{}", value);
  }
}

/// "0 < x <= 1"; "" where both ends are open.
template <typename T>
std::string RangeText(const Bounds<T>& bounds, std::string (*format)(const T&) = FormatNumber<T>) {
  if (bounds.min && bounds.max) {
    return fmt::format("{} {} x {} {}", format(*bounds.min), bounds.min_exclusive ? "<" : "<=",
                       bounds.max_exclusive ? "<" : "<=", format(*bounds.max));
  }
  if (bounds.min)
    return fmt::format("x {} {}", bounds.min_exclusive ? ">" : ">=", format(*bounds.min));
  if (bounds.max)
    return fmt::format("x {} {}", bounds.max_exclusive ? "<" : "<=", format(*bounds.max));
  return "";
}

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  if constexpr (IsDuration<T>::value) {
    const auto nanoseconds = ParseDuration(text);
    if (!nanoseconds) return std::nullopt;
    const auto value = std::chrono::duration_cast<T>(*nanoseconds);
    // A part that the target's unit cannot hold is refused, not rounded away.
    if (!std::is_floating_point_v<typename T::rep> && value != *nanoseconds) return std::nullopt;
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto value = ParseReal(text);
    if (!value || *value > std::numeric_limits<T>::max() ||
        *value < std::numeric_limits<T>::lowest()) {
      return std::nullopt;
    }
    return static_cast<T>(*value);
  } else {
    const auto value = ParseInteger<T>(text);
    // TOML has no integer above 2^63 - 1: neither have our options.
    if (value && std::cmp_greater(*value, std::numeric_limits<std::int64_t>::max()))
      return std::nullopt;
    return value;
  }
}

template <typename T>
ScalarCodec<T> NumberCodec(const Bounds<T>& bounds) {
  ScalarCodec<T> codec;
  if constexpr (IsDuration<T>::value) {
    codec.kind = OptionKind::kDuration;
    codec.expected = "a duration such as 30s, 500ms or 2m";
  } else if constexpr (std::is_floating_point_v<T>) {
    codec.kind = OptionKind::kReal;
    codec.expected = "a number";
  } else {
    codec.kind = OptionKind::kInteger;
    codec.expected = "a whole number";
    constexpr auto kTomlMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    constexpr auto kTypeMax = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    codec.limits = fmt::format(
        "{} <= x <= {}", bounds.min.value_or(std::numeric_limits<T>::min()),
        bounds.max ? static_cast<std::uint64_t>(*bounds.max) : std::min(kTypeMax, kTomlMax));
  }
  codec.range = RangeText(bounds);
  codec.parse = [bounds](std::string_view text) -> std::optional<T> {
    const auto value = ParseNumber<T>(text);
    return value && bounds.Contain(*value) ? value : std::nullopt;
  };
  codec.format = [](const T& value) { return FormatNumber(value); };
  return codec;
}

ScalarCodec<bool> FlagCodec();
ScalarCodec<std::string> TextCodec(TextRule rule);

/// The names of an enumeration's values.
template <typename E>
ScalarCodec<E> ChoiceCodec(std::vector<std::pair<std::string, E>> names) {
  ScalarCodec<E> codec;
  codec.kind = OptionKind::kChoice;
  for (const auto& [name, value] : names) codec.choices.push_back(name);
  codec.range = fmt::format("{}", fmt::join(codec.choices, ", "));
  codec.expected = "one of";
  codec.parse = [names](std::string_view text) -> std::optional<E> {
    for (const auto& [name, value] : names) {
      if (name == text) return value;
    }
    return std::nullopt;
  };
  codec.format = [names](const E& current) -> std::string {
    for (const auto& [name, value] : names) {
      if (value == current) return name;
    }
    return "";
  };
  return codec;
}

template <std::integral T>
ScalarCodec<T> BytesCodec(const Bounds<T>& bounds) {
  ScalarCodec<T> codec;
  codec.kind = OptionKind::kBytes;
  codec.expected = "a size in bytes such as 4096, 64K or 1.5MiB";
  codec.range =
      RangeText<T>(bounds, [](const T& x) { return FormatBytes(static_cast<std::uint64_t>(x)); });
  codec.parse = [bounds](std::string_view text) -> std::optional<T> {
    const auto bytes = ParseBytes(text);
    if (!bytes || !std::in_range<T>(*bytes)) return std::nullopt;
    const auto value = static_cast<T>(*bytes);
    return bounds.Contain(value) ? std::optional<T>(value) : std::nullopt;
  };
  codec.format = [](const T& value) { return FormatBytes(static_cast<std::uint64_t>(value)); };
  return codec;
}

/// The parts of an OptionCodec that do not depend on the target.
template <typename T>
OptionCodec DescribeCodec(const ScalarCodec<T>& scalar) {
  OptionCodec codec;
  codec.kind = scalar.kind;
  codec.range = scalar.range;
  codec.limits = scalar.limits;
  codec.choices = scalar.choices;
  codec.expected = scalar.expected;
  if (scalar.kind == OptionKind::kChoice) {
    codec.expected += " " + scalar.range;
  } else if (!scalar.range.empty()) {
    codec.expected += ", " + scalar.range;
  }
  return codec;
}

template <typename T>
OptionCodec BindCodec(const ScalarCodec<T>& scalar, T* target) {
  OptionCodec codec = DescribeCodec(scalar);
  codec.put = [scalar, target](std::string_view text) {
    auto value = scalar.parse(text);
    if (value) *target = std::move(*value);
    return value.has_value();
  };
  codec.clear = [] {};
  codec.texts = [scalar, target] { return std::vector<std::string>{scalar.format(*target)}; };
  return codec;
}

template <typename T>
OptionCodec BindCodec(const ScalarCodec<T>& scalar, std::optional<T>* target) {
  OptionCodec codec = DescribeCodec(scalar);
  codec.put = [scalar, target](std::string_view text) {
    auto value = scalar.parse(text);
    if (value) *target = std::move(value);
    return target->has_value() && value.has_value();
  };
  codec.clear = [target] { target->reset(); };
  codec.texts = [scalar, target]() -> std::vector<std::string> {
    if (!*target) return {};
    return {scalar.format(**target)};
  };
  return codec;
}

template <typename T>
OptionCodec BindCodec(const ScalarCodec<T>& scalar, std::vector<T>* target) {
  OptionCodec codec = DescribeCodec(scalar);
  codec.list = true;
  codec.put = [scalar, target](std::string_view text) {
    auto value = scalar.parse(text);
    const bool taken = value.has_value();
    if (taken) target->push_back(std::move(*value));
    return taken;
  };
  codec.clear = [target] { target->clear(); };
  codec.texts = [scalar, target] {
    std::vector<std::string> texts;
    for (const T& value : *target) texts.push_back(scalar.format(value));
    return texts;
  };
  return codec;
}

/// The value type inside a list or an optional.
template <typename T>
struct ValueOf {
  using type = T;
};
template <typename T>
struct ValueOf<std::vector<T>> {
  using type = T;
};
template <typename T>
struct ValueOf<std::optional<T>> {
  using type = T;
};

/// What limits a target of type T: TextRule for text, Bounds of its value type for numbers.
template <typename T>
using RuleOf = std::conditional_t<std::is_same_v<typename ValueOf<T>::type, std::string>, TextRule,
                                  Bounds<typename ValueOf<T>::type>>;

}  // namespace ringward
