#include "detect/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/nearest_name.h"
#include "base/text_value.h"
#include "base/toml.h"
#include "signal/metric.h"

namespace ringward::detect {
namespace {

constexpr const char* kThreshold = "threshold";
constexpr std::size_t kNameMost = 40;

/// A rule that is one number: an option, and a key of a file of rules.
struct NumberRule {
  const char* name;
  double DetectOptions::*value;
  double min, max;
  const char* help;
};
constexpr NumberRule kNumberRules[] = {
    {"false-alarms-per-day", &DetectOptions::false_alarms_per_day, 1e-6, 1e6,
     "alarms that a healthy job may give by chance in a day"},
    {"worth", &DetectOptions::worth, 0.0, 1.0, "slowness below this share of a step is not told"},
    {"silence-seconds", &DetectOptions::silence_seconds, 0.1, 86'400.0,
     "how long a rank may not move while others wait for it"},
};

/// The plain keys of a TOML table, each taken once by name: what is wrong with one is told with its
/// place, and so is a key that nobody took. `a_b` is `a-b`.
class Keys {
 public:
  Keys(const toml::table& table, std::string file) : table_(table), file_(std::move(file)) {}

  Error At(const toml::source_region& where, const std::string& what) const {
    return {Code::kInvalidInput,
            fmt::format("{}:{}:{}: {}", file_, where.begin.line, where.begin.column, what)};
  }
  /// Whether it is there and in [min, max].
  Result<bool> Number(const char* name, double min, double max, double& value) {
    const toml::node* const node = Find(name);
    if (node == nullptr) return false;
    const auto given = node->value<double>();
    if (!given || !(*given >= min && *given <= max)) {
      return At(node->source(),
                fmt::format("{}: expected a number, {:g} <= x <= {:g}", name, min, max));
    }
    value = *given;
    return true;
  }
  Result<bool> Text(const char* name, std::string& value) {
    const toml::node* const node = Find(name);
    if (node == nullptr) return false;
    if (!node->is_string()) return At(node->source(), fmt::format("{}: expected a text", name));
    value = node->value_or(std::string());
    return true;
  }
  /// One of the first `count` values of an enumeration, by its name.
  template <typename E>
  Result<bool> Choice(const char* name, std::size_t count, E& value) {
    std::string text;
    RINGWARD_ASSIGN(const bool there, Text(name, text));
    if (!there) return false;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.emplace_back(NameOf(static_cast<E>(i)));
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) {
      return At(Find(name)->source(),
                fmt::format("{}: got '{}', expected one of {}{}", name, Printable(text, 100),
                            fmt::join(names, ", "), DidYouMean(text, names)));
    }
    value = static_cast<E>(found - names.begin());
    return true;
  }
  Status CheckAllTaken() const {
    for (const auto& [key, node] : table_) {
      const std::string name = WithDashes(key.str());
      if (std::find(taken_.begin(), taken_.end(), name) == taken_.end()) {
        return At(key.source(), fmt::format("unknown key {}{}", Printable(key.str(), 100),
                                            DidYouMean(name, taken_)));
      }
    }
    return Ok();
  }

 private:
  static std::string WithDashes(std::string_view key) {
    std::string name(key);
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
  }
  const toml::node* Find(const char* name) {
    if (std::find(taken_.begin(), taken_.end(), name) == taken_.end()) taken_.emplace_back(name);
    for (const auto& [key, node] : table_) {
      if (WithDashes(key.str()) == name) return &node;
    }
    return nullptr;
  }

  const toml::table& table_;
  const std::string file_;
  std::vector<std::string> taken_;
};

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kNameMost &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

Result<ThresholdRule> ParseThreshold(const toml::table& given, const std::string& file) {
  constexpr double kLimitMost = 1e18;
  ThresholdRule rule;
  Keys keys(given, file);
  RINGWARD_TRY(keys.Text("name", rule.name));
  RINGWARD_ASSIGN(const bool metric, keys.Choice("metric", signal::kKnownMetrics, rule.metric));
  double limit = 0.0;
  RINGWARD_ASSIGN(const bool above, keys.Number("above", -kLimitMost, kLimitMost, limit));
  if (above) rule.above = limit;
  RINGWARD_ASSIGN(const bool below, keys.Number("below", -kLimitMost, kLimitMost, limit));
  if (below) rule.below = limit;
  RINGWARD_TRY(keys.Number("for-seconds", 0.0, 86'400.0, rule.for_seconds));
  RINGWARD_TRY(keys.Choice("severity", signal::kSeverities, rule.severity));
  RINGWARD_TRY(keys.Choice("category", signal::kCategories, rule.category));
  RINGWARD_TRY(keys.CheckAllTaken());
  const auto refuse = [&](const std::string& what) { return keys.At(given.source(), what); };
  if (!IsName(rule.name)) {
    return refuse(fmt::format(
        "threshold: name: got '{}', expected 1 to {} lower-case letters, digits and '-'",
        Printable(rule.name, 100), kNameMost));
  }
  if (!metric) return refuse("threshold: metric is missing");
  if (above == below) return refuse("threshold: expected one of above and below");
  return rule;
}

Result<std::vector<ThresholdRule>> ParseThresholds(const toml::node& node, const Keys& keys,
                                                   const std::string& file) {
  const auto refuse = [&](const toml::node& where) {
    return keys.At(where.source(), "threshold: expected tables, each begun by [[threshold]]");
  };
  const toml::array* const list = node.as_array();
  if (list == nullptr) return refuse(node);
  if (list->size() > kThresholdRulesMost)
    return keys.At(node.source(), fmt::format("threshold: more than {}", kThresholdRulesMost));
  std::vector<ThresholdRule> rules;
  for (const toml::node& each : *list) {
    if (!each.is_table()) return refuse(each);
    RINGWARD_ASSIGN(ThresholdRule rule, ParseThreshold(*each.as_table(), file));
    const bool twice = std::any_of(rules.begin(), rules.end(), [&](const ThresholdRule& other) {
      return other.name == rule.name;
    });
    if (twice) return keys.At(each.source(), "threshold: name: '" + rule.name + "' is given twice");
    rules.push_back(std::move(rule));
  }
  return rules;
}

std::string TextOf(const ThresholdRule& rule) {
  return fmt::format(
      "\n[[threshold]]\nname = \"{}\"\nmetric = \"{}\"\n{} = {}\nfor_seconds = {}\n"
      "severity = \"{}\"\ncategory = \"{}\"\n",
      rule.name, NameOf(rule.metric), rule.above ? "above" : "below",
      rule.above ? *rule.above : *rule.below, rule.for_seconds, NameOf(rule.severity),
      NameOf(rule.category));
}

}  // namespace

void AddRuleOptions(OptionTable& table, DetectOptions& options) {
  for (const NumberRule& rule : kNumberRules) {
    table.Add(rule.name, &(options.*rule.value), {.min = rule.min, .max = rule.max}, rule.help);
  }
}

Result<DetectOptions> ParseRules(std::string_view text, const std::string& file,
                                 const DetectOptions& start) {
  DetectOptions options = start;
  options.thresholds.clear();
  const std::string shown = Printable(file, 300);
  RINGWARD_ASSIGN(toml::table parsed, ParseToml(text, shown, Code::kInvalidInput));
  Keys keys(parsed, shown);
  if (const toml::node* const given = parsed.get(kThreshold)) {
    RINGWARD_ASSIGN(options.thresholds, ParseThresholds(*given, keys, shown));
    parsed.erase(kThreshold);
  }
  for (const NumberRule& rule : kNumberRules) {
    RINGWARD_TRY(keys.Number(rule.name, rule.min, rule.max, options.*rule.value));
  }
  RINGWARD_TRY(keys.CheckAllTaken());
  return options;
}

std::string RulesText(const DetectOptions& options) {
  std::string text;
  for (const NumberRule& rule : kNumberRules) {
    std::string key = rule.name;
    std::replace(key.begin(), key.end(), '-', '_');
    text += fmt::format("{} = {}\n", key, options.*rule.value);
  }
  for (const ThresholdRule& rule : options.thresholds) text += TextOf(rule);
  return text;
}

}  // namespace ringward::detect
