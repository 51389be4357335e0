#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "watch/hosts/agent_outbox.h"
#include "watch/hosts/wire.h"

namespace ringward::watch {

/// How messages get to the aggregator.
class AgentPost {
 public:
  struct Reply {
    unsigned status = 0;
    std::string body;
  };
  virtual ~AgentPost() = default;
  /// Sends a body and waits for what is answered. kUnavailable where nothing is.
  virtual Result<Reply> Post(const std::string& body) = 0;
  /// A Post() under way ends soon, and so does each later one. From any thread.
  virtual void Stop() = 0;
};

struct HttpPostOptions {
  std::string url;      ///< "https://node0:9188"
  std::string token;    ///< empty: none
  std::string ca_file;  ///< PEM, whom to believe; empty: whom the system does
};

/// POSTs over one connection that stays open. Plain http only to this machine. kInvalidInput: no
/// such address, or one that would show the token to others.
Result<std::unique_ptr<AgentPost>> MakeHttpPost(const HttpPostOptions& options);

/// The agent's side: sends what is offered, on a thread of its own, each message until it is taken,
/// and one at a time. While nobody takes it, what is offered is merged (AgentOutbox). It says in
/// the log when it is not heard, why, and what was lost by then.
class AgentLink {
 public:
  struct Options {
    std::string host;
    std::string software;
    std::chrono::milliseconds again_after{250};  ///< the first failure; it doubles with the next
    std::chrono::milliseconds again_most{5000};
    std::chrono::milliseconds farewell{1000};  ///< for the last words
  };
  struct Counts {
    std::uint64_t taken = 0;    ///< messages
    std::uint64_t failed = 0;   ///< attempts
    std::uint64_t dropped = 0;  ///< records
  };

  /// `clock` outlives it.
  AgentLink(Options options, std::unique_ptr<AgentPost> post, const Clock& clock);
  /// Sends what waits and that it leaves, for the time of `farewell` at most.
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  /// One look. Never waits for the network. Thread-safe.
  void Offer(std::vector<RankSight> sights);
  Counts counts() const;

 private:
  struct Outgoing {
    AgentHeader header;
    std::string packed;
  };

  void Run();
  std::optional<Outgoing> Next();
  /// False where it must be sent again.
  bool Send(Outgoing& outgoing);
  bool Heard(const AgentPost::Reply& reply, Clock::Duration sent);
  void Complain(const std::string& why);
  bool Pause();

  const Options options_;
  const std::unique_ptr<AgentPost> post_;
  const Clock& clock_;
  const std::uint64_t run_;
  // Of the thread:
  AgentCodec codec_;
  std::uint64_t sequence_ = 0;
  std::optional<ClockEcho> echo_;
  std::chrono::milliseconds pause_;
  std::string complaint_;  ///< told, and not over
  std::uint64_t dropped_before_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  AgentOutbox outbox_;
  Counts counts_;
  bool ending_ = false;
  bool ended_ = false;
  std::chrono::steady_clock::time_point give_up_{};  ///< once it ends
  std::thread thread_;
};

}  // namespace ringward::watch
