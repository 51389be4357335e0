#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "detect/detect_test_support.h"
#include "learn/data/dataset.h"
#include "learn/dense/spec_check.h"
#include "learn/score/model.h"
#include "learn/telemetry/table.h"

namespace ringward::learn {

/// The rows of a job that nothing was found in.
inline Block RowsOf(const detect::SmallJob& job, const detect::Trouble& trouble = nullptr) {
  TelemetryTable table(100'000);
  for (const signal::Event& event : detect::EventsOf(job, trouble)) table.Take(event, {});
  return table.Finish("job");
}

/// A model of those rows that needs no training: a net that says 0 whatever it sees, so that a
/// row's score is its distance from the middle, whitened by how the features go together.
inline std::shared_ptr<Model> DistanceModel(const detect::SmallJob& job) {
  Table table{.schema = TelemetrySchema()};
  table.blocks.push_back(RowsOf(job));
  table.rows = table.blocks.front().rows;
  auto set = *MakeTrainingSet(std::move(table), {}, {});
  const std::size_t width = set.preprocessor.inputs();
  const NetSpec net{.inputs = static_cast<int>(width),
                    .layers = {{.width = static_cast<int>(width)}},
                    .members = 1};
  std::vector<double> moments(width * width, 0.0);
  for (std::size_t r = 0; r < set.data.rows(); ++r) {
    const auto row = set.data.base().Row(r);
    for (std::size_t i = 0; i < width * width; ++i) {
      moments[i] += static_cast<double>(row[i / width]) * static_cast<double>(row[i % width]) /
                    static_cast<double>(set.data.rows());
    }
  }
  ScoreParts parts;
  parts.whitening.push_back(*Whitening::Fit(moments, width, 0.01));
  return std::make_shared<Model>(Model{.features = std::string(kTelemetryFeatures),
                                       .net = net,
                                       .parameters = std::vector<float>(ParameterCount(net), 0.0F),
                                       .preprocessor = std::move(set.preprocessor),
                                       .parts = std::move(parts),
                                       .calibration = *Calibration::Make({0.5, 1.0, 2.0})});
}

}  // namespace ringward::learn
