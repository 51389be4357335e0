#pragma once

#include <chrono>
#include <string>

#include "detect/detector.h"
#include "ringward/cli/subcommand.h"
#include "watch/watcher.h"

namespace ringward::cli {

/// `ringward watch`: looks on while jobs of this machine train, and says what goes wrong.
class WatchCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  Result<watch::WatcherOptions> WatcherOptionsOf() const;

  std::string job_;
  std::string launched_by_;
  std::string record_;
  std::chrono::milliseconds interval_{1000};
  bool once_ = false;
  detect::DetectOptions detect_;
};

}  // namespace ringward::cli
