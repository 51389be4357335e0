#pragma once

#include <array>
#include <cstdint>

namespace ringward {

/// Four 32-bit words that are a pure function of a key and a counter (Philox4x32-10, Salmon et al.,
/// "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Draws keyed by (row, epoch) are the
/// same on whichever rank the row lands, which is what makes a run independent of the world size.
std::array<std::uint32_t, 4> Philox(std::array<std::uint32_t, 2> key,
                                    std::array<std::uint32_t, 4> counter);

/// What a stream of random numbers is for; two purposes never share numbers.
enum class RngPurpose : std::uint32_t {
  kInit = 1,     ///< initial parameters
  kShuffle = 2,  ///< order of rows in an epoch
  kNoise = 3,    ///< input noise
  kDropout = 4,
  kSplit = 5,  ///< validation rows, calibration folds
  kBootstrap = 6,
  kSimulate = 7,
  kTest = 99,
};

/// A stream of random numbers: the same (seed, purpose, a, b) gives the same numbers everywhere.
/// Satisfies UniformRandomBitGenerator. Not safe for concurrent use; cheap to create.
class Rng {
 public:
  using result_type = std::uint32_t;
  /// `a` and `b` name the stream inside its purpose, e.g. row and epoch.
  explicit Rng(std::uint64_t seed, RngPurpose purpose = RngPurpose::kTest, std::uint64_t a = 0,
               std::uint32_t b = 0);
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT32_MAX; }
  result_type operator()();

  double Uniform();                          ///< in [0, 1), 53 bits
  std::uint64_t Below(std::uint64_t bound);  ///< in [0, bound), unbiased; bound > 0
  double Normal();                           ///< mean 0, standard deviation 1 (Box-Muller)

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

}  // namespace ringward
