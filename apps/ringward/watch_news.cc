#include "ringward/watch_news.h"

#include <fmt/chrono.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "ringward/incident_text.h"

namespace ringward::cli {
namespace {

std::string TimeText(Clock::Duration since_epoch) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch);
  const auto part = std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch - seconds);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(static_cast<std::time_t>(seconds.count())), part.count());
}

std::string Printable(const std::string& job) { return job.empty() ? "(no name)" : job; }

}  // namespace

const char* NameOf(watch::News news) {
  constexpr const char* kNames[] = {"found", "changed", "over"};
  return kNames[static_cast<std::size_t>(news)];
}

std::string NewsText(const std::string& news, const signal::Cause& cause) {
  if (news == "over") {
    return fmt::format("over: {}; it cost the job {:.1f} s", cause.summary, cause.lost_seconds);
  }
  return fmt::format("{}: {} ({}, since step {}, confidence {:.0f} %); what now: {}", news,
                     cause.summary, signal::NameOf(cause.category), cause.since_step,
                     100.0 * cause.confidence, cause.remedy);
}

void WatchNews::Tell(const std::string& text, const Json& document) {
  // The status line on the same terminal gives way.
  ClearTransientLine();
  const std::string at = TimeText(clock_.WallNow());
  if (json_) {
    Json whole = {{"at", at}};
    whole.update(document);
    out_.Write(DumpJsonLine(whole) + "\n");
  } else {
    out_.Print("{} {}\n", at, text);
  }
  out_.Flush();
}

void WatchNews::OnJob(const watch::JobEvents& job) {
  const watch::JobRun& run = job.run();
  Tell(fmt::format("watching job {}: {} of {} ranks on {}", Printable(run.name), job.seen(),
                   run.world, run.host),
       {{"type", "job"},
        {"job", run.name},
        {"world", run.world},
        {"ranks", job.seen()},
        {"hosts", Json::array({run.host})}});
}

void WatchNews::OnIncident(const watch::JobEvents& job, const watch::Told& told) {
  const std::string news = NameOf(told.news);
  Json document = {{"type", "incident"}, {"job", job.run().name}, {"news", news}};
  document["id"] = told.cause.id;
  document.update(IncidentJson(told.cause));
  document["started_at"] = TimeText(told.cause.started);
  Tell(fmt::format("job {}: {}", Printable(job.run().name), NewsText(news, told.cause)), document);
}

void WatchNews::OnEnd(const watch::JobEvents& job, bool found_any) {
  Tell(fmt::format("job {} {} after step {}{}", Printable(job.run().name),
                   job.done() ? "ended" : "is no longer watched", job.step(),
                   found_any ? "" : ": nothing stood out"),
       {{"type", "end"},
        {"job", job.run().name},
        {"ended", job.done()},
        {"step", job.step()},
        {"healthy", !found_any}});
}

}  // namespace ringward::cli
