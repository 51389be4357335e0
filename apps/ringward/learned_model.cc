#include "ringward/learned_model.h"

#include <memory>
#include <utility>

#include "learn/score/model.h"
#include "learn/telemetry/learned_detector.h"

namespace ringward::cli {

void AddLearnedModelOption(OptionTable& table, std::string& folder) {
  table
      .Add("model", &folder, {.what = "a folder", .allow_empty = true},
           "a model of healthy telemetry (`train --data RUN.rwrec`) as one more detector")
      .Complete(Completion::kFolder);
}

Status AddLearnedModel(const std::string& folder, detect::DetectOptions& options) {
  if (folder.empty()) return Ok();
  RINGWARD_ASSIGN(learn::Model model, learn::LoadModel(folder));
  RINGWARD_ASSIGN(auto kind, learn::MakeLearnedKind(
                                 std::make_shared<const learn::Model>(std::move(model)), folder));
  options.more.push_back(std::move(kind));
  return Ok();
}

}  // namespace ringward::cli
