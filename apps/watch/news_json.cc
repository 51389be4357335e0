#include "watch/news_json.h"

#include <fmt/chrono.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

namespace ringward::watch {
namespace {

using cli::Json;

Json StartJson(signal::Time time) {
  constexpr auto kAnyDate = std::chrono::hours(24 * 366);
  if (time < kAnyDate) return nullptr;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(seconds.count())));
}

Json NewsOf(Clock::Duration at, const char* type, const JobEvents& job) {
  return {{"at", TimeText(at)}, {"type", type}, {"job", job.run().name}};
}

}  // namespace

std::string TimeText(Clock::Duration since_epoch) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch);
  const auto part = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch - seconds);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(seconds.count())), part.count());
}

const char* NameOf(News news) {
  constexpr const char* kNames[] = {"found", "changed", "over"};
  return kNames[static_cast<std::size_t>(news)];
}

Json IncidentJson(const signal::Cause& cause) {
  Json evidence = Json::array();
  for (const signal::Evidence& e : cause.evidence) {
    evidence.push_back({{"file", e.file}, {"line", e.line}, {"text", e.text}});
  }
  return {{"category", NameOf(cause.category)},
          {"cause", cause.cause},
          {"severity", NameOf(cause.severity)},
          {"summary", cause.summary},
          {"culprit_ranks", cause.culprit_ranks},
          {"culprit_hosts", cause.culprit_hosts},
          {"victim_ranks", cause.victim_ranks},
          {"confidence", cause.confidence},
          {"evidence", std::move(evidence)},
          {"remedy", cause.remedy},
          {"action", NameOf(cause.action)},
          {"started_at", StartJson(cause.started)},
          {"since_step", cause.since_step},
          {"found_step", cause.found_step},
          {"over", cause.over},
          {"lost_seconds", cause.lost_seconds},
          {"speedup_without", cause.speedup_without}};
}

Json LiveIncidentJson(const signal::Cause& cause) {
  Json document = {{"id", cause.id}};
  document.update(IncidentJson(cause));
  document["started_at"] = TimeText(cause.started);
  return document;
}

Json JobNews(Clock::Duration at, const JobEvents& job) {
  Json document = NewsOf(at, "job", job);
  document["world"] = job.run().world;
  document["ranks"] = job.seen();
  document["hosts"] = job.run().hosts;
  return document;
}

Json IncidentNews(Clock::Duration at, const JobEvents& job, const Told& told) {
  Json document = NewsOf(at, "incident", job);
  document["news"] = NameOf(told.news);
  document.update(LiveIncidentJson(told.cause));
  return document;
}

Json EndNews(Clock::Duration at, const JobWatch& watched) {
  const JobEvents& job = watched.events();
  Json document = NewsOf(at, "end", job);
  document["ended"] = job.done();
  document["step"] = job.step();
  document["healthy"] = !watched.found_any();
  return document;
}

Json SelfNewsJson(Clock::Duration at, const SelfNews& news) {
  constexpr const char* kTypes[] = {"clock", "rules", "recording"};
  Json document = {{"at", TimeText(at)},
                   {"type", kTypes[static_cast<std::size_t>(news.kind)]},
                   {"text", news.text}};
  if (news.kind == SelfNews::Kind::kRecording) document["job"] = news.job;
  if (news.kind == SelfNews::Kind::kClock) document["seconds"] = news.seconds;
  return document;
}

}  // namespace ringward::watch
