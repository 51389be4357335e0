#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "base/toml.h"
#include "base/utf8.h"
#include "learn/data/preprocessor.h"

namespace ringward::learn {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::size_t kInputsMax = 10'000'000;

/// A TOML string that holds any bytes.
std::string Encode(std::string_view text) {
  std::string out = "\"";
  for (const char c : EscapeBytes(text)) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "\"";
}

/// The shortest decimal that reads back exactly, as a TOML float. REQUIRES: finite.
std::string Float(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  const std::string text(buffer.data(), end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

template <typename List, typename Write>
std::string Array(const List& list, Write write) {
  std::string text = "[";
  for (const auto& item : list) text += (text.size() == 1 ? "" : ", ") + write(item);
  return text + "]";
}

std::string_view NameOf(ColumnKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"numeric", "one-hot", "hashed", "dropped"};
  return kNames[static_cast<std::size_t>(kind)];
}

void WriteColumn(const ColumnModel& column, std::string& out) {
  out += "\n[[column]]\nname = " + Encode(column.name) +
         "\nposition = " + std::to_string(column.position) + "\nkind = \"" +
         std::string(NameOf(column.kind)) + "\"\n";
  if (column.kind == ColumnKind::kDropped) {
    out += "reason = " + Encode(column.reason) + "\n";
    if (!column.constant.empty()) out += "constant = " + Encode(column.constant) + "\n";
    return;
  }
  out += "missing = " + std::string(column.has_missing ? "true" : "false") + "\n";
  if (column.kind == ColumnKind::kNumeric) {
    const std::array<std::pair<std::string_view, double>, 7> numbers = {{{"mean", column.mean},
                                                                         {"sd", column.sd},
                                                                         {"median", column.median},
                                                                         {"min", column.min},
                                                                         {"max", column.max},
                                                                         {"q01", column.q01},
                                                                         {"q99", column.q99}}};
    for (const auto& [key, value] : numbers) out += std::string(key) + " = " + Float(value) + "\n";
  } else if (column.kind == ColumnKind::kOneHot) {
    out += "levels = " + Array(column.levels, Encode) + "\n";
  } else {
    out += "buckets = " + std::to_string(column.buckets) + "\n";
  }
}

}  // namespace

std::string Preprocessor::ToToml() const {
  std::string out = "format = " + std::to_string(kFormat) + "\n";
  out += "header = " + std::string(named_ ? "true" : "false") + "\n";
  out += "window = " + std::to_string(window_) + "\n";
  out += "time = " + Encode(time_) + "\n";
  out += "clip = " + Float(clip_) + "\n";
  out += "source_columns = " + Array(source_columns_, Encode) + "\n";
  out += "# Of every input in the order of the columns: input = (value - center) / scale.\n";
  out += "center = " + Array(inputs_, [](const InputInfo& i) { return Float(i.center); }) + "\n";
  out += "scale = " + Array(inputs_, [](const InputInfo& i) { return Float(i.scale); }) + "\n";
  for (const ColumnModel& column : columns_) WriteColumn(column, out);
  return out;
}

/// Reads values out of one table; the first that is missing or out of range is kept as the error.
class TomlFields {
 public:
  TomlFields(const toml::table& table, std::string where)
      : table_(table), where_(std::move(where)) {}

  std::int64_t Int(const char* key, std::int64_t low, std::int64_t high) {
    const auto value = table_[key].value_exact<std::int64_t>();
    if (value && *value >= low && *value <= high) return *value;
    Fail(key, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return low;
  }
  double Number(const char* key) {
    const auto value = table_[key].value_exact<double>();
    if (value && std::isfinite(*value)) return *value;
    Fail(key, "a finite number with a decimal point");
    return 0;
  }
  bool Bool(const char* key) {
    const auto value = table_[key].value_exact<bool>();
    if (!value) Fail(key, "true or false");
    return value.value_or(false);
  }
  std::string Text(const char* key) {
    const auto value = table_[key].value_exact<std::string_view>();
    if (!value) Fail(key, "a text");
    return UnescapeBytes(value.value_or(""));
  }
  template <typename T>
  std::vector<T> List(const char* key) {
    std::vector<T> list;
    const toml::array* const items = table_[key].as_array();
    if (items == nullptr) Fail(key, "a list");
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
      const auto value = items->get(i)->value_exact<T>();
      if (!value) Fail(key, "a list of one type");
      list.push_back(value.value_or(T{}));
    }
    return list;
  }
  std::vector<std::string> Texts(const char* key) {
    std::vector<std::string> list = List<std::string>(key);
    for (std::string& text : list) text = UnescapeBytes(text);
    return list;
  }
  void Fail(std::string_view key, std::string_view expected) {
    if (error_.empty()) {
      error_ = where_ + std::string(key) + " should be " + std::string(expected);
    }
  }
  const std::string& error() const { return error_; }

 private:
  const toml::table& table_;
  std::string where_;
  std::string error_;
};

/// Rebuilds a Preprocessor from a parsed document.
class PreprocessorToml {
 public:
  explicit PreprocessorToml(std::string file) : file_(std::move(file)) {}

  Result<Preprocessor> Read(const toml::table& document) {
    RINGWARD_TRY(ReadHead(document));
    const toml::array* const columns = document["column"].as_array();
    if (columns == nullptr) return Bad("column should be a list of tables");
    for (std::size_t i = 0; i < columns->size(); ++i) {
      const toml::table* const column = columns->get(i)->as_table();
      if (column == nullptr) return Bad("column should be a list of tables");
      RINGWARD_TRY(ReadColumn(*column, i));
    }
    RINGWARD_TRY(ReadScales(document));
    return std::move(made_);
  }

  Error Bad(const std::string& what) const { return {Code::kCorrupt, file_ + ": " + what}; }

 private:
  Status ReadHead(const toml::table& document) {
    TomlFields fields(document, "");
    const std::int64_t format = fields.Int("format", 1, 1'000'000);
    if (fields.error().empty() && format > kFormat) {
      return Error(Code::kInvalidInput, file_ + ": format " + std::to_string(format) +
                                            " is newer than this program reads (" +
                                            std::to_string(kFormat) + ")");
    }
    made_.named_ = fields.Bool("header");
    made_.window_ = static_cast<int>(fields.Int("window", 1, 100'000));
    made_.time_ = fields.Text("time");
    made_.clip_ = fields.Number("clip");
    if (made_.clip_ < 0) fields.Fail("clip", "0 or more");
    made_.source_columns_ = fields.Texts("source_columns");
    return fields.error().empty() ? Ok() : Status(Bad(fields.error()));
  }

  Status ReadColumn(const toml::table& table, std::size_t index) {
    TomlFields fields(table, "column " + std::to_string(index) + ": ");
    ColumnModel column;
    column.name = fields.Text("name");
    const auto sources = static_cast<std::int64_t>(made_.source_columns_.size());
    column.position = static_cast<std::size_t>(fields.Int("position", 0, sources - 1));
    const std::string kind = fields.Text("kind");
    if (kind == NameOf(ColumnKind::kDropped)) {
      column.kind = ColumnKind::kDropped;
      column.reason = fields.Text("reason");
      if (table.contains("constant")) column.constant = fields.Text("constant");
    } else {
      column.has_missing = fields.Bool("missing");
      ReadKind(kind, fields, column);
    }
    if (!fields.error().empty()) return Bad(fields.error());
    inputs_ += column.levels.size() + static_cast<std::size_t>(column.buckets) + 2;
    if (inputs_ > kInputsMax) return Bad("more than 10,000,000 inputs");
    made_.columns_.push_back(std::move(column));
    return Ok();
  }

  static void ReadKind(const std::string& kind, TomlFields& fields, ColumnModel& column) {
    if (kind == NameOf(ColumnKind::kNumeric)) {
      column.kind = ColumnKind::kNumeric;
      column.mean = fields.Number("mean");
      column.sd = fields.Number("sd");
      column.median = fields.Number("median");
      column.min = fields.Number("min");
      column.max = fields.Number("max");
      column.q01 = fields.Number("q01");
      column.q99 = fields.Number("q99");
    } else if (kind == NameOf(ColumnKind::kOneHot)) {
      column.kind = ColumnKind::kOneHot;
      column.levels = fields.Texts("levels");
      const std::set<std::string_view> unique(column.levels.begin(), column.levels.end());
      if (unique.empty() || unique.size() < column.levels.size()) {
        fields.Fail("levels", "a list of different texts");
      }
    } else if (kind == NameOf(ColumnKind::kHashed)) {
      column.kind = ColumnKind::kHashed;
      column.buckets = static_cast<int>(fields.Int("buckets", 2, 65'536));
    } else {
      fields.Fail("kind", "one of numeric, one-hot, hashed, dropped");
    }
  }

  Status ReadScales(const toml::table& document) {
    made_.LayOutInputs();
    TomlFields fields(document, "");
    const auto center = fields.List<double>("center");
    const auto scale = fields.List<double>("scale");
    if (!fields.error().empty()) return Bad(fields.error());
    const std::size_t n = made_.inputs_.size();
    if (n == 0 || center.size() != n || scale.size() != n) {
      return Bad("center and scale should have one number for each of " + std::to_string(n) +
                 " inputs");
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(center[i]) || !std::isfinite(scale[i]) || !(scale[i] > 0)) {
        return Bad("center should be finite and scale above 0 (input " + std::to_string(i) + ")");
      }
      made_.inputs_[i].center = center[i];
      made_.inputs_[i].scale = scale[i];
    }
    return Ok();
  }

  std::string file_;
  std::size_t inputs_ = 0;
  Preprocessor made_;
};

Result<Preprocessor> Preprocessor::FromToml(std::string_view text, const std::string& file) {
  RINGWARD_ASSIGN(const toml::table table, ParseToml(text, file, Code::kCorrupt));
  return PreprocessorToml(file).Read(table);
}

}  // namespace ringward::learn
