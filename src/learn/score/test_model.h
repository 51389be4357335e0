#pragma once

#include <string>

#include "learn/data/dataset.h"
#include "learn/data/test_files.h"
#include "learn/score/model.h"

namespace ringward::learn {

/// A small untrained model over two columns.
inline Model MakeModel() {
  const TestFolder folder;
  DataOptions data;
  data.paths = {folder.Write("rows.csv", "a,b\n1,2\n2,1\n3,5\n4,3\n")};
  auto set = *LoadTrainingSet(data, {});
  const NetSpec net{
      .inputs = 2,
      .layers = {{.width = 3, .activation = Activation::kGelu, .dropout = 0.25}, {.width = 2}},
      .members = 2,
      .input_noise = {0.0F, 0.5F}};
  auto plan = *Plan::Make(net, PlanOptions{.batch_max = 1, .training = false});
  plan->Initialize(3);
  ScoreParts parts;
  for (int m = 0; m < 2; ++m) {
    parts.whitening.push_back(*Whitening::Fit(std::vector<double>{1, 0.2, 0.2, 2}, 2, 0.01));
  }
  Matrix references(2, 2);
  references.values = {0, 1, 2, 3};
  parts.neighbours.emplace(references, 1);
  parts.neighbour_weight = 0.5;
  return Model{.net = net,
               .parameters = {plan->parameters().begin(), plan->parameters().end()},
               .preprocessor = set.preprocessor,
               .parts = parts,
               .calibration = *Calibration::Make({0.5, 1.0, 2.0}),
               .history = {.created_by = "ringward test", .label = "odd \xff name"}};
}

}  // namespace ringward::learn
