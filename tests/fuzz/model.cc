// Any bytes in the place of one file of a model folder; what is read must also score a row.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "learn/data/missing.h"
#include "learn/score/test_model.h"

using namespace ringward;
using namespace ringward::learn;

namespace {

constexpr std::array kFiles{"model.toml", "weights.safetensors", "calibration.safetensors",
                            "preprocessing.toml"};
/// Larger nets than this are sound but slow to score.
constexpr std::size_t kParametersMax = 100'000;

void ScoreOneRow(const Model& model) {
  if (model.parameters.size() > kParametersMax || model.net.inputs > 1'000) return;
  auto plan = MakeScoringPlan(model, 1);
  RINGWARD_CHECK(plan);
  Scorer scorer(**plan, model.parts, 1);
  std::vector<double> score(1);
  for (const float value : {1.0F, kMissingInput}) {
    scorer.Score(std::vector<float>(static_cast<std::size_t>(model.net.inputs), value), 1, score);
    RINGWARD_CHECK(std::isfinite(score[0]));
    const double p = model.PValue(score[0]);
    RINGWARD_CHECK(p >= 0.0 && p <= 1.0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ModelFiles sound = *WriteModelFiles(MakeModel());
  if (size == 0) return 0;
  ModelFiles files = sound;
  files[kFiles[data[0] % kFiles.size()]].assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto model = ReadModelFiles(files, "fuzz", Checksums::kIgnore);
  if (model) ScoreOneRow(*model);
  return 0;
}
