#include "ringward/top_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <vector>

#include "base/table_printer.h"

namespace ringward::cli {
namespace {

constexpr const char* kRed = "\x1b[31m";
constexpr const char* kGreen = "\x1b[32m";
constexpr const char* kPlain = "\x1b[0m";

/// A member of an object, null where there is none.
const Json& At(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

const Json& At(const Json& array, std::size_t place) {
  static const Json kNull;
  return array.is_array() && place < array.size() ? array[place] : kNull;
}

/// Not finite numbers come as text.
std::optional<double> Number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "+Inf") return std::numeric_limits<double>::infinity();
  if (value == "-Inf") return -std::numeric_limits<double>::infinity();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::string Text(const Json& value) { return value.is_string() ? value.get<std::string>() : "-"; }

std::string Scaled(const Json& value, double factor) {
  const auto number = Number(value);
  return number ? fmt::format("{:.4g}", factor * *number) : "-";
}

const char* FieldOf(TopOrder order) {
  switch (order) {
    case TopOrder::kSelf:
      return "self_seconds";
    case TopOrder::kWait:
      return "wait_seconds";
    case TopOrder::kLoss:
      return "local_loss";
    case TopOrder::kMemory:
      return "memory_bytes";
    case TopOrder::kRank:
      break;
  }
  return "";
}

/// Highest first, and above all what is no number at all; what is not known comes last.
double Weight(const Json& value) {
  const auto number = Number(value);
  if (!number) return -std::numeric_limits<double>::infinity();
  return std::isnan(*number) ? std::numeric_limits<double>::infinity() : *number;
}

std::vector<std::size_t> Order(const Json& ranks, TopOrder order) {
  std::vector<std::size_t> all(At(ranks, "state").is_array() ? At(ranks, "state").size() : 0);
  std::iota(all.begin(), all.end(), 0U);
  if (order == TopOrder::kRank) return all;
  const Json& field = At(ranks, FieldOf(order));
  std::stable_sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) {
    return Weight(At(field, a)) > Weight(At(field, b));
  });
  return all;
}

std::string RankTable(const Json& ranks, const TopView& view) {
  TablePrinter table({{"rank", Align::kRight},
                      {"state"},
                      {"phase"},
                      {"step", Align::kRight},
                      {"self ms", Align::kRight},
                      {"data ms", Align::kRight},
                      {"wait ms", Align::kRight},
                      {"loss", Align::kRight},
                      {"memory MiB", Align::kRight}});
  const std::vector<std::size_t> order = Order(ranks, view.order);
  const std::size_t shown = std::min(order.size(), view.ranks);
  for (const std::size_t rank : std::span(order).first(shown)) {
    const auto cell = [&](const char* field) -> const Json& { return At(At(ranks, field), rank); };
    const bool waits = cell("in_collective") == true;
    table.AddRow({std::to_string(rank), Text(cell("state")),
                  waits ? "collective" : Text(cell("phase")), Scaled(cell("step"), 1.0),
                  Scaled(cell("self_seconds"), 1e3), Scaled(cell("data_seconds"), 1e3),
                  Scaled(cell("wait_seconds"), 1e3), Scaled(cell("local_loss"), 1.0),
                  Scaled(cell("memory_bytes"), 1.0 / (1U << 20U))});
  }
  std::string text = shown == 0 ? "" : table.ToString(2);
  if (shown < order.size()) text += fmt::format("  … and {} more ranks\n", order.size() - shown);
  return text;
}

}  // namespace

std::string TopText(const Json& job, const TopView& view) {
  const auto paint = [&](const char* color, const std::string& text) {
    return view.color ? color + text + kPlain : text;
  };
  const Json& incidents = At(job, "incidents");
  const bool ended = At(job, "ended") == true;
  const bool open = incidents.is_array() && !incidents.empty();
  std::string state = ended ? "ended" : open ? paint(kRed, "in trouble") : paint(kGreen, "healthy");
  std::string text = fmt::format(
      "{}  {}  {} of {} ranks live, {} silent, {} unseen  step {}  {} ms a step\n",
      Text(At(job, "job")), state, Scaled(At(job, "living"), 1.0), Scaled(At(job, "world"), 1.0),
      Scaled(At(job, "silent"), 1.0), Scaled(At(job, "blind"), 1.0), Scaled(At(job, "step"), 1.0),
      Scaled(At(job, "step_seconds"), 1e3));
  for (std::size_t i = 0; open && i < incidents.size(); ++i) {
    const Json& incident = incidents[i];
    text += "  " + paint(kRed, "! " + Text(At(incident, "summary"))) +
            "\n    what now: " + Text(At(incident, "remedy")) + "\n";
  }
  return text + RankTable(At(job, "by_rank"), view);
}

}  // namespace ringward::cli
