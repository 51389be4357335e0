#pragma once

#include <memory>
#include <string>

namespace ringward::bench {

/// The OpenBLAS of this machine, loaded when asked for: benchmarks compare with it, nothing else
/// needs it, and linked in it would start its threads in every subcommand. Runs on one thread.
class OpenBlas {
 public:
  /// Null where libopenblas.so.0 is not installed or lacks a function.
  static std::unique_ptr<OpenBlas> Load();
  ~OpenBlas();
  OpenBlas(const OpenBlas&) = delete;
  OpenBlas& operator=(const OpenBlas&) = delete;

  /// Version and the processor its kernels were chosen for.
  std::string Name() const;

  /// c [m, n] = a [m, k] * b [k, n], row-major; a transposed operand is stored as [k, m] or [n, k].
  void Multiply(bool a_transposed, bool b_transposed, int m, int n, int k, const float* a,
                const float* b, float* c) const;

 private:
  using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                         float, float*, int);
  using Text = const char* (*)();
  OpenBlas() = default;

  void* library_ = nullptr;
  Sgemm sgemm_ = nullptr;
  Text config_ = nullptr;
  Text core_ = nullptr;
};

}  // namespace ringward::bench
