#include "learn/train/gradient_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace ringward::learn {
namespace {

std::size_t BlocksOf(bool deterministic, int world) {
  return deterministic ? kDeterministicBlocks : static_cast<std::size_t>(world);
}

/// The blocks of the batch that `rank` computes.
Range OwnBlocks(bool deterministic, int rank, int world) {
  return PartOf(BlocksOf(deterministic, world), static_cast<std::size_t>(rank),
                static_cast<std::size_t>(world));
}

std::size_t RowsOf(std::span<const Range> pieces) {
  std::size_t rows = 0;
  for (const Range& piece : pieces) rows += piece.size();
  return rows;
}

}  // namespace

GradientStep::GradientStep(comm::Communicator& comm, Plan& plan, const WindowedRows& rows,
                           const Folds& folds, const Clock& clock, const StepOptions& options,
                           std::size_t batch_max)
    : comm_(comm),
      plan_(plan),
      rows_(rows),
      folds_(folds),
      options_(options),
      members_(static_cast<std::size_t>(plan.spec().members)),
      expectation_(plan, PieceRowsMax(batch_max, comm.size(), options)) {
  const std::size_t piece = PieceRowsMax(batch_max, comm.size(), options);
  const Range own = OwnBlocks(options.deterministic, comm.rank(), comm.size());
  input_.resize(piece * rows.inputs());
  keys_.resize(piece);
  weights_.resize(piece * members_);
  losses_.resize(piece * own.size() * members_);
  kept_.resize(members_);
  trim_limits_.assign(members_, std::numeric_limits<float>::infinity());
  if (options.balance && comm.size() > 1) balancer_.emplace(comm, clock);
  if (options.trim > 0.0) batch_losses_.resize(batch_max * members_);
  if (options.deterministic) {
    own_blocks_.resize(own.size() * plan.parameters().size());
    all_blocks_.resize(kDeterministicBlocks * plan.parameters().size());
  }
}

std::size_t GradientStep::PieceRowsMax(std::size_t batch_max, int world,
                                       const StepOptions& options) {
  if (options.balance) {
    return BatchShares::PieceRowsMax(batch_max, static_cast<std::size_t>(world));
  }
  return PartOf(batch_max, 0, BlocksOf(options.deterministic, world)).size();
}

std::vector<Range> GradientStep::CutBatch(std::size_t batch) const {
  if (balancer_) return balancer_->shares().Cut(batch);
  return CutEvenly(batch, BlocksOf(options_.deterministic, comm_.size()));
}

std::span<const Range> GradientStep::PiecesOf(int rank) const {
  const Range own = OwnBlocks(options_.deterministic, rank, comm_.size());
  return std::span(blocks_).subspan(own.first, own.size());
}

void GradientStep::Forward(std::span<const std::uint32_t> piece, std::uint32_t epoch,
                           std::span<float> losses) {
  recorder_.Enter(telemetry::Phase::kData);
  for (std::size_t i = 0; i < piece.size(); ++i) {
    rows_.CopyRow(piece[i], std::span(input_).subspan(i * rows_.inputs(), rows_.inputs()));
    keys_[i] = {piece[i], epoch};
  }
  const auto x = std::span(input_).first(piece.size() * rows_.inputs());
  // What the nets expect of a missing number is also what they are to give: it teaches nothing.
  expectation_.FillMissing(x, piece.size());
  recorder_.Enter(telemetry::Phase::kForward);
  plan_.Forward(x, x, std::span(keys_).first(piece.size()), options_.seed, losses);
}

void GradientStep::CountKept(std::span<const std::uint32_t> batch) {
  for (std::size_t m = 0; m < members_; ++m) {
    const auto learned = std::count_if(
        batch.begin(), batch.end(), [&](std::uint32_t row) { return !folds_.LeavesOut(m, row); });
    kept_[m] = static_cast<double>(learned);
  }
}

Status GradientStep::GatherLosses(std::span<const float> own_losses, std::span<float> all) {
  std::vector<std::size_t> counts;
  counts.reserve(static_cast<std::size_t>(comm_.size()));
  for (int r = 0; r < comm_.size(); ++r) {
    counts.push_back(RowsOf(PiecesOf(r)) * members_);
  }
  // The communicator's buffers are mutable views; AllGatherV only reads `send`.
  const auto send = std::span(const_cast<float*>(own_losses.data()), own_losses.size());
  if (balancer_) balancer_->Pause();
  recorder_.Enter(telemetry::Phase::kCommunicate);
  RINGWARD_TRY(comm_.AllGatherV(comm::AsBuffer(send), comm::AsBuffer(all), counts));
  recorder_.Enter(telemetry::Phase::kForward);
  if (balancer_) balancer_->Work();
  return Ok();
}

Status GradientStep::FindTrimLimits(std::span<const std::uint32_t> batch,
                                    std::span<const float> own_losses) {
  const auto all = std::span(batch_losses_).first(batch.size() * members_);
  RINGWARD_TRY(GatherLosses(own_losses, all));
  std::vector<float> learned;
  for (std::size_t m = 0; m < members_; ++m) {
    learned.clear();
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (!folds_.LeavesOut(m, batch[i])) learned.push_back(all[i * members_ + m]);
    }
    if (learned.empty()) continue;
    const auto keep = std::max<std::size_t>(
        1, static_cast<std::size_t>(
               std::ceil((1.0 - options_.trim) * static_cast<double>(learned.size()))));
    const auto last = learned.begin() + static_cast<std::ptrdiff_t>(keep - 1);
    std::nth_element(learned.begin(), last, learned.end());
    trim_limits_[m] = *last;
    kept_[m] = static_cast<double>(
        std::count_if(learned.begin(), learned.end(), [&](float x) { return x <= *last; }));
  }
  return Ok();
}

void GradientStep::FillWeights(std::span<const std::uint32_t> piece,
                               std::span<const float> losses) {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    for (std::size_t m = 0; m < members_; ++m) {
      const bool counts =
          !folds_.LeavesOut(m, piece[i]) && losses[i * members_ + m] <= trim_limits_[m];
      weights_[i * members_ + m] = counts ? static_cast<float>(1.0 / kept_[m]) : 0.0F;
    }
  }
}

Status GradientStep::AddLosses(std::span<const std::uint32_t> piece, std::span<const float> losses,
                               LossSums& sums) {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    for (std::size_t m = 0; m < members_; ++m) {
      const double loss = losses[i * members_ + m];
      if (!std::isfinite(loss)) {
        recorder_.LocalLoss(loss, 0);
        return Error(Code::kInvalidInput, "training diverged: the loss of training row " +
                                              std::to_string(piece[i]) +
                                              " is not finite; lower --learning-rate");
      }
      const bool left_out = folds_.LeavesOut(m, piece[i]);
      (left_out ? sums.left_out : sums.learned) += loss;
      (left_out ? sums.left_out_pairs : sums.learned_pairs) += 1.0;
    }
  }
  sums.rows += static_cast<double>(piece.size());
  return Ok();
}

Status GradientStep::ReduceBlocks() {
  const std::size_t parameters = plan_.parameters().size();
  std::vector<std::size_t> counts;
  counts.reserve(static_cast<std::size_t>(comm_.size()));
  for (int r = 0; r < comm_.size(); ++r) {
    counts.push_back(OwnBlocks(true, r, comm_.size()).size() * parameters);
  }
  RINGWARD_TRY(comm_.AllGatherV(comm::AsBuffer(std::span(own_blocks_)),
                                comm::AsBuffer(std::span(all_blocks_)), counts));
  const auto gradients = plan_.gradients();
  std::fill(gradients.begin(), gradients.end(), 0.0F);
  for (std::size_t b = 0; b < kDeterministicBlocks; ++b) {
    const float* block = all_blocks_.data() + b * parameters;
    for (std::size_t i = 0; i < parameters; ++i) gradients[i] += block[i];
  }
  return Ok();
}

Status GradientStep::ForwardForTrimming(std::span<const std::uint32_t> batch, std::uint32_t epoch) {
  std::size_t done = 0;
  for (const Range& piece : PiecesOf(comm_.rank())) {
    const auto losses = std::span(losses_).subspan(done * members_, piece.size() * members_);
    if (piece.size() > 0) Forward(batch.subspan(piece.first, piece.size()), epoch, losses);
    done += piece.size();
  }
  return FindTrimLimits(batch, std::span(losses_).first(done * members_));
}

Status GradientStep::ComputePiece(std::span<const std::uint32_t> piece, std::uint32_t epoch,
                                  LossSums& sums) {
  if (piece.empty()) {
    std::fill(plan_.gradients().begin(), plan_.gradients().end(), 0.0F);
    return Ok();
  }
  const auto losses = std::span(losses_).first(piece.size() * members_);
  Forward(piece, epoch, losses);
  RINGWARD_TRY(AddLosses(piece, losses, sums));
  recorder_.Enter(telemetry::Phase::kBackward);
  FillWeights(piece, losses);
  plan_.Backward(std::span<const float>(weights_).first(piece.size() * members_));
  return Ok();
}

Status GradientStep::ComputePieces(std::span<const std::uint32_t> batch, std::uint32_t epoch,
                                   LossSums& sums) {
  CountKept(batch);
  if (options_.trim > 0.0) RINGWARD_TRY(ForwardForTrimming(batch, epoch));
  auto block = own_blocks_.begin();
  for (const Range& piece : PiecesOf(comm_.rank())) {
    RINGWARD_TRY(ComputePiece(batch.subspan(piece.first, piece.size()), epoch, sums));
    if (options_.deterministic) {
      block = std::copy(plan_.gradients().begin(), plan_.gradients().end(), block);
    }
  }
  return Ok();
}

Status GradientStep::Run(std::span<const std::uint32_t> batch, std::uint32_t epoch,
                         LossSums& sums) {
  blocks_ = CutBatch(batch.size());
  if (balancer_) balancer_->Work();
  const LossSums before = sums;
  RINGWARD_TRY(ComputePieces(batch, epoch, sums));
  recorder_.LocalLoss(
      (sums.learned - before.learned) / std::max(sums.learned_pairs - before.learned_pairs, 1.0),
      static_cast<std::size_t>(sums.rows - before.rows));
  if (!options_.deterministic) recorder_.LocalGradient(plan_.gradients());
  recorder_.Enter(telemetry::Phase::kCommunicate);
  if (options_.deterministic) return ReduceBlocks();
  if (balancer_) balancer_->Pause();
  RINGWARD_TRY(comm_.AllReduce(comm::AsBuffer(plan_.gradients()), comm::ReduceOp::kSum));
  return balancer_ ? balancer_->EndStep(RowsOf(PiecesOf(comm_.rank()))) : Ok();
}

}  // namespace ringward::learn
