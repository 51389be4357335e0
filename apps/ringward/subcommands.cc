#include "ringward/subcommands.h"

#include "ringward/bench_allreduce.h"
#include "ringward/bench_detection.h"
#include "ringward/bench_telemetry.h"
#include "ringward/bench_train.h"
#include "ringward/completion.h"
#include "ringward/evaluate.h"
#include "ringward/model_info.h"
#include "ringward/replay.h"
#include "ringward/run.h"
#include "ringward/score.h"
#include "ringward/simulate.h"
#include "ringward/simulate_job.h"
#include "ringward/top.h"
#include "ringward/train.h"
#include "ringward/watch.h"

namespace ringward::cli {

Registry AllSubcommands() {
  Registry registry;
  registry.Add<TrainCommand>();
  registry.Add<ScoreCommand>();
  registry.Add<EvaluateCommand>();
  registry.Add<ModelInfoCommand>();
  registry.Add<BenchAllReduceCommand>();
  registry.Add<BenchDetectionCommand>();
  registry.Add<BenchTelemetryCommand>();
  registry.Add<BenchTrainCommand>();
  registry.Add<CompletionCommand>();
  registry.Add<ReplayCommand>();
  registry.Add<RunCommand>();
  registry.Add<SimulateJobCommand>();
  registry.Add<SimulateTableCommand>();
  registry.Add<TopCommand>();
  registry.Add<WatchCommand>();
  return registry;
}

}  // namespace ringward::cli
