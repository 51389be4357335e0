#pragma once

#include <string>

#include "ringward/cli/json.h"
#include "ringward/cli/output.h"
#include "watch/watcher.h"

namespace ringward::cli {

/// Prints what a watcher tells as it comes: lines for people, or a JSON document on each line
/// (docs/watch.md). Outlives the watcher; one thread.
class WatchNews final : public watch::Listener {
 public:
  WatchNews(Output& out, const Clock& clock, bool json) : out_(out), clock_(clock), json_(json) {}
  void OnLook(const watch::JobLook&) override {}
  void OnJob(const watch::JobEvents& job) override;
  void OnIncident(const watch::JobEvents& job, const watch::Told& told) override;
  void OnEnd(const watch::JobWatch& watched) override;
  void OnSelf(const watch::SelfNews& news) override;
  void OnLooked(const watch::Watcher&, bool) override {}
  /// The pages of this watcher are to be had at `url`.
  void OnListening(const std::string& url);

 private:
  void Tell(Clock::Duration at, const std::string& text, const Json& document);

  Output& out_;
  const Clock& clock_;
  bool json_;
};

/// One line for people: what, who, evidence, and what now.
std::string NewsText(const std::string& news, const signal::Cause& cause);

}  // namespace ringward::cli
