#pragma once

#include <optional>
#include <string>
#include <vector>

#include "detect/detector.h"
#include "ingest/step_csv/step_csv.h"
#include "replay/recorded.h"
#include "replay/score_sheet.h"
#include "ringward/cli/subcommand.h"
#include "ringward/job_files.h"
#include "ringward/replay_inputs.h"

namespace ringward::cli {

/// `ringward replay`: runs recorded steps through the watching path, and scores the rules where the
/// truth is known.
class ReplayCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  /// One run and what came of it.
  struct Played {
    std::string file;  ///< of a recording
    replay::Replayed replayed;
    std::optional<replay::RunScore> score;  ///< where its truth is known
  };

  Result<replay::Replayed> ReplayTables(const std::vector<std::string>& files);
  Result<Played> ReplayRecording(const std::string& file, const detect::DetectOptions& rules,
                                 replay::ReplayRules which) const;
  Result<std::vector<Played>> Play(const ReplayInputs& inputs);
  Result<ReplayInputs> FindInputs() const;
  Result<replay::ScoreSheet> PlayAgainst(const ReplayInputs& inputs) const;
  Status ReadAllRules(const OptionTable& options);
  void Print(const std::vector<Played>& runs, Output& out) const;
  Json Document(const std::vector<Played>& runs) const;

  std::vector<ingest::InputReport> inputs_;
  std::vector<std::string> paths_;
  JobFileOptions files_;
  detect::DetectOptions detect_;
  std::string rules_;
  std::string model_;
  replay::ReplayRules which_ = replay::ReplayRules::kRecorded;
  std::string against_;
  detect::DetectOptions other_;
};

}  // namespace ringward::cli
