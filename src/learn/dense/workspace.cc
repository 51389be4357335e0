#include "learn/dense/workspace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

namespace ringward::learn {

std::size_t Workspace::Reserve(double count) {
  RINGWARD_CHECK(memory_ == nullptr && count >= 0);
  constexpr double kLine = 16;  // floats of a cache line
  const double handle = floats_;
  constexpr double kSlackLines = 4;
  floats_ += (std::ceil(count / kLine) + kSlackLines) * kLine;
  // Beyond 2^53 the handle would be wrong, but Allocate() refuses long before.
  return handle < 0x1p53 ? static_cast<std::size_t>(handle) : 0;
}

Status Workspace::Allocate() {
  const double bytes = floats_ * sizeof(float);
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const auto refused = [&] {
    return Error(Code::kResource,
                 fmt::format("the net needs {:.0f} MB of memory, this machine has {:.0f} MB",
                             bytes / 1e6, memory / 1e6));
  };
  if (bytes > memory) return refused();
  const auto size = static_cast<std::size_t>(bytes);
  memory_.reset(static_cast<float*>(::operator new[](size, std::align_val_t{64}, std::nothrow)));
  if (memory_ == nullptr) return refused();
  std::memset(memory_.get(), 0, size);
  return Ok();
}

}  // namespace ringward::learn
