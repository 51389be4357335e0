#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/dense/optimizer.h"
#include "learn/dense/plan.h"

namespace ringward::bench {

/// What `ringward bench train` measures: one net trained to reconstruct random rows.
struct TrainBenchOptions {
  std::vector<int> layers = {20, 10, 3, 10, 20};       ///< inputs first, then each layer's width
  std::vector<std::size_t> batches = {32, 256, 1024};  ///< rows of a step
  learn::Activation activation = learn::Activation::kRelu;  ///< of all layers but the last
  int members = 1;
  double input_noise = 0.0;  ///< sd, for every member
  learn::OptimizerOptions optimizer;
  learn::Isa isa = learn::BestIsa();
  double seconds = 0.3;  ///< of each measurement, after a warm-up of a tenth of it; > 0
};

/// One batch size. A rate is that of the whole time span, not of its best part.
struct TrainBenchResult {
  std::size_t batch = 0;
  double steps_per_second = 0;
  double rows_per_second = 0;        ///< batch * steps
  double gflops = 0;                 ///< of the products only, over the time of whole steps
  double sgemm_gflops = 0;           ///< cblas_sgemm, one thread, on the products of the same step
  double infer_rows_per_second = 0;  ///< rows scored by all members
  double infer_gflops = 0;           ///< of the products of scoring
  double peak_gflops = 0;  ///< of multiply-adds in registers alone, measured beside scoring
  double loss_first = 0, loss_last = 0;  ///< mean over rows and members; training lowers it
  std::size_t wrong = 0;  ///< of the first rows and members, outputs that are off (CountWrong)
};

struct TrainBench {
  std::string blas;  ///< version and kernels of the OpenBLAS measured beside; empty where none is
  std::vector<TrainBenchResult> results;  ///< one a batch size
};

/// Fails as Plan::Make and MakeOptimizer do, or when a list is empty.
Result<TrainBench> RunTrainBench(const TrainBenchOptions& options);

}  // namespace ringward::bench
