#include "learn/train/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "learn/train/indicators.h"
#include "learn/train/recipe.h"
#include "learn/train/share_rows.h"
#include "learn/train/statistics.h"
#include "learn/train/step_recorder.h"

namespace ringward::learn {
namespace {

constexpr std::size_t kInputsMax = 1'000'000;

/// Streams of DrawRows: which random choice they make.
enum Draw : std::uint64_t { kDrawValidation, kDrawStatistics, kDrawReferences };

OptimizerOptions MakeOptimizerOptions(const TrainSettings& settings) {
  constexpr const char* kKinds[] = {"sgd", "adam", "adamw"};
  return {.kind = kKinds[static_cast<std::size_t>(settings.optimizer)],
          .learning_rate = settings.learning_rate,
          .momentum = settings.momentum,
          .weight_decay = settings.weight_decay};
}

std::vector<std::uint32_t> Without(std::span<const std::uint32_t> rows,
                                   std::span<const std::uint32_t> removed) {
  std::vector<std::uint32_t> kept;
  std::set_difference(rows.begin(), rows.end(), removed.begin(), removed.end(),
                      std::back_inserter(kept));
  return kept;
}

std::size_t StatisticsBatch(const NetSpec& net) {
  return RowsAtOnce(static_cast<std::size_t>(net.inputs), static_cast<std::size_t>(net.members));
}

/// The reference rows' inputs, and the part of the score that uses them.
void AddNeighbours(Plan& plan, const SharedRows& shared, std::span<const std::uint32_t> references,
                   std::size_t batch, ScoreParts& parts) {
  Matrix rows(references.size(), shared.data.inputs());
  for (std::size_t i = 0; i < references.size(); ++i) {
    shared.data.CopyRow(references[i], rows.Row(i));
  }
  Expectation(plan, batch).FillMissing(rows.values, rows.rows);
  parts.neighbours.emplace(std::move(rows), recipe::kNeighbours,
                           IndicatorInputs(shared.indicators));
  parts.neighbour_weight = recipe::kNeighbourWeight;
  parts.neighbour_floor = recipe::kNeighbourFloor;
}

/// Median of the positive distances; 0 when there is none, as among copies of a few rows.
double TypicalDistance(const std::vector<double>& distances) {
  std::vector<double> positive;
  std::copy_if(distances.begin(), distances.end(), std::back_inserter(positive),
               [](double d) { return d > 1e-12; });
  if (positive.empty()) return 0.0;
  const auto middle = positive.begin() + static_cast<std::ptrdiff_t>(positive.size() / 2);
  std::nth_element(positive.begin(), middle, positive.end());
  return *middle;
}

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// A new row's score averages over all members, a calibration score only over those that left the
/// row out: it is noisier, which would put thresholds a few per cent too high. Draws the scores
/// together by the noise that averaging removes, as seen where thresholds lie, in the top
/// twentieth. `share` turns the variance between groups of members into the part that goes away.
void RemoveAveragingNoise(const std::vector<double>& variance, double share,
                          std::vector<double>& scores) {
  constexpr double kTop = 0.95;
  constexpr double kLeast = 0.5;
  std::vector<double> sorted = scores;
  std::sort(sorted.begin(), sorted.end());
  const double limit =
      sorted[static_cast<std::size_t>(kTop * static_cast<double>(sorted.size() - 1))];
  double noise = 0.0;
  double count = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] < limit) continue;
    noise += variance[i];
    count += 1.0;
  }
  noise *= share / count;
  const double mean = MeanOf(scores);
  double spread = 0.0;
  for (const double s : scores)
    spread += (s - mean) * (s - mean) / static_cast<double>(scores.size());
  if (!(spread > 0.0)) return;
  const double factor = std::sqrt(std::max(kLeast, 1.0 - noise / spread));
  for (double& s : scores) s = mean + (s - mean) * factor;
}

struct Scoring {
  ScoreParts parts;
  std::vector<double> calibration;  ///< logarithms of the scores of the rows looked at, in order
};

/// Everything that is learned from the trained nets: whitening, references, calibration scores.
Result<Scoring> FitScoring(comm::Communicator& comm, Plan& plan, const SharedRows& shared,
                           const Folds& folds, const TrainSettings& settings,
                           std::span<const std::uint32_t> train) {
  const auto looked_at = DrawRows(settings.seed, kDrawStatistics, train, recipe::kStatisticRowsMax);
  const std::size_t batch = StatisticsBatch(plan.spec());
  TrainingStatistics statistics(comm, plan, shared.data, looked_at, folds, batch);
  Scoring scoring;
  const double trim = settings.contaminated ? settings.trim : 0.0;
  const IndicatorBounds bounds(shared.indicators, shared.data, looked_at);
  RINGWARD_ASSIGN(scoring.parts.whitening, statistics.FitWhitening(recipe::kRidge, trim, bounds));
  RINGWARD_ASSIGN(const auto scores, statistics.LeftOutScores(scoring.parts));
  std::vector<double> distances(scores.log_q.size(), 0.0);
  if (settings.neighbours) {
    const auto references =
        DrawRows(settings.seed, kDrawReferences, looked_at, recipe::kReferences);
    AddNeighbours(plan, shared, references, batch, scoring.parts);
    RINGWARD_ASSIGN(distances,
                    statistics.NeighbourDistances(*scoring.parts.neighbours, references));
    scoring.parts.neighbour_scale = TypicalDistance(distances);
    if (scoring.parts.neighbour_scale == 0.0) {
      scoring.parts.neighbours.reset();
      scoring.parts.neighbour_scale = 1.0;
    }
  }
  for (std::size_t i = 0; i < scores.log_q.size(); ++i) {
    scoring.calibration.push_back(scoring.parts.FuseLog(scores.log_q[i], distances[i]));
  }
  const double weight = scoring.parts.neighbours ? scoring.parts.neighbour_weight : 0.0;
  const double share = 1.0 - 1.0 / static_cast<double>(settings.folds);
  RemoveAveragingNoise(scores.variance, share / ((1.0 + weight) * (1.0 + weight)),
                       scoring.calibration);
  return scoring;
}

ModelHistory MakeHistory(const TrainSettings& settings, const TrainingSet& set,
                         const LoopResult& loop, const comm::Communicator& comm, std::size_t rows) {
  return {.created_by = "ringward " RINGWARD_VERSION,
          .seed = settings.seed,
          .rows = rows,
          .steps = loop.steps,
          .world_size = comm.size(),
          .engine = comm.engine(),
          .train_loss = loop.epochs.back().train_loss,
          .label = settings.data.label,
          .normal = settings.data.normal,
          .notes = set.notes};
}

PlanOptions MakePlanOptions(const NetSpec& net, const LoopOptions& loop, int world) {
  const std::size_t piece =
      std::max(GradientStep::PieceRowsMax(loop.global_batch, world, loop.step),
               GradientStep::PieceRowsMax(loop.global_batch, world, {.deterministic = true}));
  return {.batch_max = std::max(piece, StatisticsBatch(net))};
}

/// Those of the settings, with no more rows in a batch than there are.
LoopOptions LoopFor(const TrainSettings& settings, std::size_t rows, int world) {
  LoopOptions options = MakeLoopOptions(settings, rows, world);
  options.global_batch = std::min(options.global_batch, rows);
  return options;
}

std::size_t HeldRows(const TrainSettings& settings, std::size_t rows) {
  return static_cast<std::size_t>(settings.validation * static_cast<double>(rows));
}

}  // namespace

std::size_t RowsMin(const TrainSettings& settings) {
  return 2 * static_cast<std::size_t>(settings.folds);
}

Status CheckSizes(const TrainSettings& settings, std::size_t rows, std::size_t inputs, int world) {
  if (rows < RowsMin(settings)) {
    return Error(Code::kInvalidInput,
                 fmt::format("{} rows to train on, at least {} are needed (2 for each of {} folds)",
                             rows, RowsMin(settings), settings.folds));
  }
  if (inputs > kInputsMax) {
    return Error(Code::kInvalidInput,
                 fmt::format("{} inputs, at most {} can be trained on", inputs, kInputsMax));
  }
  const std::size_t held = HeldRows(settings, rows);
  if (settings.patience > 0 && held == 0) {
    return Error(Code::kInvalidInput,
                 fmt::format("--validation {} of {} rows sets none apart for --patience",
                             settings.validation, rows));
  }
  const NetSpec net = MakeNetSpec(settings, static_cast<int>(inputs));
  const LoopOptions loop = LoopFor(settings, rows - held, world);
  return Plan::Check(net, MakePlanOptions(net, loop, world));
}

Result<std::optional<FitResult>> Fit(comm::Communicator& comm, const TrainSettings& settings,
                                     const TrainingSet* set, const Clock& clock,
                                     const LoopHooks& hooks, const comm::CallOptions& first_call) {
  RINGWARD_ASSIGN(const SharedRows shared, ShareRows(comm, set, first_call));
  RINGWARD_TRY(CheckSizes(settings, shared.train.size(), shared.data.inputs(), comm.size()));
  const std::size_t held = HeldRows(settings, shared.train.size());
  const auto validation = DrawRows(settings.seed, kDrawValidation, shared.train, held);
  const auto train = Without(shared.train, validation);
  const Folds folds =
      MakeFolds(settings, train, shared.data.rows(), RowsPerRun(shared.data, train));
  const LoopOptions options = LoopFor(settings, train.size(), comm.size());
  const NetSpec net = MakeNetSpec(settings, static_cast<int>(shared.data.inputs()));
  RINGWARD_ASSIGN(const auto plan, Plan::Make(net, MakePlanOptions(net, options, comm.size())));
  plan->Initialize(settings.seed);
  RINGWARD_ASSIGN(auto optimizer,
                  MakeOptimizer(MakeOptimizerOptions(settings), plan->parameters().size()));
  const LoopContext context{comm,  *plan,      shared.data, folds,
                            train, validation, clock,       shared.indicators};
  RINGWARD_ASSIGN(LoopResult loop, TrainLoop(context, *optimizer, options, hooks));
  optimizer.reset();  // twice as large as the net
  // The ranks take turns at long work from here on; whoever watches them must not call that a hang.
  StepRecorder(hooks.recorder).Enter(telemetry::Phase::kEvaluate);
  RINGWARD_ASSIGN(Scoring scoring, FitScoring(comm, *plan, shared, folds, settings, train));
  if (set == nullptr) return std::optional<FitResult>();
  RINGWARD_ASSIGN(auto calibration, Calibration::Make(scoring.calibration));
  Model model{.net = plan->spec(),
              .parameters = {plan->parameters().begin(), plan->parameters().end()},
              .preprocessor = set->preprocessor,
              .parts = std::move(scoring.parts),
              .calibration = std::move(calibration),
              .false_alarm_rate = settings.false_alarm_rate,
              .history = MakeHistory(settings, *set, loop, comm, train.size())};
  std::vector<double> training_scores;
  for (const double s : scoring.calibration) training_scores.push_back(std::exp(s));
  return std::optional<FitResult>(
      FitResult{std::move(model), std::move(loop), std::move(training_scores)});
}

}  // namespace ringward::learn
