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
  void OnJob(const watch::JobEvents& job) override;
  void OnIncident(const watch::JobEvents& job, const watch::Told& told) override;
  void OnEnd(const watch::JobEvents& job, bool found_any) override;

 private:
  void Tell(const std::string& text, const Json& document);

  Output& out_;
  const Clock& clock_;
  bool json_;
};

/// "found", "changed", "over".
const char* NameOf(watch::News news);

/// One line for people: what, who, evidence, and what now.
std::string NewsText(const std::string& news, const signal::Cause& cause);

}  // namespace ringward::cli
