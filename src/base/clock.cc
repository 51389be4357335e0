#include "base/clock.h"

namespace ringward {
namespace {

class MachineClock final : public Clock {
 public:
  Duration Now() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
  Duration WallNow() const override { return std::chrono::system_clock::now().time_since_epoch(); }
};

}  // namespace

const Clock& SystemClock() {
  static const MachineClock clock;
  return clock;
}

}  // namespace ringward
