#pragma once

#include <optional>
#include <string>

#include "learn/data/options.h"
#include "ringward/cli/subcommand.h"
#include "ringward/evaluation.h"

namespace ringward::cli {

/// `ringward evaluate`: quality of a model's scores, or of a file of scores, against labels.
class EvaluateCommand final : public Subcommand {
 public:
  SubcommandInfo Info() const override;
  void AddOptions(OptionTable& table) override;
  Result<int> Run(Context& context) override;

 private:
  Result<Evaluation> FromModel(Context& context);
  Result<Evaluation> FromScores() const;
  Status Validate(const OptionTable& given) const;
  /// Where the report goes; empty = nowhere.
  std::string Folder() const;
  Status WritePage(const std::string& page) const;

  std::string model_;
  learn::DataOptions data_;
  std::string scores_;
  std::string labels_;
  std::string out_;
  std::optional<double> threshold_;
  std::optional<double> false_alarm_rate_;
  int resamples_ = 1000;
  std::uint64_t seed_ = 0;
};

}  // namespace ringward::cli
