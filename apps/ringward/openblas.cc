#include "ringward/openblas.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace ringward::bench {

std::unique_ptr<OpenBlas> OpenBlas::Load() {
  // Read once, when the library is loaded. Our caller has no other threads yet.
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  std::unique_ptr<OpenBlas> blas(new OpenBlas);
  blas->library_ = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
  if (blas->library_ == nullptr) return nullptr;
  blas->sgemm_ = reinterpret_cast<Sgemm>(dlsym(blas->library_, "cblas_sgemm"));
  blas->config_ = reinterpret_cast<Text>(dlsym(blas->library_, "openblas_get_config"));
  blas->core_ = reinterpret_cast<Text>(dlsym(blas->library_, "openblas_get_corename"));
  if (blas->sgemm_ == nullptr || blas->config_ == nullptr || blas->core_ == nullptr) return nullptr;
  return blas;
}

OpenBlas::~OpenBlas() {
  if (library_ != nullptr) dlclose(library_);
}

std::string OpenBlas::Name() const { return fmt::format("{} (kernels: {})", config_(), core_()); }

void OpenBlas::Multiply(bool a_transposed, bool b_transposed, int m, int n, int k, const float* a,
                        const float* b, float* c) const {
  constexpr int kRowMajor = 101;
  constexpr int kNoTranspose = 111;
  constexpr int kTranspose = 112;  // the values of cblas.h
  sgemm_(kRowMajor, a_transposed ? kTranspose : kNoTranspose,
         b_transposed ? kTranspose : kNoTranspose, m, n, k, 1.0F, a, a_transposed ? m : k, b,
         b_transposed ? k : n, 0.0F, c, n);
}

}  // namespace ringward::bench
