#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "detect/detector.h"
#include "ringward/cli/subcommand.h"
#include "ringward/job_files.h"
#include "ringward/watch_alerts.h"
#include "watch/hosts/agent_hub.h"
#include "watch/http/exposure.h"
#include "watch/http/watch_server.h"
#include "watch/local_source.h"
#include "watch/tails/tail_source.h"
#include "watch/watcher.h"

namespace ringward::cli {

/// `ringward watch`: looks on while jobs of this machine train, and says what goes wrong.
class WatchCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  void AddServerOptions(OptionTable& table);
  void AddHostOptions(OptionTable& table);
  void AddFileOptions(OptionTable& table);
  Status CheckHosts() const;
  Result<int> RunAgent(Context& context, watch::LocalSource& source, const Clock& clock) const;
  std::unique_ptr<watch::TailSource> MakeTails(watch::Source& base, const Clock& clock) const;
  std::unique_ptr<watch::AgentHub> MakeHub(const Clock& clock) const;
  Result<watch::WatcherOptions> WatcherOptionsOf(const detect::DetectOptions& rules) const;
  /// Null without --listen. `hub` outlives it; null: no agents.
  Result<std::unique_ptr<watch::WatchServer>> Serve(const Clock& clock, watch::AgentHub* hub,
                                                    watch::RulesDesk& rules) const;

  std::string job_;
  std::string launched_by_;
  std::string record_;
  std::chrono::milliseconds interval_{1000};
  bool once_ = false;
  JobFileOptions files_;
  std::chrono::milliseconds idle_{30'000};
  std::string segments_;
  std::string host_name_;
  bool agents_ = false;
  std::string agent_of_;
  std::string agent_ca_;
  WatchAlertOptions alerts_;
  detect::DetectOptions detect_;
  std::string rules_;
  std::string model_;
  watch::HttpExposure exposure_;
};

}  // namespace ringward::cli
