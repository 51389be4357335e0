#include "ringward/detect_options.h"

namespace ringward::cli {

void AddDetectOptions(OptionTable& table, detect::DetectOptions& options) {
  table.Add("false-alarms-per-day", &options.false_alarms_per_day, {.min = 1e-6, .max = 1e6},
            "alarms that a healthy job may give by chance in a day");
  table.Add("worth", &options.worth, {.min = 0.0, .max = 1.0},
            "slowness below this share of a step is not told");
  table.Add("silence-seconds", &options.silence_seconds, {.min = 0.1, .max = 86'400.0},
            "how long a rank may not move while others wait for it");
}

}  // namespace ringward::cli
