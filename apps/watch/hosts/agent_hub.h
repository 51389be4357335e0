#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "watch/hosts/clock_offset.h"
#include "watch/hosts/wire.h"
#include "watch/source.h"

namespace ringward::watch {

/// What is answered to a message, as HTTP says it.
struct AgentReply {
  unsigned status = 200;
  std::string body;  ///< an AgentAnswer; where the message was refused, why
};

/// One agent as it stands.
struct AgentStatus {
  std::string host;
  std::string software;
  bool heard = false;              ///< else we are blind to its ranks
  Clock::Duration silent{};        ///< since when nothing was heard, while we listened
  std::size_t ranks = 0;           ///< that it follows
  std::uint64_t messages = 0;      ///< taken
  std::uint64_t again = 0;         ///< came twice, taken once
  std::uint64_t missing = 0;       ///< messages of its numbering that never came
  std::uint64_t dropped = 0;       ///< records it could not keep while it could not send
  std::uint64_t refused = 0;       ///< from another that says to be this host
  Clock::Duration clock_unsure{};  ///< how far its times may be off
};

struct AgentHubOptions {
  /// So long without a word, and we are blind to the ranks of an agent. Time in which nobody
  /// looked does not count: a watcher that slept does not know.
  Clock::Duration silent_after = std::chrono::seconds(3);
};

/// Where the agents of other hosts tell what they see. One host has one agent: of two that say to
/// be the same host the first is believed until it is silent. Nothing a peer sends stops it, and
/// what it holds is bounded. Thread-safe: messages come on the server's thread, looks are the
/// watcher's.
class AgentHub {
 public:
  /// `clock` outlives it.
  AgentHub(AgentHubOptions options, const Clock& clock);

  /// A message as it came.
  AgentReply Take(std::string_view body);
  /// Every rank that agents follow, once, as Source::Look() says; times on our clock.
  std::vector<RankSight> Look();
  std::vector<AgentStatus> agents() const;

 private:
  using RankKey = std::tuple<std::string, std::int32_t, std::int32_t, std::uint64_t>;
  struct Followed {
    RankSight sight;  ///< times as the agent told them
    bool fresh = true;
    std::uint64_t run = 0;
    std::uint64_t round = 0;   ///< it was told last in
    Clock::Duration looked{};  ///< on our clock; never goes back
    bool vanished = false;     ///< its agent follows it no more
  };
  struct Agent {
    AgentStatus status;
    std::uint64_t run = 0;
    std::uint64_t taken = 0;  ///< newest sequence
    std::uint64_t round = 1;
    std::uint64_t dropped_told = 0;  ///< in this run
    bool left = false;
    bool told = false;  ///< in the log, whether it is heard
    ClockOffset clock;
    std::map<RankKey, Followed> ranks;
  };

  AgentReply Admit(const AgentHeader& header, Agent*& agent);
  void TakeSights(AgentMessage& message, Agent& agent);
  void EndRound(Agent& agent);
  bool IsBlind(const Agent& agent) const;
  void TellChanges();
  void LookAt(Agent& agent, Clock::Duration now, std::vector<RankSight>& sights) const;

  const AgentHubOptions options_;
  const Clock& clock_;
  const std::uint64_t run_;
  mutable std::mutex mutex_;
  AgentCodec codec_;
  Clock::Duration looked_;
  std::map<std::string, Agent> agents_;  ///< by host
};

/// What this machine and the agents of others see, as one source.
class HostsSource final : public Source {
 public:
  /// Both outlive it.
  HostsSource(Source& local, AgentHub& hub) : local_(local), hub_(hub) {}
  std::vector<RankSight> Look() override {
    std::vector<RankSight> sights = local_.Look();
    for (RankSight& sight : hub_.Look()) sights.push_back(std::move(sight));
    return sights;
  }
  void Wait(Clock::Duration until) override { local_.Wait(until); }

 private:
  Source& local_;
  AgentHub& hub_;
};

}  // namespace ringward::watch
