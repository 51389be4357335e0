#include "ringward/watch_news.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/terminal.h"
#include "watch/news_json.h"

namespace ringward::cli {
namespace {

std::string Printable(const std::string& job) { return job.empty() ? "(no name)" : job; }

/// " on node7, node8"; nothing where no host is known.
std::string HostsText(const std::vector<std::string>& hosts) {
  if (hosts.empty()) return "";
  constexpr std::size_t kShown = 4;
  const std::vector<std::string> first(
      hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, hosts.size())));
  const std::string text = fmt::format("{}", fmt::join(first, ", "));
  return " on " + (hosts.size() > kShown
                       ? fmt::format("{} and {} more", text, hosts.size() - kShown)
                       : text);
}

}  // namespace

std::string NewsText(const std::string& news, const signal::Cause& cause) {
  if (news == "over") {
    return fmt::format("over: {}; it cost the job {:.1f} s", cause.summary, cause.lost_seconds);
  }
  return fmt::format("{}: {} ({}, since step {}, confidence {:.0f} %); what now: {}", news,
                     cause.summary, signal::NameOf(cause.category), cause.since_step,
                     100.0 * cause.confidence, cause.remedy);
}

void WatchNews::Tell(Clock::Duration at, const std::string& text, const Json& document) {
  // The status line on the same terminal gives way.
  ClearTransientLine();
  if (json_) {
    out_.Write(DumpJsonLine(document) + "\n");
  } else {
    out_.Print("{} {}\n", watch::TimeText(at), text);
  }
  out_.Flush();
}

void WatchNews::OnListening(const std::string& url) {
  // Results go to standard output: for people this is none.
  LogInfo("listening on " + url);
  if (!json_) return;
  const Clock::Duration at = clock_.WallNow();
  Tell(at, "", {{"at", watch::TimeText(at)}, {"type", "listening"}, {"url", url}});
}

void WatchNews::OnJob(const watch::JobEvents& job) {
  const watch::JobRun& run = job.run();
  const Clock::Duration at = clock_.WallNow();
  Tell(at,
       fmt::format("watching job {}: {} of {} ranks{}", Printable(run.name), job.seen(), run.world,
                   HostsText(run.hosts)),
       watch::JobNews(at, job));
}

void WatchNews::OnIncident(const watch::JobEvents& job, const watch::Told& told) {
  const Clock::Duration at = clock_.WallNow();
  Tell(at,
       fmt::format("job {}: {}", Printable(job.run().name),
                   NewsText(watch::NameOf(told.news), told.cause)),
       watch::IncidentNews(at, job, told));
}

void WatchNews::OnEnd(const watch::JobWatch& watched) {
  const watch::JobEvents& job = watched.events();
  const Clock::Duration at = clock_.WallNow();
  Tell(at,
       fmt::format("job {} {} after step {}{}", Printable(job.run().name),
                   job.done() ? "ended" : "is no longer watched", job.step(),
                   watched.found_any() ? "" : ": nothing stood out"),
       watch::EndNews(at, watched));
}

void WatchNews::OnSelf(const watch::SelfNews& news) {
  const Clock::Duration at = clock_.WallNow();
  Tell(at, news.text, watch::SelfNewsJson(at, news));
}

}  // namespace ringward::cli
