#pragma once

#include <chrono>
#include <string>

#include "ringward/cli/subcommand.h"
#include "ringward/top_text.h"
#include "ringward/watch_client.h"

namespace ringward::cli {

/// `ringward top`: jobs, ranks and incidents of a watcher, in a terminal.
class TopCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  /// An array with the documents of all jobs that are asked for.
  Result<Json> Look(WatchClient& client) const;

  std::string url_ = "http://127.0.0.1:9188";
  std::string job_;
  std::string token_file_;
  TopView view_;
  bool once_ = false;
  std::chrono::milliseconds interval_{1000};
};

}  // namespace ringward::cli
