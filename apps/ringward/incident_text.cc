#include "ringward/incident_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "watch/news_json.h"

namespace ringward::cli {
namespace {

std::vector<signal::Cause> Ordered(std::vector<signal::Cause> causes) {
  std::stable_sort(
      causes.begin(), causes.end(),
      [](const signal::Cause& a, const signal::Cause& b) { return a.confidence > b.confidence; });
  return causes;
}

}  // namespace

Json IncidentsJson(const std::vector<signal::Cause>& causes) {
  Json incidents = Json::array();
  for (const signal::Cause& cause : Ordered(causes))
    incidents.push_back(watch::IncidentJson(cause));
  return {{"healthy", std::none_of(causes.begin(), causes.end(), signal::IsIncident)},
          {"incidents", std::move(incidents)}};
}

namespace {

Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

Json InputsJson(const std::vector<ingest::InputReport>& inputs) {
  Json all = Json::array();
  for (const ingest::InputReport& input : inputs) {
    all.push_back({{"file", input.file},
                   {"format", input.format},
                   {"lines_used", input.lines_used},
                   {"lines_other", input.lines_other},
                   {"lines_malformed", input.lines_malformed},
                   {"first_malformed", OrNull(input.first_malformed)},
                   {"note", OrNull(input.note)}});
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
