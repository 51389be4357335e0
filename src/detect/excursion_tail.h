#pragma once

#include <cstddef>
#include <vector>

namespace ringward::detect {

/// How high a healthy CUSUM climbs by chance, learned from its excursions: the stretches from 0
/// back to 0. The highest point of an excursion has an exponential tail, whatever the dependence
/// between neighbouring steps, as long as increments are bounded and fall on average (Lundberg;
/// Asmussen, Applied Probability and Queues, 2003, ch. XIII); its rate is fitted to the highest
/// tenth. Excursions of like series are pooled. Not safe for concurrent use.
class ExcursionTail {
 public:
  /// `usual_scale` is by how much such a CUSUM typically rises once more before it falls, in its
  /// own units: believed until excursions have shown it.
  explicit ExcursionTail(double usual_scale, std::size_t capacity = 16'384)
      : usual_scale_(usual_scale), capacity_(capacity) {}

  /// An excursion that ended by itself, with its highest point.
  void Add(float highest);
  /// Frames seen, of all series together: with them excursions become a rate.
  void AddFrames(double frames) { frames_ += frames; }

  /// The level that healthy series cross `expected` times while `frames` frames of all series
  /// together pass. Few excursions give a higher level.
  double Level(double frames, double expected) const;

 private:
  void Fit() const;

  double usual_scale_;
  std::size_t capacity_;
  std::size_t seen_ = 0;
  double frames_ = 0.0;
  std::vector<float> highest_;
  mutable std::size_t fitted_at_ = 0;  ///< excursions seen when the tail was fitted
  mutable double threshold_ = 0.0;
  mutable double scale_ = 0.0;
  mutable double share_ = 1.0;  ///< of excursions beyond the threshold
};

}  // namespace ringward::detect
