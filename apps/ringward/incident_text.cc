#include "ringward/incident_text.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

namespace ringward::cli {
namespace {

std::vector<signal::Cause> Ordered(std::vector<signal::Cause> causes) {
  std::stable_sort(
      causes.begin(), causes.end(),
      [](const signal::Cause& a, const signal::Cause& b) { return a.confidence > b.confidence; });
  return causes;
}

/// UTC; null where steps have no timestamps and their times were added up from 0.
Json TimeJson(signal::Time time) {
  constexpr auto kAnyDate = std::chrono::hours(24 * 366);
  if (time < kAnyDate) return nullptr;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(seconds.count())));
}

}  // namespace

Json IncidentJson(const signal::Cause& cause) {
  Json evidence = Json::array();
  for (const signal::Evidence& e : cause.evidence) {
    evidence.push_back({{"file", e.file}, {"line", e.line}, {"text", e.text}});
  }
  return {{"category", NameOf(cause.category)},
          {"cause", cause.cause},
          {"summary", cause.summary},
          {"culprit_ranks", cause.culprit_ranks},
          {"culprit_hosts", cause.culprit_hosts},
          {"victim_ranks", cause.victim_ranks},
          {"confidence", cause.confidence},
          {"evidence", std::move(evidence)},
          {"remedy", cause.remedy},
          {"action", NameOf(cause.action)},
          {"started_at", TimeJson(cause.started)},
          {"since_step", cause.since_step},
          {"found_step", cause.found_step},
          {"over", cause.over},
          {"lost_seconds", cause.lost_seconds},
          {"speedup_without", cause.speedup_without}};
}

Json IncidentsJson(const std::vector<signal::Cause>& causes) {
  Json incidents = Json::array();
  for (const signal::Cause& cause : Ordered(causes)) incidents.push_back(IncidentJson(cause));
  return {{"healthy", std::none_of(causes.begin(), causes.end(), signal::IsIncident)},
          {"incidents", std::move(incidents)}};
}

Json InputsJson(const std::vector<ingest::InputReport>& inputs) {
  Json all = Json::array();
  for (const ingest::InputReport& input : inputs) {
    all.push_back({{"file", input.file},
                   {"format", input.format},
                   {"lines_used", input.lines_used},
                   {"lines_other", input.lines_other},
                   {"lines_malformed", input.lines_malformed}});
  }
  return all;
}

Json FindingsJson(const std::vector<signal::Finding>& findings) {
  Json all = Json::array();
  for (const signal::Finding& finding : findings) {
    all.push_back({{"id", finding.id},
                   {"kind", NameOf(finding.kind)},
                   {"detector", finding.detector},
                   {"ranks", finding.ranks},
                   {"step", finding.step},
                   {"since_step", finding.since_step},
                   {"p_value", finding.p_value},
                   {"effect", finding.effect},
                   {"over", finding.over},
                   {"evidence", finding.evidence}});
  }
  return all;
}

void PrintIncidents(const std::vector<signal::Cause>& causes, Output& out) {
  std::size_t told = 0;
  for (const signal::Cause& cause : Ordered(causes)) {
    if (!signal::IsIncident(cause)) continue;
    ++told;
    out.Print("{}{}\n", told > 1 ? "\n" : "", cause.summary);
    out.Print("  {}, since step {}, found at step {}{}, confidence {:.0f} %\n",
              NameOf(cause.category), cause.since_step, cause.found_step,
              cause.over ? ", over" : "", 100.0 * cause.confidence);
    for (const signal::Evidence& evidence : cause.evidence) {
      if (evidence.line > 0)
        out.Print("  {}:{}: {}\n", evidence.file, evidence.line, evidence.text);
    }
    out.Print("  what now: {}\n", cause.remedy);
  }
  if (told == 0) out.Print("healthy: nothing stands out\n");
}

}  // namespace ringward::cli
