#include "ringward/score_sheet_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/table_printer.h"

namespace ringward::cli {
namespace {

using replay::ScoreSheet;
using replay::Tally;

std::string Percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

Json TallyJson(const Tally& tally) {
  return {{"faults", tally.planted},
          {"recall", tally.recall()},
          {"right_culprit", tally.culprit_share()},
          {"right_kind", tally.kind_share()},
          {"median_delay_steps", tally.MedianDelay()}};
}

void AddRow(TablePrinter& table, const std::string& name, const Tally& tally) {
  table.AddRow({name, std::to_string(tally.planted), Percent(tally.recall()),
                Percent(tally.culprit_share()), Percent(tally.kind_share()),
                std::to_string(tally.MedianDelay())});
}

double AlarmsPerDay(const ScoreSheet& sheet) {
  return sheet.days() > 0.0 ? static_cast<double>(sheet.false_incidents()) / sheet.days() : 0.0;
}

}  // namespace

Json ScoreJson(const ScoreSheet& sheet) {
  Json document = TallyJson(sheet.all());
  document["runs"] = sheet.runs();
  document["days"] = sheet.days();
  document["precision"] = sheet.precision();
  document["f1"] = sheet.f1();
  document["false_incidents"] = sheet.false_incidents();
  document["false_incidents_per_day"] = AlarmsPerDay(sheet);
  Json kinds = Json::object();
  for (const auto& [kind, tally] : sheet.by_kind()) kinds[NameOf(kind)] = TallyJson(tally);
  document["kinds"] = std::move(kinds);
  return document;
}

std::string ScoreText(const ScoreSheet& sheet) {
  TablePrinter table({{"fault"},
                      {"planted"},
                      {"found"},
                      {"culprit right"},
                      {"kind right"},
                      {"median delay, steps"}});
  for (const auto& [kind, tally] : sheet.by_kind()) AddRow(table, NameOf(kind), tally);
  AddRow(table, "all", sheet.all());
  return table.ToString() +
         fmt::format(
             "precision {:.3f}, recall {:.3f}, F1 {:.3f}; {} false incidents in {:.3g} days\n",
             sheet.precision(), sheet.all().recall(), sheet.f1(), sheet.false_incidents(),
             sheet.days());
}

std::string ComparisonText(const std::string& one, const ScoreSheet& a, const std::string& other,
                           const ScoreSheet& b) {
  TablePrinter table({{""}, {one}, {other}});
  const auto add = [&](const std::string& name, const auto& figure) {
    table.AddRow({name, figure(a), figure(b)});
  };
  add("precision", [](const ScoreSheet& s) { return fmt::format("{:.3f}", s.precision()); });
  add("recall", [](const ScoreSheet& s) { return fmt::format("{:.3f}", s.all().recall()); });
  add("F1", [](const ScoreSheet& s) { return fmt::format("{:.3f}", s.f1()); });
  add("culprit right", [](const ScoreSheet& s) { return Percent(s.all().culprit_share()); });
  add("kind right", [](const ScoreSheet& s) { return Percent(s.all().kind_share()); });
  add("median delay, steps",
      [](const ScoreSheet& s) { return std::to_string(s.all().MedianDelay()); });
  add("false incidents", [](const ScoreSheet& s) { return std::to_string(s.false_incidents()); });
  add("false incidents a day",
      [](const ScoreSheet& s) { return fmt::format("{:.3g}", AlarmsPerDay(s)); });
  for (const auto& [kind, tally] : a.by_kind()) {
    const auto there = b.by_kind().find(kind);
    table.AddRow({std::string("found: ") + NameOf(kind), Percent(tally.recall()),
                  there == b.by_kind().end() ? "-" : Percent(there->second.recall())});
  }
  return table.ToString();
}

}  // namespace ringward::cli
