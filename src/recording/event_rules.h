#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "signal/event.h"

namespace ringward::recording {

/// What holds for the events of a recording; the writer takes nothing that a reader would refuse.
/// Numbers rise, times do not fall, steps of a job's frames rise, ranks are below the world of the
/// last JobOpened, columns have its size.
class EventRules {
 public:
  /// The number of the last event seen, or that reading begins after.
  explicit EventRules(std::optional<std::uint64_t> last = {}, std::size_t world = 0)
      : last_(last), world_(world) {}

  /// Null, and the event counts as seen; else what is wrong with it.
  const char* Check(const signal::Event& event);
  std::size_t world() const { return world_; }
  std::optional<std::uint64_t> last() const { return last_; }

 private:
  const char* CheckWhat(const signal::Event& event) const;
  const char* CheckFrame(const signal::Frame& frame) const;
  const char* CheckLogLine(const signal::LogLine& line) const;
  bool IsRank(std::int32_t rank) const {
    return rank >= 0 && static_cast<std::size_t>(rank) < world_;
  }

  std::optional<std::uint64_t> last_;
  std::optional<signal::Time> received_;
  std::optional<std::int64_t> step_;
  std::size_t world_;
};

}  // namespace ringward::recording
