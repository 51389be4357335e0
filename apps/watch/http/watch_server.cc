#include "watch/http/watch_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "watch/http/api_json.h"
#include "watch/news_json.h"

namespace ringward::watch {
namespace {

constexpr std::chrono::seconds kStatusEvery{1};
/// Jobs that have ended and are still shown, and those of them with their heat.
constexpr std::size_t kEndedMost = 16;
constexpr std::size_t kEndedWithHeat = 1;

}  // namespace

Result<std::unique_ptr<WatchServer>> WatchServer::Start(const Options& options,
                                                        const Clock& clock) {
  std::unique_ptr<WatchServer> watch(new WatchServer(options, clock));
  RINGWARD_ASSIGN(watch->server_,
                  HttpServer::Start({.exposure = options.exposure,
                                     .limits = options.limits,
                                     .counter = &watch->counter_,
                                     .run = fmt::format("{:x}", clock.WallNow().count())},
                                    WatchRoutes(watch->published_, watch->counter_, options.assets,
                                                options.hub, options.rules)));
  return watch;
}

void WatchServer::Tell(const std::string& type, const cli::Json& document) {
  server_->Publish({type, cli::DumpJsonLine(document), true});
}

void WatchServer::OnLook(const JobLook& look) {
  views_.try_emplace(&look.job, look.job.run().world).first->second.Take(look);
}

void WatchServer::OnJob(const JobEvents& job) { Tell("job", JobNews(clock_.WallNow(), job)); }

void WatchServer::OnIncident(const JobEvents& job, const Told& told) {
  if (told.news == News::kFound) ++found_[told.cause.cause];
  Tell("incident", IncidentNews(clock_.WallNow(), job, told));
}

void WatchServer::OnSelf(const SelfNews& news) {
  if (news.kind == SelfNews::Kind::kClock) ++clock_steps_;
  if (news.kind == SelfNews::Kind::kRules) ++rules_changes_;
  const cli::Json document = SelfNewsJson(clock_.WallNow(), news);
  Tell(document.at("type"), document);
}

void WatchServer::OnEnd(const JobWatch& job) {
  Tell("end", EndNews(clock_.WallNow(), job));
  const auto view = views_.find(&job.events());
  if (view == views_.end()) return;
  // The newest run of a name is the one that its page shows.
  std::erase_if(ended_,
                [&](const auto& other) { return other->run.name == job.events().run().name; });
  ended_.push_front(view->second.ShowEnded(job));
  views_.erase(view);
  if (ended_.size() > kEndedMost) ended_.pop_back();
  for (std::size_t at = kEndedWithHeat; at < ended_.size(); ++at) {
    if (ended_[at]->columns.size() <= 1) continue;
    auto light = std::make_shared<JobSnapshot>(*ended_[at]);
    light->columns.erase(light->columns.begin(), light->columns.end() - 1);
    ended_[at] = std::move(light);
  }
}

void WatchServer::Publish(const Watcher& watcher) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->at = clock_.WallNow();
  snapshot->judged = judged_;
  snapshot->looks = looks_;
  snapshot->judgements = judgements_;
  if (options_.cpu_seconds != nullptr) snapshot->cpu_seconds = options_.cpu_seconds();
  snapshot->found = found_;
  snapshot->clock_steps = clock_steps_;
  snapshot->rules_changes = rules_changes_;
  snapshot->not_recorded = watcher.not_recorded();
  if (options_.hub != nullptr) snapshot->agents = options_.hub->agents();
  for (const auto& job : watcher.watches()) {
    const auto view = views_.find(&job->events());
    if (view != views_.end()) snapshot->jobs.push_back(view->second.Show(*job));
  }
  for (const auto& job : ended_) {
    if (snapshot->Find(job->run.name) == nullptr) snapshot->jobs.push_back(job);
  }
  published_.Put(std::move(snapshot));
}

void WatchServer::OnLooked(const Watcher& watcher, bool judged) {
  ++looks_;
  if (judged) {
    judged_ = clock_.WallNow();
    ++judgements_;
  }
  const Clock::Duration now = clock_.Now();
  const bool due = now >= next_status_;
  if (!judged && !due) return;
  Publish(watcher);
  if (!due) return;
  next_status_ = now + kStatusEvery;
  server_->Publish({"status", cli::DumpJsonLine(JobsJson(*published_.Get())), false});
}

}  // namespace ringward::watch
