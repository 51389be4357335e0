#pragma once

#include <string>
#include <vector>

#include "detect/detector.h"
#include "ingest/step_csv/step_csv.h"
#include "replay/recorded.h"
#include "ringward/cli/subcommand.h"

namespace ringward::cli {

/// `ringward replay`: runs recorded steps through the watching path.
class ReplayCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  Result<replay::Replayed> ReplayTables(const std::vector<std::string>& files);
  Result<replay::Replayed> ReplayRecording(const std::string& file);

  std::vector<ingest::InputReport> inputs_;
  std::vector<std::string> paths_;
  detect::DetectOptions detect_;
};

}  // namespace ringward::cli
