#pragma once

#include <immintrin.h>

namespace ringward::learn {

/// While it lives, this thread takes numbers below 1.2e-38 in magnitude as zero, in operands and
/// results. Moving means of gradients that became zero (dead units) decay into that range, where
/// many processors are a hundred times slower.
class FlushDenormals {
 public:
  FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | kFlushResults | kZeroOperands); }
  ~FlushDenormals() { _mm_setcsr(saved_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  static constexpr unsigned kFlushResults = 0x8000;
  static constexpr unsigned kZeroOperands = 0x0040;
  unsigned saved_;
};

}  // namespace ringward::learn
