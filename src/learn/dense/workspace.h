#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include "base/result.h"

namespace ringward::learn {

/// One block of float32 from which a plan's buffers are cut, each aligned to 64 bytes. Usage:
/// Reserve() every buffer, Allocate() once, then At() gives the addresses. Zero at first.
class Workspace {
 public:
  /// Asks for `count` floats; returns the handle for At(). Room for 64 more follows
  /// every buffer, into which vectors may reach.
  std::size_t Reserve(double count);

  /// Fails with kResource where the sum exceeds the machine's memory.
  Status Check() const;
  /// Fails like Check(), and where the memory cannot be had.
  Status Allocate();

  float* At(std::size_t handle) const { return memory_.get() + handle; }

 private:
  Error Refused() const;
  struct Free {
    void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  double floats_ = 0;
  std::unique_ptr<float[], Free> memory_;
};

}  // namespace ringward::learn
