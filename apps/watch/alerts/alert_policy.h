#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "watch/alerts/alert.h"
#include "watch/alerts/silence.h"

namespace ringward::watch {

struct AlertOptions {
  /// What is found within this time after the first goes out with it.
  std::chrono::milliseconds group_wait{2'000};
  /// The same cause of the same ranks is not told again for so long after it was over.
  std::chrono::milliseconds cooldown{600'000};
  /// What is open is repeated so often, for receivers that forget (Alertmanager).
  std::chrono::milliseconds reminder{60'000};
  std::vector<Silence> silences{};
};

/// When which incident is told to people. Pure: times come in, notices go out; not thread-safe.
///
/// - Incidents of a job are told together, `group_wait` after the first.
/// - While a job stands still (a critical incident is open), its slowness is not told: nobody
///   mends it then. It is told when the standstill is over and it is still there.
/// - What comes back within the cool-down is told only if it stays longer than that.
/// - An end is told where the beginning was.
class AlertPolicy {
 public:
  explicit AlertPolicy(AlertOptions options) : options_(std::move(options)) {}

  /// An incident as it stands now: new, changed or over.
  void Take(const Alert& alert, Clock::Duration now);
  /// What is due; call it once a second or so. A reminder comes last.
  std::vector<Notice> Due(Clock::Duration now);
  /// The watcher ends: what is waiting goes out, and nothing else follows.
  std::vector<Notice> Last();

  std::uint64_t silenced() const { return silenced_; }
  std::uint64_t held_back() const {
    return held_back_;
  }  ///< by the cool-down, once for each return

 private:
  using Key = std::pair<std::string, std::uint64_t>;  ///< job, incident
  struct State {
    Alert alert;
    Clock::Duration not_before{};  ///< when it may be told
    bool held = false;             ///< by the cool-down
    bool told = false;
    bool news = true;  ///< since it was told
  };

  static std::string SameTrouble(const Alert& alert);
  bool Stands(const std::string& job) const;
  void Begin(const Alert& alert, Clock::Duration now);
  /// `last`: nothing is waited for any more.
  bool IsDue(const State& state, Clock::Duration now, bool last) const;
  /// Whether it goes out with another of its job that is due.
  bool GoesAlong(const State& state) const;
  bool IsInhibited(const State& state) const;
  std::vector<Notice> Gather(Clock::Duration now, bool last);

  AlertOptions options_;
  std::map<Key, State> states_;                     ///< open, or over and not told yet
  std::map<std::string, Clock::Duration> cooling_;  ///< until when, by trouble
  Clock::Duration next_reminder_{};
  std::uint64_t silenced_ = 0;
  std::uint64_t held_back_ = 0;
};

}  // namespace ringward::watch
