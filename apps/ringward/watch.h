#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "detect/detector.h"
#include "ringward/cli/subcommand.h"
#include "ringward/watch_alerts.h"
#include "watch/http/exposure.h"
#include "watch/http/watch_server.h"
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
  Result<watch::WatcherOptions> WatcherOptionsOf(const detect::DetectOptions& rules) const;
  /// Null without --listen.
  Result<std::unique_ptr<watch::WatchServer>> Serve(const Clock& clock,
                                                    watch::RulesDesk& rules) const;

  std::string job_;
  std::string launched_by_;
  std::string record_;
  std::chrono::milliseconds interval_{1000};
  bool once_ = false;
  WatchAlertOptions alerts_;
  detect::DetectOptions detect_;
  std::string rules_;
  std::string model_;
  watch::HttpExposure exposure_;
};

}  // namespace ringward::cli
