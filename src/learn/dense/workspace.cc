#include "learn/dense/workspace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

namespace ringward::learn {
namespace {

double MachineBytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::size_t Workspace::Reserve(double count) {
  RINGWARD_CHECK(memory_ == nullptr && count >= 0);
  constexpr double kLine = 16;  // floats of a cache line
  const double handle = floats_;
  constexpr double kSlackLines = 4;
  floats_ += (std::ceil(count / kLine) + kSlackLines) * kLine;
  // Beyond 2^53 the handle would be wrong, but Allocate() refuses long before.
  return handle < 0x1p53 ? static_cast<std::size_t>(handle) : 0;
}

Error Workspace::Refused() const {
  return {Code::kResource,
          fmt::format("the net needs {:.0f} MB of memory, this machine has {:.0f} MB",
                      floats_ * sizeof(float) / 1e6, MachineBytes() / 1e6)};
}

Status Workspace::Check() const {
  if (floats_ * sizeof(float) > MachineBytes()) return Refused();
  return Ok();
}

Status Workspace::Allocate() {
  RINGWARD_TRY(Check());
  const auto size = static_cast<std::size_t>(floats_ * sizeof(float));
  memory_.reset(static_cast<float*>(::operator new[](size, std::align_val_t{64}, std::nothrow)));
  if (memory_ == nullptr) return Refused();
  std::memset(memory_.get(), 0, size);
  return Ok();
}

}  // namespace ringward::learn
