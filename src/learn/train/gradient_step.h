#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "comm/communicator.h"
#include "learn/data/window.h"
#include "learn/dense/plan.h"
#include "learn/score/expectation.h"
#include "learn/train/balancer.h"
#include "learn/train/sharding.h"
#include "learn/train/step_recorder.h"

namespace ringward::learn {

/// Which member learns from which row. A member never learns from rows of its own fold, so its
/// losses there are honest: they calibrate the threshold without a row set apart.
/// Members come in levels of `folds` each; member m of level m / folds leaves out fold m % folds
/// of that level's own partition of the rows.
struct Folds {
  std::size_t folds = 0;             ///< 0 = every member learns from every row
  std::size_t rows = 0;              ///< rows of the data set
  std::vector<std::uint8_t> of_row;  ///< [levels, rows]

  bool LeavesOut(std::size_t member, std::size_t row) const {
    return folds > 0 && of_row[member / folds * rows + row] == member % folds;
  }
};

struct StepOptions {
  std::uint64_t seed = 0;
  /// Sum the gradients of kDeterministicBlocks blocks of the global batch in one fixed order, so
  /// that the result does not depend on the number of ranks. Moves blocks x parameters a step.
  bool deterministic = false;
  /// Cut the batch by the speed each rank showed lately, not evenly: a slow core gets fewer rows.
  /// Which rows are summed on which rank then depends on time, and so do the gradient's last bits.
  bool balance = false;  ///< not with deterministic
  double trim = 0.0;  ///< share of each global batch, those of largest loss, ignored; in [0, 0.5]
};

inline constexpr std::size_t kDeterministicBlocks = 8;

/// Sums of one rank over the rows it has seen; add them over ranks, then divide.
struct LossSums {
  double learned = 0.0;   ///< losses of (row, member) pairs that were learned from
  double left_out = 0.0;  ///< losses of the pairs left out by fold
  double learned_pairs = 0.0;
  double left_out_pairs = 0.0;
  double rows = 0.0;
};

/// One data-parallel gradient: the global batch is cut over the ranks, each computes its part, and
/// every rank ends with the gradient of the mean loss over the whole batch in plan.gradients().
/// Which rows, noise and dropout are drawn does not depend on the world size.
/// Not safe for concurrent use. Keeps references: all arguments must outlive it.
class GradientStep {
 public:
  /// `rows` is the whole training set, the same on every rank; `batch_max` the global batch.
  /// `clock` tells how long work takes, where the options ask to balance it.
  GradientStep(comm::Communicator& comm, Plan& plan, const WindowedRows& rows, const Folds& folds,
               const Clock& clock, const StepOptions& options, std::size_t batch_max);

  /// Rows of the largest piece one rank computes at once: the plan's batch_max must reach it.
  static std::size_t PieceRowsMax(std::size_t batch_max, int world, const StepOptions& options);

  /// Tells phases, local loss and local gradient norm of every later Run(). The norm is left out in
  /// deterministic steps, which never hold a rank's own gradient in one place.
  void RecordTo(const StepRecorder& recorder) { recorder_ = recorder; }

  /// `batch` holds the rows of the global batch, the same on every rank. Adds to `sums`.
  /// Fails as the communicator does; kInvalidInput when a loss is not finite.
  Status Run(std::span<const std::uint32_t> batch, std::uint32_t epoch, LossSums& sums);

 private:
  std::vector<Range> CutBatch(std::size_t batch) const;
  std::span<const Range> PiecesOf(int rank) const;
  void Forward(std::span<const std::uint32_t> piece, std::uint32_t epoch, std::span<float> losses);
  Status FindTrimLimits(std::span<const std::uint32_t> batch, std::span<const float> own_losses);
  void FillWeights(std::span<const std::uint32_t> piece, std::span<const float> losses);
  void CountKept(std::span<const std::uint32_t> batch);
  Status AddLosses(std::span<const std::uint32_t> piece, std::span<const float> losses,
                   LossSums& sums);
  Status ForwardForTrimming(std::span<const std::uint32_t> batch, std::uint32_t epoch);
  Status GatherLosses(std::span<const float> own_losses, std::span<float> all);
  Status ComputePieces(std::span<const std::uint32_t> batch, std::uint32_t epoch, LossSums& sums);
  Status ComputePiece(std::span<const std::uint32_t> piece, std::uint32_t epoch, LossSums& sums);
  Status ReduceBlocks();

  comm::Communicator& comm_;
  Plan& plan_;
  const WindowedRows& rows_;
  const Folds& folds_;
  const StepOptions options_;
  const std::size_t members_;
  std::optional<Balancer> balancer_;
  StepRecorder recorder_;
  std::vector<Range> blocks_;  // of the batch under way, by rank
  Expectation expectation_;
  std::vector<float> input_;         // [piece, features]
  std::vector<RowKey> keys_;         // [piece]
  std::vector<float> losses_;        // [own rows of the batch, members]
  std::vector<float> weights_;       // [piece, members]
  std::vector<double> kept_;         // [members] pairs of the batch that count
  std::vector<float> trim_limits_;   // [members] largest loss that counts
  std::vector<float> batch_losses_;  // [batch, members], only when trimming
  std::vector<float> own_blocks_;    // [own blocks, parameters], only when deterministic
  std::vector<float> all_blocks_;    // [blocks, parameters]
};

}  // namespace ringward::learn
