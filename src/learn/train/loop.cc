#include "learn/train/loop.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"

namespace ringward::learn {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

Status Validate(const LoopContext& context, const LoopOptions& options) {
  const auto refuse = [](const char* what) { return Error(Code::kInvalidInput, what); };
  if (options.global_batch < 1) return refuse("global batch must be >= 1");
  if (options.steps < 1) return refuse("steps must be >= 1");
  if (!(options.learning_rate > 0.0)) return refuse("learning rate must be > 0");
  if (!(options.final_rate_share >= 0.0 && options.final_rate_share <= 1.0)) {
    return refuse("final rate share must be in [0, 1]");
  }
  if (!(options.step.trim >= 0.0 && options.step.trim <= 0.5)) {
    return refuse("trim must be in [0, 0.5]");
  }
  if (options.step.balance && options.step.deterministic) {
    return refuse("balance and deterministic exclude each other");
  }
  if (context.train_rows.empty()) return refuse("no rows to train on");
  if (options.patience > 0 && context.validation_rows.empty()) {
    return refuse("early stopping needs validation rows");
  }
  return Ok();
}

/// Turns one rank's sums into the means over all ranks.
Status AverageLosses(comm::Communicator& comm, const LossSums& own, EpochRecord& record) {
  std::array<double, 4> sums{own.learned, own.learned_pairs, own.left_out, own.left_out_pairs};
  RINGWARD_TRY(comm.AllReduce(comm::AsBuffer(std::span<double>(sums)), comm::ReduceOp::kSum));
  record.train_loss = sums[1] > 0.0 ? sums[0] / sums[1] : kNone;
  record.left_out_loss = sums[3] > 0.0 ? sums[2] / sums[3] : kNone;
  return Ok();
}

/// Keeps the parameters of the best validation loss and says when to stop.
class EarlyStopping {
 public:
  explicit EarlyStopping(int patience) : patience_(patience) {}

  bool ShouldStop(double loss, std::span<const float> parameters) {
    if (patience_ == 0) return false;
    if (loss < best_) {
      best_ = loss;
      waited_ = 0;
      parameters_.assign(parameters.begin(), parameters.end());
      return false;
    }
    return ++waited_ >= patience_;
  }
  void Restore(std::span<float> parameters) const {
    if (!parameters_.empty()) std::copy(parameters_.begin(), parameters_.end(), parameters.begin());
  }
  double best() const { return std::isfinite(best_) ? best_ : kNone; }

 private:
  const int patience_;
  int waited_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  std::vector<float> parameters_;
};

/// The state of one TrainLoop call.
class Loop {
 public:
  Loop(const LoopContext& context, Optimizer& optimizer, const LoopOptions& options,
       const LoopHooks& hooks)
      : context_(context),
        optimizer_(optimizer),
        options_(options),
        hooks_(hooks),
        recorder_(hooks.recorder),
        batch_(std::min(options.global_batch, context.train_rows.size())),
        gradient_(context.comm, context.plan, context.rows, context.folds, context.clock,
                  options.step, batch_),
        order_(context.train_rows.size()),
        stopping_(options.patience) {
    gradient_.RecordTo(recorder_);
  }

  Result<LoopResult> Run() {
    RINGWARD_TRY(context_.comm.Broadcast(comm::AsBuffer(context_.plan.parameters()), 0));
    HideIndicators(context_.indicators, context_.plan);
    const auto start = context_.clock.Now();
    double rows = 0.0;
    for (std::uint32_t epoch = 0; result_.steps < options_.steps; ++epoch) {
      RINGWARD_ASSIGN(const EpochRecord record, RunEpoch(epoch));
      rows += rows_done_;
      result_.epochs.push_back(record);
      if (stopping_.ShouldStop(record.validation_loss, context_.plan.parameters())) {
        result_.stopped_early = true;
        break;
      }
    }
    stopping_.Restore(context_.plan.parameters());
    result_.best_validation_loss = stopping_.best();
    result_.seconds = Seconds(context_.clock.Now() - start);
    result_.rows_per_second = rows / std::max(result_.seconds, 1e-9);
    return std::move(result_);
  }

 private:
  Result<EpochRecord> RunEpoch(std::uint32_t epoch) {
    Shuffle(epoch);
    const auto start = context_.clock.Now();
    const std::size_t steps = StepsPerEpoch(order_.size(), batch_);
    EpochRecord record{.epoch = static_cast<int>(epoch)};
    LossSums sums;
    rows_done_ = 0.0;
    for (std::size_t s = 0; s < steps && result_.steps < options_.steps; ++s) {
      const Range range = GlobalBatch(order_.size(), batch_, s);
      record.learning_rate = RateAt(options_, result_.steps);
      recorder_.Begin(result_.steps, record.learning_rate);
      optimizer_.SetLearningRate(record.learning_rate);
      RINGWARD_TRY(
          gradient_.Run(std::span(order_).subspan(range.first, range.size()), epoch, sums));
      recorder_.Enter(telemetry::Phase::kOptimizer);
      optimizer_.Step(context_.plan.parameters(), context_.plan.gradients());
      HideIndicators(context_.indicators, context_.plan);
      recorder_.End();
      ++result_.steps;
      rows_done_ += static_cast<double>(range.size());
      Tell(start, sums);
    }
    record.steps = result_.steps;
    record.rows_per_second = rows_done_ / std::max(Seconds(context_.clock.Now() - start), 1e-9);
    RINGWARD_TRY(AverageLosses(context_.comm, sums, record));
    record.validation_loss = kNone;
    if (!context_.validation_rows.empty()) {
      recorder_.Enter(telemetry::Phase::kEvaluate);
      const std::size_t piece = std::min<std::size_t>(
          batch_,
          GradientStep::PieceRowsMax(batch_, context_.comm.size(), {.deterministic = true}));
      RINGWARD_ASSIGN(record.validation_loss, MeanLoss(context_.comm, context_.plan, context_.rows,
                                                       context_.validation_rows, piece));
    }
    return record;
  }

  void Shuffle(std::uint32_t epoch) {
    ShuffleEpoch(options_.step.seed, epoch, order_);
    for (auto& position : order_) position = context_.train_rows[position];
  }

  void Tell(Clock::Duration epoch_start, const LossSums& sums) const {
    if (!hooks_.on_step) return;
    const double seconds = std::max(Seconds(context_.clock.Now() - epoch_start), 1e-9);
    hooks_.on_step(result_.steps, rows_done_ / seconds,
                   sums.learned / std::max(sums.learned_pairs, 1.0));
  }

  const LoopContext& context_;
  Optimizer& optimizer_;
  const LoopOptions& options_;
  const LoopHooks& hooks_;
  StepRecorder recorder_;
  const std::size_t batch_;
  GradientStep gradient_;
  std::vector<std::uint32_t> order_;
  EarlyStopping stopping_;
  LoopResult result_;
  double rows_done_ = 0.0;  // in this epoch, over all ranks
};

}  // namespace

double RateAt(const LoopOptions& options, std::int64_t step) {
  if (step < options.warmup_steps) {
    return options.learning_rate * static_cast<double>(step + 1) /
           static_cast<double>(options.warmup_steps + 1);
  }
  const double span =
      static_cast<double>(std::max<std::int64_t>(1, options.steps - options.warmup_steps));
  const double done = static_cast<double>(step - options.warmup_steps) / span;
  const double share = options.final_rate_share + (1.0 - options.final_rate_share) * 0.5 *
                                                      (1.0 + std::cos(std::numbers::pi * done));
  return options.learning_rate * share;
}

Result<double> MeanLoss(comm::Communicator& comm, Plan& plan, const WindowedRows& data,
                        std::span<const std::uint32_t> rows, std::size_t piece_rows) {
  const std::size_t pieces = (rows.size() + piece_rows - 1) / piece_rows;
  const auto members = static_cast<std::size_t>(plan.spec().members);
  std::vector<double> sums(pieces, 0.0);
  std::vector<float> x(piece_rows * data.inputs());
  std::vector<float> out(piece_rows * data.inputs() * members);
  Expectation expectation(plan, piece_rows);
  for (std::size_t p = static_cast<std::size_t>(comm.rank()); p < pieces;
       p += static_cast<std::size_t>(comm.size())) {
    const auto part =
        rows.subspan(p * piece_rows, std::min(piece_rows, rows.size() - p * piece_rows));
    for (std::size_t i = 0; i < part.size(); ++i) {
      data.CopyRow(part[i], std::span(x).subspan(i * data.inputs(), data.inputs()));
    }
    const std::size_t values = part.size() * data.inputs();
    expectation.FillMissing(std::span(x).first(values), part.size());
    plan.Infer(std::span<const float>(x).first(values), part.size(),
               std::span(out).first(values * members));
    for (std::size_t k = 0; k < values * members; ++k) {
      const double difference = static_cast<double>(out[k]) - static_cast<double>(x[k % values]);
      sums[p] += difference * difference;
    }
  }
  // Every piece is zero on all ranks but one, so this sum is exact.
  RINGWARD_TRY(comm.AllReduce(comm::AsBuffer(std::span(sums)), comm::ReduceOp::kSum));
  double total = 0.0;
  for (const double sum : sums) total += sum;
  return total / static_cast<double>(rows.size() * data.inputs() * members);
}

Result<LoopResult> TrainLoop(const LoopContext& context, Optimizer& optimizer,
                             const LoopOptions& options, const LoopHooks& hooks) {
  RINGWARD_TRY(Validate(context, options));
  return Loop(context, optimizer, options, hooks).Run();
}

}  // namespace ringward::learn
