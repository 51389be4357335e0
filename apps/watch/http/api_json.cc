#include "watch/http/api_json.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "watch/news_json.h"

namespace ringward::watch {
namespace {

using cli::Json;

/// As a document shows it: the double with the fewest digits that is the same float.
double FewDigits(float value) {
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), value).ptr;
  double read = 0.0;
  std::from_chars(std::begin(text), end, read);
  return read;
}

/// A number per rank; null where there is none, "NaN" and the like where it is not finite.
Json RankNumbersJson(const JobSnapshot& job, RankMetric metric) {
  Json numbers = Json::array();
  if (job.columns.empty()) return numbers;
  for (const float value : job.columns.back()->of(metric)) {
    if (signal::IsMissing(value)) {
      numbers.push_back(nullptr);
    } else if (std::isnan(value)) {
      numbers.push_back("NaN");
    } else if (std::isinf(value)) {
      numbers.push_back(value > 0 ? "+Inf" : "-Inf");
    } else {
      numbers.push_back(FewDigits(value));
    }
  }
  return numbers;
}

std::string FieldOf(RankMetric metric) {
  const RankMetricInfo& info = InfoOf(metric);
  return info.unit[0] == '\0' ? info.name : std::string(info.name) + "_" + info.unit;
}

Json RankTableJson(const JobSnapshot& job) {
  Json state = Json::array();
  Json phase = Json::array();
  Json step = Json::array();
  Json collectives = Json::array();
  Json inside = Json::array();
  for (const RankStatus& rank : job.ranks) {
    state.push_back(NameOf(rank.state));
    phase.push_back(NameOf(rank.phase));
    step.push_back(rank.step);
    collectives.push_back(rank.collectives);
    inside.push_back(rank.in_collective);
  }
  Json table = {{"state", std::move(state)},
                {"phase", std::move(phase)},
                {"step", std::move(step)},
                {"collectives", std::move(collectives)},
                {"in_collective", std::move(inside)}};
  for (std::size_t m = 0; m < kRankMetrics; ++m) {
    const auto metric = static_cast<RankMetric>(m);
    table[FieldOf(metric)] = RankNumbersJson(job, metric);
  }
  return table;
}

Json IncidentListJson(const JobSnapshot& job, bool open_only) {
  Json incidents = Json::array();
  for (const signal::Cause& cause : job.incidents) {
    if (!open_only || !cause.over) incidents.push_back(LiveIncidentJson(cause));
  }
  return incidents;
}

}  // namespace

Json JobSummaryJson(const JobSnapshot& job) {
  return {{"job", job.run.name},
          {"world", job.run.world},
          {"ranks", job.seen},
          {"hosts", job.run.hosts},
          {"living", job.in(RankState::kLiving) + job.in(RankState::kSilent)},
          {"silent", job.in(RankState::kSilent)},
          {"blind", job.in(RankState::kUnseen) + job.in(RankState::kLost)},
          {"step", job.step},
          {"steps", job.steps},
          {"step_seconds", FewDigits(static_cast<float>(job.step_seconds))},
          {"open_incidents", job.open_incidents()},
          {"found_incidents", job.found},
          {"healthy", job.found == 0},
          {"ended", job.ended}};
}

Json JobsJson(const Snapshot& snapshot) {
  Json jobs = Json::array();
  for (const auto& job : snapshot.jobs) jobs.push_back(JobSummaryJson(*job));
  return {{"at", TimeText(snapshot.at)}, {"jobs", std::move(jobs)}};
}

Json AgentsJson(const Snapshot& snapshot) {
  Json agents = Json::array();
  for (const AgentStatus& agent : snapshot.agents) {
    agents.push_back({{"host", agent.host},
                      {"software", agent.software},
                      {"heard", agent.heard},
                      {"silent_seconds", signal::Seconds(agent.silent)},
                      {"ranks", agent.ranks},
                      {"messages", agent.messages},
                      {"again", agent.again},
                      {"missing", agent.missing},
                      {"records_lost", agent.dropped},
                      {"refused", agent.refused},
                      {"clock_unsure_seconds", signal::Seconds(agent.clock_unsure)}});
  }
  return {{"at", TimeText(snapshot.at)}, {"agents", std::move(agents)}};
}

Json JobJson(const JobSnapshot& job) {
  Json document = JobSummaryJson(job);
  document["incidents"] = IncidentListJson(job, true);
  document["by_rank"] = RankTableJson(job);
  return document;
}

Json IncidentsOfJson(const JobSnapshot& job) {
  return {{"job", job.run.name},
          {"healthy", job.found == 0},
          {"found_incidents", job.found},
          {"incidents", IncidentListJson(job, false)}};
}

std::string HeatText(const JobSnapshot& job, RankMetric metric, std::size_t columns) {
  const HeatTile tile = MakeHeatTile(job, metric, columns);
  const std::size_t first = job.columns.size() - tile.columns;
  Json from = Json::array();
  Json to = Json::array();
  for (std::size_t c = first; c < job.columns.size(); ++c) {
    from.push_back(job.columns[c]->first_step);
    to.push_back(job.columns[c]->last_step);
  }
  const Json document = {{"job", job.run.name},
                         {"metric", InfoOf(metric).name},
                         {"unit", InfoOf(metric).unit},
                         {"ranks", tile.ranks},
                         {"columns", tile.columns},
                         {"first_steps", std::move(from)},
                         {"last_steps", std::move(to)},
                         {"scale", tile.logarithmic ? "logarithmic" : "linear"},
                         {"low", tile.low},
                         {"high", tile.high},
                         {"max_byte", kHeatMax},
                         {"not_finite_byte", kHeatNotFinite},
                         {"missing_byte", kHeatMissing}};
  // The writer of JSON would look at each of millions of digits.
  std::string text = cli::DumpJsonLine(document);
  text.pop_back();
  text.reserve(text.size() + tile.bytes.size() / 3 * 4 + 32);
  text += ",\"data\":\"";
  AppendBase64(text, tile.bytes);
  text += "\"}\n";
  return text;
}

}  // namespace ringward::watch
