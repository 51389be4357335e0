#include "replay/fault_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "base/toml.h"
#include "replay/plan.h"

namespace ringward::replay {
namespace {

/// Reads keys of one table and refuses those that nobody asked for.
class Keys {
 public:
  Keys(const toml::table& table, const std::string& file) : table_(table), file_(file) {}

  template <typename T>
  Status Number(const char* key, T low, T high, T& out) {
    known_.emplace_back(key);
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return Ok();
    const std::optional<double> value = node->value<double>();
    const bool whole = !std::is_integral_v<T> || node->is_integer();
    if (!value || !whole ||
        !(*value >= static_cast<double>(low) && *value <= static_cast<double>(high))) {
      return Refuse(*node, key,
                    fmt::format("expected a {}number from {} to {}",
                                std::is_integral_v<T> ? "whole " : "", low, high));
    }
    out = static_cast<T>(*value);
    return Ok();
  }

  Result<std::optional<std::string>> Text(const char* key) {
    known_.emplace_back(key);
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return std::optional<std::string>();
    const auto value = node->value<std::string>();
    if (!value) return Refuse(*node, key, "expected a text");
    return std::optional(*value);
  }

  Status Ranks(const char* key, std::int32_t world, std::vector<std::int32_t>& out) {
    known_.emplace_back(key);
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return Ok();
    const toml::array* const array = node->as_array();
    if (array == nullptr) return Refuse(*node, key, "expected a list of ranks");
    for (const toml::node& element : *array) {
      const auto rank = element.value<std::int64_t>();
      if (!rank || *rank < 0 || *rank >= world) {
        return Refuse(element, key, fmt::format("expected ranks from 0 to {}", world - 1));
      }
      out.push_back(static_cast<std::int32_t>(*rank));
    }
    std::sort(out.begin(), out.end());
    return Ok();
  }

  /// Every key is one that was asked for.
  Status Finish(std::initializer_list<const char*> also = {}) const {
    for (const auto& [key, node] : table_) {
      const bool asked = std::find(known_.begin(), known_.end(), key.str()) != known_.end() ||
                         std::find(also.begin(), also.end(), key.str()) != also.end();
      if (!asked) return Refuse(node, std::string(key.str()).c_str(), "is not known here");
    }
    return Ok();
  }

  Error Refuse(const toml::node& node, const char* key, const std::string& what) const {
    const toml::source_position at = node.source().begin;
    return {Code::kInvalidInput,
            fmt::format("{}:{}:{}: {}: {}", file_, at.line, at.column, key, what)};
  }
  const toml::table& table() const { return table_; }

 private:
  const toml::table& table_;
  const std::string& file_;
  std::vector<std::string> known_;
};

Status ReadJob(const toml::table& table, const std::string& file, JobOptions& options) {
  Keys keys(table, file);
  RINGWARD_TRY(keys.Number<std::int32_t>("world", 2, 16'384, options.world));
  RINGWARD_TRY(keys.Number<std::int32_t>("ranks_per_host", 1, 1024, options.ranks_per_host));
  RINGWARD_TRY(keys.Number<std::int32_t>("stages", 1, 1024, options.stages));
  RINGWARD_TRY(keys.Number<std::int64_t>("steps", 1, 1'000'000'000, options.steps));
  RINGWARD_TRY(keys.Number<double>("step_seconds", 1e-4, 1e4, options.step_seconds));
  RINGWARD_TRY(keys.Number<double>("cv", 0.0, 0.5, options.cv));
  auto seed = static_cast<std::int64_t>(options.seed);
  RINGWARD_TRY(keys.Number<std::int64_t>("seed", 0, std::int64_t{1} << 53, seed));
  options.seed = static_cast<std::uint64_t>(seed);
  return keys.Finish();
}

Result<Fault> ReadFault(const toml::table& table, const std::string& file,
                        const JobOptions& options) {
  Keys keys(table, file);
  Fault fault;
  RINGWARD_ASSIGN(const std::optional<std::string> kind, keys.Text("kind"));
  if (!kind) return keys.Refuse(table, "kind", "is missing");
  auto parsed = ParseFaultKind(*kind);
  if (!parsed) return keys.Refuse(*table.get("kind"), "kind", parsed.error().what());
  fault.kind = *parsed;
  fault.length = UsualLength(fault.kind, options);
  RINGWARD_TRY(keys.Number<std::int64_t>("onset", 0, options.steps, fault.onset));
  RINGWARD_TRY(keys.Number<std::int64_t>("length", 1, 1'000'000'000, fault.length));
  RINGWARD_TRY(keys.Number<double>("severity", 0.0, 1000.0, fault.severity));
  RINGWARD_TRY(keys.Number<std::int32_t>("stage", 0, options.stages - 1, fault.stage));
  RINGWARD_TRY(keys.Ranks("ranks", options.world, fault.ranks));
  RINGWARD_ASSIGN(const std::optional<std::string> host, keys.Text("host"));
  if (host) {
    const signal::Topology topology = TopologyOf(options);
    for (std::size_t r = 0; r < topology.world(); ++r) {
      if (topology.place(r).host == *host) fault.ranks.push_back(static_cast<std::int32_t>(r));
    }
    fault.hosts = {*host};
    if (fault.ranks.empty())
      return keys.Refuse(*table.get("host"), "host", "the job has no such host");
  }
  RINGWARD_TRY(keys.Finish());
  return fault;
}

}  // namespace

Status ParseFaultPlan(std::string_view text, const std::string& file, JobOptions& options) {
  RINGWARD_ASSIGN(const toml::table plan, ParseToml(text, file, Code::kInvalidInput));
  Keys keys(plan, file);
  RINGWARD_TRY(keys.Finish({"job", "fault"}));
  if (const toml::table* const job = plan["job"].as_table())
    RINGWARD_TRY(ReadJob(*job, file, options));
  if (options.world % options.stages != 0) {
    return Error(Code::kInvalidInput, file + ": job.stages: must divide job.world");
  }
  const toml::array* const faults = plan["fault"].as_array();
  if (faults == nullptr) return Ok();
  for (const toml::node& node : *faults) {
    if (!node.is_table()) return keys.Refuse(node, "fault", "expected [[fault]] tables");
    RINGWARD_ASSIGN(const Fault fault, ReadFault(*node.as_table(), file, options));
    options.faults.push_back(fault);
  }
  std::stable_sort(options.faults.begin(), options.faults.end(),
                   [](const Fault& a, const Fault& b) { return a.onset < b.onset; });
  return Ok();
}

std::string FaultPlanText(const JobOptions& options) {
  toml::array faults;
  for (const Fault& fault : options.faults) {
    toml::table table{{"kind", NameOf(fault.kind)},
                      {"onset", fault.onset},
                      {"length", fault.length},
                      {"severity", fault.severity}};
    if (fault.stage >= 0) table.insert("stage", fault.stage);
    if (!fault.hosts.empty()) {
      table.insert("host", fault.hosts.front());
    } else if (!fault.ranks.empty()) {
      toml::array ranks;
      for (const std::int32_t rank : fault.ranks) ranks.push_back(rank);
      table.insert("ranks", std::move(ranks));
    }
    faults.push_back(std::move(table));
  }
  toml::table plan{{"job", toml::table{{"world", options.world},
                                       {"ranks_per_host", options.ranks_per_host},
                                       {"stages", options.stages},
                                       {"steps", options.steps},
                                       {"step_seconds", options.step_seconds},
                                       {"cv", options.cv},
                                       {"seed", static_cast<std::int64_t>(options.seed)}}}};
  if (!faults.empty()) plan.insert("fault", std::move(faults));
  std::ostringstream out;
  out << plan << '\n';
  return out.str();
}

}  // namespace ringward::replay
