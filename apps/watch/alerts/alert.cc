#include "watch/alerts/alert.h"

#include <fmt/format.h>

namespace ringward::watch {

std::string LineOf(const Alert& alert) {
  return fmt::format("[{}] {}: {}: {}",
                     alert.over && !alert.first ? "resolved" : NameOf(alert.cause.severity),
                     alert.job, alert.cause.cause, alert.cause.summary);
}

}  // namespace ringward::watch
