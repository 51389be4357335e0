#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/nearest_name.h"
#include "base/options.h"
#include "base/system_error.h"
#include "base/toml.h"
#include "base/utf8.h"

namespace ringward {
namespace {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;

Error At(const std::string& file, const toml::source_region& where, std::string_view what) {
  return {Code::kInvalidInput,
          fmt::format("{}:{}:{}: {}", file, where.begin.line, where.begin.column, what)};
}

/// A float as TOML writes it: with a point or an exponent, so that it stays a float.
std::string TomlReal(double value) {
  std::string text = FormatReal(value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

/// The node as text for PutText, or what it is ("a table") where this kind cannot come from it.
struct NodeText {
  bool usable = false;
  std::string text;
};

NodeText TextOf(const toml::node& node, OptionKind kind) {
  using enum OptionKind;
  if (const auto* text = node.as_string()) {
    const bool usable = kind == kText || kind == kChoice || kind == kDuration || kind == kBytes;
    return {usable, usable ? text->get() : fmt::format("the text '{}'", Printable(text->get()))};
  }
  if (const auto* whole = node.as_integer()) {
    const bool usable = kind != kFlag;
    const std::string text = fmt::format("{}", whole->get());
    return {usable, usable ? text : "'" + text + "'"};
  }
  if (const auto* real = node.as_floating_point()) {
    const bool usable = kind == kReal || kind == kText;
    if (!usable) return {false, "'" + TomlReal(real->get()) + "'"};
    return {true, kind == kReal ? FormatReal(real->get()) : TomlReal(real->get())};
  }
  if (const auto* flag = node.as_boolean()) {
    const std::string text = flag->get() ? "true" : "false";
    const bool usable = kind == kFlag || kind == kText;
    return {usable, usable ? text : "'" + text + "'"};
  }
  if (node.is_array()) return {false, "a list"};
  return {false, node.is_table() ? "a table" : "a date or time"};
}

Status PutNode(Option& option, const toml::node& node, const std::string& file,
               std::string_view key) {
  const NodeText value = TextOf(node, option.codec().kind);
  if (!value.usable) {
    return At(file, node.source(),
              fmt::format("{}: got {}, expected {}", key, value.text, option.codec().expected));
  }
  auto put = PutText(option, value.text, /*split_commas=*/false);
  if (!put) return At(file, node.source(), fmt::format("{}: {}", key, put.error().what()));
  return Ok();
}

std::string WithDashes(std::string_view key) {
  std::string name(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

/// True where `path` is `section` or one of its parents: "simulate" of "simulate.table".
bool LeadsTo(const std::string& path, const std::string& section) {
  return section == path || section.starts_with(path + ".");
}

void AppendUnicode(std::string* out, unsigned char byte) { *out += fmt::format("\\u{:04X}", byte); }

std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    std::size_t length = 1;
    if (byte == '"' || byte == '\\') {
      out += '\\';
      out += text[at];
    } else if (byte < 0x20 || byte == 0x7f) {
      AppendUnicode(&out, byte);
    } else if (byte < 0x80) {
      out += text[at];
    } else if (length = Utf8Length(text.substr(at)); length > 0) {
      out += text.substr(at, length);
    } else {
      out += "\xEF\xBF\xBD";  // U+FFFD itself, as it will be read and written again
      length = 1;
    }
    at += length;
  }
  return out + '"';
}

std::string TomlValue(const OptionCodec& codec, const std::string& text) {
  switch (codec.kind) {
    case OptionKind::kFlag:
    case OptionKind::kInteger:
      return text;
    case OptionKind::kReal:
      return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
    default:
      return Quote(text);
  }
}

Result<std::string> ReadSmallFile(const std::string& path) {
  const auto problem = [&] {
    const bool machine = errno == EACCES || errno == EIO || errno == EMFILE || errno == ENFILE;
    return Error(machine ? Code::kResource : Code::kInvalidInput,
                 fmt::format("{}: {}", Printable(path, 300), SystemMessage(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (file == nullptr) return problem();
  std::string text(kLargestFile + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return problem();
  if (text.size() > kLargestFile) {
    return Error(Code::kInvalidInput, fmt::format("{}: larger than 1 MiB, which is no option file",
                                                  Printable(path, 300)));
  }
  return text;
}

/// Walks a parsed file and applies the keys that concern one table.
class TomlReader {
 public:
  TomlReader(std::deque<Option>* options, const std::string& file, const std::string& own,
             const std::vector<std::string>& others)
      : options_(options), file_(file), own_(own), others_(others) {}

  /// `path` is the dotted name of `table`; "" at the top.
  Status Read(const toml::table& table, const std::string& path) {
    const bool applies = path.empty() || path == own_;
    std::vector<const toml::key*> given;
    for (const auto& [key, node] : table) {
      if (node.is_table()) {
        if (!IsSection(Child(path, key))) return UnknownSection(key, Child(path, key));
      } else if (applies) {
        RINGWARD_TRY(RefuseSecondSpelling(given, key));
        RINGWARD_TRY(Put(key, node));
        given.push_back(&key);
      } else {
        return UnknownKey(key);  // directly in [simulate], when the section is [simulate.table]
      }
    }
    for (const auto& [key, node] : table) {  // sections after plain keys, which they override
      const std::string child = Child(path, key);
      if (node.is_table() && LeadsTo(child, own_)) RINGWARD_TRY(Read(*node.as_table(), child));
    }
    return Ok();
  }

 private:
  static std::string Child(const std::string& path, const toml::key& key) {
    return path.empty() ? std::string(key.str()) : path + "." + std::string(key.str());
  }

  bool IsSection(const std::string& path) const {
    if (own_.empty()) return false;
    return LeadsTo(path, own_) || std::any_of(others_.begin(), others_.end(),
                                              [&](auto& other) { return LeadsTo(path, other); });
  }

  Error UnknownSection(const toml::key& key, const std::string& path) const {
    std::vector<std::string> known = others_;
    if (!own_.empty()) known.push_back(own_);
    return At(file_, key.source(),
              fmt::format("unknown section {}{}", Printable(path), DidYouMean(path, known)));
  }

  /// toml++ refuses the same key twice, but not `a-b` beside `a_b`.
  Status RefuseSecondSpelling(const std::vector<const toml::key*>& given, const toml::key& key) {
    for (const toml::key* other : given) {
      if (WithDashes(other->str()) != WithDashes(key.str())) continue;
      return At(file_, key.source(),
                fmt::format("{} is given twice, as {} too", Printable(key.str()),
                            Printable(other->str())));
    }
    return Ok();
  }

  Error UnknownKey(const toml::key& key) const {
    std::vector<std::string> known;
    for (const Option& option : *options_) {
      if (option.in_files()) known.push_back(option.key());
    }
    std::string typed(key.str());
    std::replace(typed.begin(), typed.end(), '-', '_');
    return At(file_, key.source(),
              fmt::format("unknown key {}{}", Printable(key.str()), DidYouMean(typed, known)));
  }

  Status Put(const toml::key& key, const toml::node& node) {
    const std::string name = WithDashes(key.str());
    const auto found = std::find_if(options_->begin(), options_->end(), [&](auto& option) {
      return option.in_files() && option.name() == name;
    });
    if (found == options_->end()) return UnknownKey(key);
    Option& option = *found;
    option.codec().clear();
    if (const auto* list = node.as_array(); list != nullptr && option.codec().list) {
      for (const toml::node& element : *list) RINGWARD_TRY(PutNode(option, element, file_, key));
    } else {
      RINGWARD_TRY(PutNode(option, node, file_, key));
    }
    set_.push_back(&option);
    return Ok();
  }

 public:
  std::vector<Option*> set_;

 private:
  std::deque<Option>* options_;
  const std::string& file_;
  const std::string& own_;
  const std::vector<std::string>& others_;
};

}  // namespace

Status OptionTable::ApplyToml(std::string_view text, const std::string& file_name) {
  const std::string shown = Printable(file_name, 300);
  RINGWARD_ASSIGN(const toml::table parsed, ParseToml(text, shown, Code::kInvalidInput));
  TomlReader reader(&options_, shown, section_, other_sections_);
  RINGWARD_TRY(reader.Read(parsed, ""));
  for (Option* option : reader.set_) option->was_set_ = true;
  return Ok();
}

Status OptionTable::ApplyTomlFile(const std::string& path) {
  RINGWARD_ASSIGN(const std::string text, ReadSmallFile(path));
  return ApplyToml(text, path);
}

std::string OptionTable::ToToml(OptionScope widest) const {
  std::string out;
  for (const Option& option : options_) {
    if (option.scope() > widest || !option.in_files()) continue;
    const std::vector<std::string> texts = option.codec().texts();
    std::vector<std::string> values;
    values.reserve(texts.size());
    for (const std::string& text : texts) values.push_back(TomlValue(option.codec(), text));
    if (option.codec().list) {
      out += fmt::format("{} = [{}]\n", option.key(), fmt::join(values, ", "));
    } else if (!values.empty()) {
      out += fmt::format("{} = {}\n", option.key(), values.front());
    }
  }
  return out;
}

}  // namespace ringward
