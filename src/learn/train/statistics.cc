#include "learn/train/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "learn/dense/second_moments.h"
#include "learn/train/sharding.h"

namespace ringward::learn {
namespace {

/// The rows are cut into this many groups whatever the number of ranks; their sums are added in
/// order, which makes the result independent of who computed which.
constexpr std::size_t kGroups = 8;

Range GroupsOf(const comm::Communicator& comm, int rank) {
  return PartOf(kGroups, static_cast<std::size_t>(rank), static_cast<std::size_t>(comm.size()));
}

/// Rows of the largest group: no chunk has more.
std::size_t GroupRowsMax(std::size_t rows) { return (rows + kGroups - 1) / kGroups; }

int OwnerOf(const comm::Communicator& comm, std::size_t group) {
  int owner = 0;
  while (GroupsOf(comm, owner).last <= group) ++owner;
  return owner;
}

double SquaredLength(const float* values, std::size_t count) {
  double sum = 0.0;
  for (std::size_t j = 0; j < count; ++j) {
    sum += static_cast<double>(values[j]) * static_cast<double>(values[j]);
  }
  return sum;
}

/// Adds residuals' second moments, lower triangle or variances only, to `moments`.
void AddProducts(std::span<const float> residuals, std::size_t width, std::span<double> moments) {
  if (moments.size() > width) return AddSecondMoments(residuals, width, moments);
  for (std::size_t k = 0; k < residuals.size(); ++k) {
    moments[k % width] += static_cast<double>(residuals[k]) * static_cast<double>(residuals[k]);
  }
}

void MirrorLower(double* moments, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) {
    for (std::size_t j = 0; j < i; ++j) moments[j * width + i] = moments[i * width + j];
  }
}

}  // namespace

TrainingStatistics::TrainingStatistics(comm::Communicator& comm, Plan& plan,
                                       const WindowedRows& data,
                                       std::span<const std::uint32_t> rows, const Folds& folds,
                                       std::size_t batch_max)
    : comm_(comm),
      plan_(plan),
      data_(data),
      rows_(rows),
      folds_(folds),
      batch_max_(std::min(batch_max, std::max<std::size_t>(1, GroupRowsMax(rows.size())))),
      inputs_(data.inputs()),
      members_(static_cast<std::size_t>(plan.spec().members)),
      expectation_(plan, batch_max_),
      x_(batch_max_ * data.inputs()) {}

/// Calls visit(first position, rows) for each chunk of a group, with the chunk's inputs in x_, what
/// they miss filled in.
template <typename Visit>
void TrainingStatistics::VisitChunks(std::size_t group, Visit visit) {
  const Range range = PartOf(rows_.size(), group, kGroups);
  for (std::size_t first = range.first; first < range.last; first += batch_max_) {
    const std::size_t count = std::min(batch_max_, range.last - first);
    for (std::size_t i = 0; i < count; ++i) {
      data_.CopyRow(rows_[first + i], std::span(x_).subspan(i * inputs_, inputs_));
    }
    expectation_.FillMissing(std::span(x_).first(count * inputs_), count);
    visit(first, count);
  }
}

/// Of the first `count` rows of x_, by member.
std::span<const float> TrainingStatistics::ResidualsOf(std::size_t count) {
  residuals_.resize(members_ * batch_max_ * inputs_);
  const auto residuals = std::span(residuals_).first(members_ * count * inputs_);
  Residuals(plan_, std::span(x_).first(count * inputs_), count, residuals);
  return residuals;
}

Result<std::vector<float>> TrainingStatistics::ResidualLimits(double trim) {
  std::vector<float> limits(members_, std::numeric_limits<float>::infinity());
  if (trim == 0.0) return limits;
  std::vector<float> lengths(rows_.size() * members_, 0.0F);
  const Range own = GroupsOf(comm_, comm_.rank());
  for (std::size_t group = own.first; group < own.last; ++group) {
    VisitChunks(group, [&](std::size_t first, std::size_t count) {
      const std::size_t values = count * inputs_;
      const auto residuals = ResidualsOf(count);
      for (std::size_t k = 0; k < count * members_; ++k) {
        const std::size_t row = k / members_;
        const std::size_t member = k % members_;
        lengths[first * members_ + k] = static_cast<float>(
            SquaredLength(residuals.data() + member * values + row * inputs_, inputs_));
      }
    });
  }
  RINGWARD_TRY(comm_.AllReduce(comm::AsBuffer(std::span(lengths)), comm::ReduceOp::kSum));
  for (std::size_t m = 0; m < members_; ++m) {
    std::vector<float> learned;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!folds_.LeavesOut(m, rows_[i])) learned.push_back(lengths[i * members_ + m]);
    }
    if (learned.empty()) continue;
    const double kept = std::ceil((1.0 - trim) * static_cast<double>(learned.size()));
    const auto last = learned.begin() + static_cast<std::ptrdiff_t>(std::max(kept, 1.0)) - 1;
    std::nth_element(learned.begin(), last, learned.end());
    limits[m] = *last;
  }
  return limits;
}

void TrainingStatistics::AddMoments(std::size_t group, std::span<const float> limits,
                                    std::vector<double>& moments) {
  if (PartOf(rows_.size(), group, kGroups).size() == 0) return;  // rows are fewer than groups
  // Behind each member's moments lies the number of rows that made them.
  const std::size_t stride = Whitening::MomentCount(inputs_) + 1;
  std::vector<float> learned(batch_max_ * inputs_);
  VisitChunks(group, [&](std::size_t first, std::size_t count) {
    const std::size_t values = count * inputs_;
    const auto residuals = ResidualsOf(count);
    for (std::size_t m = 0; m < members_; ++m) {
      std::size_t rows = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const float* residual = residuals.data() + m * values + i * inputs_;
        if (folds_.LeavesOut(m, rows_[first + i])) continue;
        if (static_cast<float>(SquaredLength(residual, inputs_)) > limits[m]) continue;
        std::copy_n(residual, inputs_, learned.data() + rows * inputs_);
        ++rows;
      }
      AddProducts(std::span(learned).first(rows * inputs_), inputs_,
                  std::span(moments).subspan(m * stride, stride - 1));
      moments[m * stride + stride - 1] += static_cast<double>(rows);
    }
  });
}

Result<std::vector<double>> TrainingStatistics::SumGroups(std::span<const float> limits) {
  const std::size_t size = members_ * (Whitening::MomentCount(inputs_) + 1);
  const Range own = GroupsOf(comm_, comm_.rank());
  std::vector<double> total(size, 0.0);
  std::vector<double> other(size, 0.0);
  if (comm_.size() == 1) {
    for (std::size_t g = 0; g < kGroups; ++g) {
      if (g > 0) std::fill(other.begin(), other.end(), 0.0);
      AddMoments(g, limits, other);
      for (std::size_t k = 0; k < size; ++k) total[k] += other[k];
    }
    return total;
  }
  // All ranks work on theirs at once, before they wait for one another's.
  std::vector<std::vector<double>> groups(own.size(), std::vector<double>(size, 0.0));
  for (std::size_t g = 0; g < own.size(); ++g) AddMoments(own.first + g, limits, groups[g]);
  for (std::size_t g = 0; g < kGroups; ++g) {
    const bool mine = g >= own.first && g < own.last;
    std::vector<double>& group = mine ? groups[g - own.first] : other;
    RINGWARD_TRY(comm_.Broadcast(comm::AsBuffer(std::span(group)), OwnerOf(comm_, g)));
    for (std::size_t k = 0; k < size; ++k) total[k] += group[k];
  }
  return total;
}

Result<std::vector<Whitening>> TrainingStatistics::FitWhitening(double ridge, double trim,
                                                                const IndicatorBounds& bounds) {
  RINGWARD_ASSIGN(const auto limits, ResidualLimits(trim));
  RINGWARD_ASSIGN(auto total, SumGroups(limits));
  const std::size_t count = Whitening::MomentCount(inputs_);
  std::vector<Whitening> whitening;
  for (std::size_t m = 0; m < members_; ++m) {
    double* moments = total.data() + m * (count + 1);
    const double rows = std::max(moments[count], 1.0);
    for (std::size_t k = 0; k < count; ++k) moments[k] /= rows;
    if (count != inputs_) MirrorLower(moments, inputs_);
    const auto own = std::span<const double>(moments, count);
    RINGWARD_ASSIGN(auto fitted, Whitening::Fit(own, inputs_, ridge, bounds.Added(own)));
    whitening.push_back(std::move(fitted));
  }
  return whitening;
}

/// Group k of a row holds, of each level, the member k folds after the one that left the row out:
/// group 0 never saw the row, the others did.
void TrainingStatistics::SummariseRow(std::size_t row, std::span<const double> members,
                                      double& log_q, double& variance) const {
  const std::size_t folds = std::max<std::size_t>(1, folds_.folds);
  const std::size_t levels = members_ / folds;
  std::vector<double> groups(folds, 0.0);
  for (std::size_t level = 0; level < levels; ++level) {
    const std::size_t own = folds_.folds > 0 ? folds_.of_row[level * folds_.rows + row] : 0;
    for (std::size_t k = 0; k < folds; ++k) {
      groups[k] +=
          LogMemberScore(members[level * folds + (own + k) % folds]) / static_cast<double>(levels);
    }
  }
  log_q = groups[0];
  variance = 0.0;
  if (folds < 3) return;
  const double count = static_cast<double>(folds - 1);
  double mean = 0.0;
  for (std::size_t k = 1; k < folds; ++k) mean += groups[k] / count;
  for (std::size_t k = 1; k < folds; ++k) {
    variance += (groups[k] - mean) * (groups[k] - mean) / (count - 1.0);
  }
}

Result<TrainingStatistics::RowScores> TrainingStatistics::LeftOutScores(const ScoreParts& parts) {
  RowScores result{std::vector<double>(rows_.size(), 0.0), std::vector<double>(rows_.size(), 0.0)};
  Scorer scorer(plan_, parts, batch_max_);
  std::vector<double> scores(batch_max_ * members_);
  const Range own = GroupsOf(comm_, comm_.rank());
  for (std::size_t group = own.first; group < own.last; ++group) {
    VisitChunks(group, [&](std::size_t first, std::size_t count) {
      const auto part = std::span(scores).first(count * members_);
      scorer.MemberScores(std::span(x_).first(count * inputs_), count, part);
      for (std::size_t i = 0; i < count; ++i) {
        SummariseRow(rows_[first + i], part.subspan(i * members_, members_),
                     result.log_q[first + i], result.variance[first + i]);
      }
    });
  }
  // Zero on all ranks but one: the sums are exact.
  RINGWARD_TRY(comm_.AllReduce(comm::AsBuffer(std::span(result.log_q)), comm::ReduceOp::kSum));
  RINGWARD_TRY(comm_.AllReduce(comm::AsBuffer(std::span(result.variance)), comm::ReduceOp::kSum));
  return result;
}

Result<std::vector<double>> TrainingStatistics::NeighbourDistances(
    const Neighbours& neighbours, std::span<const std::uint32_t> references) {
  std::unordered_map<std::uint32_t, std::int32_t> reference_of;
  for (std::size_t i = 0; i < references.size(); ++i) {
    reference_of.emplace(references[i], static_cast<std::int32_t>(i));
  }
  std::vector<double> result(rows_.size(), 0.0);
  std::vector<std::int32_t> own_reference(batch_max_);
  const Range own = GroupsOf(comm_, comm_.rank());
  for (std::size_t group = own.first; group < own.last; ++group) {
    VisitChunks(group, [&](std::size_t first, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto found = reference_of.find(rows_[first + i]);
        own_reference[i] = found == reference_of.end() ? -1 : found->second;
      }
      neighbours.Distances(std::span(x_).first(count * inputs_), count,
                           std::span(own_reference).first(count),
                           std::span(result).subspan(first, count));
    });
  }
  RINGWARD_TRY(comm_.AllReduce(comm::AsBuffer(std::span(result)), comm::ReduceOp::kSum));
  return result;
}

}  // namespace ringward::learn
