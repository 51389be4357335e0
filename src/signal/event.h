#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "signal/cause.h"
#include "signal/frame.h"
#include "signal/metric.h"
#include "signal/topology.h"

namespace ringward::signal {

/// A job begins, or becomes known: first event of a run.
struct JobOpened {
  std::string job;
  Topology topology;
};

/// The job ended well: silence after it means nothing.
struct JobClosed {};

/// Where a rank stands; sent when that changed, and as a sign of life.
struct Progress {
  std::int32_t rank = 0;
  std::int64_t step = -1;
  Phase phase = Phase::kOther;
  std::uint64_t sequence = 0;  ///< collectives entered so far
  bool in_collective = false;  ///< inside the last of them
  /// Its process is stopped; or, outside a collective (where waiting may be sleeping), it has used
  /// no processor since the last report.
  bool idle = false;
};

/// A rank's process ended.
struct RankEnded {
  static constexpr std::int32_t kUnknown = -1;
  std::int32_t rank = 0;
  std::int32_t exit_status =
      0;  ///< 0: also where another's end took it along; kUnknown: gone without a word
  std::int32_t signal = 0;  ///< that killed it; 0: none
};

/// Nothing comes from a rank although it may be well: its agent or its network is gone.
struct SourceLost {
  std::vector<std::int32_t> ranks;
};
struct SourceBack {
  std::vector<std::int32_t> ranks;
};

/// A line of a log that says what became of ranks.
struct LogLine {
  enum class Kind : std::uint8_t {
    kStalled,  ///< others wait for them in a collective
    kDiffers,  ///< they are in another collective than the others
    kFailed,   ///< an error that ends them
  };
  static constexpr std::size_t kKinds = 3;
  Kind kind = Kind::kFailed;
  Category category = Category::kProcessCrash;
  std::vector<std::int32_t> ranks;  ///< none: not told, or undecided
  double seconds = 0.0;             ///< of kStalled: they have been waited for at least so long
  Evidence where;
};

/// What the watching path is fed with. `number` counts a run's events from 0.
struct Event {
  std::uint64_t number = 0;
  Time received{};
  std::variant<JobOpened, JobClosed, Frame, Progress, RankEnded, SourceLost, SourceBack, LogLine>
      what;
};

}  // namespace ringward::signal
