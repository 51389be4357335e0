#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "detect/excursion_tail.h"
#include "signal/topology.h"

namespace ringward::detect {

/// Finds members of a group (ranks, or stages) whose values have shifted up against their own past
/// and against the others, by one CUSUM per member.
///
/// x is a logarithm. Each member has a baseline, learned in a warm-up and followed slowly; what is
/// left after subtracting it and the group's common movement (the median of the others), over the
/// scale and clipped, is the score u. The scale holds the group's robust scale of single frames and
/// how far healthy members' levels wander from block to block, a wide guess at first. CUSUM: S =
/// max(0, S + u - k). k is half of the shift worth finding, in units of the scale (Page, Biometrika
/// 1954; Lorden 1971 for the choice of k), and larger while the baseline rests on few frames. The
/// alarm level comes from healthy excursions of all members pooled (excursion_tail.h).
///
/// Members that are alike share a group; groups of fewer than 3 are compared with everybody.
/// Not safe for concurrent use.
class RankShift {
 public:
  struct Options {
    std::size_t warmup = 32;   ///< frames that make the first baseline
    float shift = 0.0953F;     ///< of x, worth finding: log(1.1)
    float scale_min = 0.005F;  ///< of x: what is called noise at least
    float wander = 0.1F;       ///< guess of how far a member's level moves by itself for a while
  };

  /// REQUIRES: `groups` is a partition of 0 … members - 1.
  RankShift(std::size_t members, const signal::Topology::Groups& groups, const Options& options);

  /// Takes one frame, x [members], kMissing where nothing is known. False during the warm-up.
  bool Observe(std::span<const float> x);

  bool ready() const { return ready_; }
  std::size_t members() const { return score_.size(); }
  std::span<const float> score() const { return score_; }        ///< u, [members]; 0 where missing
  std::span<const float> residual() const { return residual_; }  ///< x - expected, [members]
  float expected(std::size_t member) const { return baseline_[member] + common_[member]; }
  /// Of x less the group's movement: how the member differs steadily. Of use once ready.
  float baseline(std::size_t member) const { return baseline_[member]; }
  float cusum(std::size_t member) const { return cusum_[member]; }
  /// The frame, counted from 0, in which the member's present excursion began.
  std::int64_t since(std::size_t member) const { return since_[member]; }
  std::int64_t frames() const { return frames_; }
  float scale() const { return scale_; }  ///< of x, just now

  /// The level that a healthy job's members cross `expected` times a day.
  double Level(double frames_per_day, double expected) const;
  /// Ends the member's excursion.
  void Restart(std::size_t member) { cusum_[member] = highest_[member] = 0.0F; }
  /// A member in trouble teaches neither its baseline nor the alarm level.
  void SetTrouble(std::size_t member, bool trouble) { trouble_[member] = trouble; }

 private:
  void Learn();
  void CenterOn(std::span<const float> history);
  void FindCommon(std::span<const float> x);
  void CommonOfSmall(const std::vector<std::int32_t>& group, std::span<const float> x);
  void CommonOfLarge(const std::vector<std::int32_t>& group, std::span<const float> x);
  void FindScale();
  void Step(std::span<const float> x);
  void EndExcursion(std::size_t member);
  void LearnWander();

  Options options_;
  signal::Topology::Groups groups_;
  bool ready_ = false;
  std::int64_t frames_ = 0;
  std::vector<float> history_;   ///< [warmup, members] until ready
  std::vector<float> baseline_;  ///< of x less the group's movement
  std::vector<float> common_;    ///< the group's movement, as each member sees it
  std::vector<float> residual_;
  std::vector<float> score_;
  std::vector<float> cusum_;
  std::vector<float> learned_;  ///< frames that the baseline rests on
  std::vector<std::int64_t> since_;
  std::vector<char> trouble_;
  float scale_ = 0.0F;
  float noise_ = 0.01F;       ///< the scale in the long run
  float long_scale_ = 0.0F;   ///< slow average
  float short_scale_ = 0.0F;  ///< fast average: noise that has just grown is no shift
  double wander_ = 0.0;       ///< sum over blocks of the members' mean squared level
  double blocks_ = 0.0;
  ExcursionTail tail_;
  std::vector<float> highest_;  ///< of each member's present excursion
  std::vector<float> level_;    ///< sum of residuals in this block, of every stride-th member
  std::size_t stride_ = 1;
  std::size_t block_frames_ = 0;
  std::vector<float> scratch_;
};

}  // namespace ringward::detect
