#include "learn/data/schema.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/nearest_name.h"

namespace ringward::learn {
namespace {

constexpr std::size_t kQuotedMax = 40;
constexpr std::size_t kNearestMax = 3;
/// Names compared for a suggestion at most, so that a typo in a file of 100,000 columns stays
/// cheap.
constexpr std::size_t kComparedMax = 20'000;

/// The part of a name that is compared, in small letters.
std::string Comparable(std::string_view name) {
  std::string small(name.substr(0, kQuotedMax));
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return small;
}

/// Finds columns by what the user calls them and hands out their roles.
class RoleAssigner {
 public:
  explicit RoleAssigner(Schema& schema) : schema_(schema) {
    for (std::size_t i = 0; i < schema.columns.size(); ++i) by_name_[schema.columns[i].name] = i;
  }

  Result<std::size_t> Find(const std::string& name, std::string_view flag) const {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return found->second;
    std::string what =
        schema_.file + ": no column " + Quoted(name) + " (" + std::string(flag) + ")";
    if (schema_.named) {
      std::vector<std::string> names;
      for (const Column& column : schema_.columns) names.push_back(column.name);
      what += NearestNames(name, names);
    } else {
      what += ": it has no header, so columns are numbered 1 .. " +
              std::to_string(schema_.file_columns);
    }
    return Error(Code::kInvalidInput, what);
  }

  Status Give(const std::string& name, std::string_view flag, Role role) {
    RINGWARD_ASSIGN(const std::size_t i, Find(name, flag));
    Column& column = schema_.columns[i];
    if (column.role != Role::kInput && column.role != role) {
      return Error(Code::kInvalidInput, schema_.file + ": column " + Quoted(name) +
                                            " is given two roles, the second by " +
                                            std::string(flag));
    }
    column.role = role;
    return Ok();
  }

 private:
  Schema& schema_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

Status AssignRoles(Schema& schema, const DataOptions& options) {
  RoleAssigner roles(schema);
  if (!options.label.empty()) RINGWARD_TRY(roles.Give(options.label, "--label", Role::kLabel));
  if (!options.time.empty()) RINGWARD_TRY(roles.Give(options.time, "--time", Role::kTime));
  for (const auto& name : options.id) RINGWARD_TRY(roles.Give(name, "--id", Role::kId));
  if (!options.kind.empty()) RINGWARD_TRY(roles.Give(options.kind, "--kind", Role::kId));
  for (const auto& name : options.drop) RINGWARD_TRY(roles.Give(name, "--drop", Role::kDrop));
  for (const auto& name : options.numeric) RINGWARD_TRY(roles.Find(name, "--numeric"));
  for (const auto& name : options.categorical) RINGWARD_TRY(roles.Find(name, "--categorical"));
  return Ok();
}

Status CheckUnique(const std::vector<std::string>& names, const std::string& file) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [at, fresh] = seen.emplace(names[i], i);
    if (!fresh) {
      return Error(Code::kInvalidInput,
                   file + ":1: column name " + Quoted(names[i]) + " is used twice (columns " +
                       std::to_string(at->second + 1) + " and " + std::to_string(i + 1) + ")");
    }
  }
  return Ok();
}

}  // namespace

const Column* Schema::Find(std::string_view name) const {
  const auto it = std::find_if(columns.begin(), columns.end(),
                               [&](const Column& column) { return column.name == name; });
  return it == columns.end() ? nullptr : &*it;
}

const Column* Schema::WithRole(Role role) const {
  const auto it = std::find_if(columns.begin(), columns.end(),
                               [&](const Column& column) { return column.role == role; });
  return it == columns.end() ? nullptr : &*it;
}

Result<Schema> MakeSchema(std::vector<std::string> names, bool named, const std::string& file,
                          const DataOptions& options,
                          const std::optional<std::string>& extra_label) {
  RINGWARD_TRY(CheckUnique(names, file));
  Schema schema;
  schema.named = named;
  schema.file = file;
  schema.file_columns = names.size();
  for (auto& name : names) schema.columns.push_back({std::move(name)});
  if (extra_label) schema.columns.push_back({*extra_label});
  RINGWARD_TRY(AssignRoles(schema, options));
  if (extra_label && schema.columns.back().role == Role::kInput) {
    schema.columns.back().role = options.label.empty() ? Role::kLabel : Role::kDrop;
  }
  for (Column& column : schema.columns) {
    if (column.role != Role::kDrop) column.slot = schema.slots++;
  }
  return schema;
}

Status CheckSameColumns(const Schema& schema, const std::vector<std::string>& names, bool named,
                        const std::string& file) {
  if (names.size() != schema.file_columns) {
    return Error(Code::kInvalidInput, file + ": has " + std::to_string(names.size()) +
                                          " columns where " + schema.file + " has " +
                                          std::to_string(schema.file_columns));
  }
  if (named != schema.named) {
    return Error(Code::kInvalidInput, file + ": has " + (named ? "a" : "no") + " header where " +
                                          schema.file + " has " + (named ? "none" : "one"));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == schema.columns[i].name) continue;
    return Error(Code::kInvalidInput, file + ": column " + std::to_string(i + 1) + " is " +
                                          Quoted(names[i]) + " where " + schema.file + " has " +
                                          Quoted(schema.columns[i].name));
  }
  return Ok();
}

std::string Quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text.substr(0, kQuotedMax)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      quoted.append({'\\', 'x', kHex[byte >> 4], kHex[byte & 15U]});
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + (text.size() > kQuotedMax ? "...\"" : "\"");
}

std::string NearestNames(std::string_view name, const std::vector<std::string>& names) {
  std::vector<std::pair<std::size_t, std::size_t>> near;  // distance, index
  const std::string wanted = Comparable(name);
  for (std::size_t i = 0; i < std::min(names.size(), kComparedMax); ++i) {
    const std::size_t distance = EditDistance(wanted, Comparable(names[i]));
    if (distance <= std::max<std::size_t>(2, wanted.size() / 2)) near.emplace_back(distance, i);
  }
  std::sort(near.begin(), near.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(near.size(), kNearestMax); ++i) {
    text += (i == 0 ? "; nearest: " : ", ") + Quoted(names[near[i].second]);
  }
  return text;
}

}  // namespace ringward::learn
