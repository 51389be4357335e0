#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "signal/cause.h"
#include "signal/event.h"
#include "signal/finding.h"

namespace ringward::recording {

/// One call of the watching path. A replay that makes the same calls, each with the events that
/// came since the one before, gets the same findings.
struct Call {
  std::uint64_t number = 0;      ///< counts a run's calls from 0
  signal::Time now{};            ///< that it was given
  std::int64_t last_event = -1;  ///< highest number of an event given by then; -1: none yet
  std::uint64_t dropped = 0;     ///< samples and events lost at the border since the call before
  std::optional<std::string> rules{};  ///< in force from this call on, as TOML; nothing: as before.
                                       ///< Also where the call that changed them is kept no more
};

/// What is written in one transaction, in this order. Looked at during the call only.
struct Batch {
  std::span<const signal::Event> events{};
  std::span<const Call> calls{};
  std::span<const signal::Finding> findings{};
  std::span<const signal::Cause> causes{};
};

}  // namespace ringward::recording
