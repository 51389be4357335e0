#pragma once

#include <cstdint>

#include "detect/excursion_tail.h"
#include "detect/robust.h"

namespace ringward::detect {

/// Finds a lasting shift up of one series against its own past: a CUSUM of clipped scores as in
/// rank_shift.h. One series has no likes to be compared with, so what its level wanders from block
/// to block in health counts as noise, and until that is known a wide guess stands for it.
/// Not safe for concurrent use.
class LevelShift {
 public:
  struct Options {
    std::size_t warmup = 32;   ///< values that make the first baseline
    float shift = 0.0953F;     ///< worth finding
    float scale_min = 0.005F;  ///< what is called noise at least
    float wander = 0.1F;       ///< guess of how far the level of a block moves by itself
  };

  explicit LevelShift(const Options& options);

  /// False during the warm-up.
  bool Observe(float x);

  float baseline() const { return baseline_; }
  /// How far the level of a block moves by itself.
  float wander() const;
  float score() const { return score_; }
  float cusum() const { return cusum_; }
  std::int64_t since() const { return since_; }  ///< value, from 0, at which the excursion began
  double Level(double values_per_day, double expected) const;
  void Restart() { cusum_ = highest_ = 0.0F; }
  /// In trouble nothing is learned.
  void SetTrouble(bool trouble) { trouble_ = trouble; }

 private:
  void EndBlock();

  Options options_;
  Recent first_;
  bool ready_ = false;
  bool trouble_ = false;
  std::int64_t count_ = 0;
  std::int64_t since_ = 0;
  float baseline_ = 0.0F;
  float scale_ = 0.0F;
  float score_ = 0.0F;
  float cusum_ = 0.0F;
  float learned_ = 0.0F;
  ExcursionTail tail_;
  float highest_ = 0.0F;      ///< of the present excursion
  float block_level_ = 0.0F;  ///< sum of clipped differences to the baseline
  int block_count_ = 0;
  float last_level_ = 0.0F;
  float squares_ = 0.0F;  ///< of the differences between blocks' levels
  int blocks_ = 0;
};

}  // namespace ringward::detect
