#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "comm/communicator.h"

namespace ringward::comm {

enum class RankState : std::uint32_t {
  kAbsent,    ///< nobody has taken this slot yet
  kStarting,  ///< the process exists and has not yet joined the group
  kRunning,   ///< joined: it has a communicator
  kFinished,  ///< did its work; a later end of the process is no failure
  kFailed,    ///< said why it gives up (`reason`)
};

/// A copy of what one rank's slot says. Fields are read one by one: near in time, not one instant.
struct RankStatus {
  RankState state = RankState::kAbsent;
  std::int32_t pid = 0;              ///< 0 = not known
  std::uint64_t start_time = 0;      ///< of the process, clock ticks since boot: tells reused pids
  std::chrono::nanoseconds beat{};   ///< monotonic time of the last heartbeat; 0 = none yet
  std::uint64_t entered = 0;         ///< collectives entered so far (last sequence number + 1)
  std::uint64_t exited = 0;          ///< collectives left so far
  std::uint64_t step = 0;            ///< training step + 1; 0 = none yet
  std::string operation;             ///< the last collective entered
  std::string reason;                ///< why it failed
  std::optional<int> wait_status;    ///< as of waitpid(), once its parent has reaped it
  std::chrono::nanoseconds ended{};  ///< monotonic time at which the end was noticed; 0 = not yet
};

/// Who ended the job, as said by the first to say anything.
struct Verdict {
  int culprit = -1;  ///< a rank, or -1 = undecided
  int accuser = -1;  ///< the rank that says so, or -1 = the launcher
  std::string why;
};

/// A small shared file in which the ranks of one machine tell where they are, so that whoever must
/// end a job can name the culprit: a frozen or dead rank cannot speak for itself.
///
/// The file is allocated in full when made (no SIGBUS on a full disk later) and mapped shared.
/// Every method is lock-free, never blocks and may be called from any thread of any process that
/// has the board open; each rank's slot has one writer per field. `rank` must be in [0, ranks()).
/// Times are the machine's monotonic clock (base/clock.h SystemClock().Now()).
class Board {
 public:
  static constexpr int kMaxRanks = 4096;
  static constexpr std::size_t kReasonBytes = 400;    ///< longer reasons are cut
  static constexpr std::size_t kOperationBytes = 16;  ///< longer names are cut

  /// Makes the file (it must not exist). Errors: kInvalidInput (ranks), kResource.
  static Result<Board> Create(const std::string& path, int ranks);
  /// Opens a file made by Create. Errors: kResource, kCorrupt (not a board, cut short).
  static Result<Board> Open(const std::string& path);
  Board(Board&&) noexcept;
  Board& operator=(Board&&) noexcept;
  ~Board();

  int ranks() const;
  RankStatus Read(int rank) const;

  /// Takes the slot: process `pid` is the rank, state kStarting. Reads its start time in /proc.
  void Join(int rank, std::int32_t pid);
  void SetState(int rank, RankState state);
  /// State kFailed, and why. Only the first reason is kept.
  void Fail(int rank, std::string_view reason);
  void Beat(int rank, std::chrono::nanoseconds now);
  void Enter(int rank, const char* operation, std::uint64_t sequence);
  void Exit(int rank, std::uint64_t sequence);
  /// The training step under way, counted from 0; only for messages.
  void SetStep(int rank, std::uint64_t step);
  /// The rank's parent reaped it. Only the first call counts.
  void SetEnded(int rank, int wait_status, std::chrono::nanoseconds now);

  /// Puts the verdict down if nobody has yet; true if this one stands. culprit -1 = undecided.
  bool Accuse(int culprit, int accuser, std::string_view why);
  std::optional<Verdict> verdict() const;

 private:
  struct Layout;
  struct Slot;
  struct Text;
  Board(void* mapping, std::size_t bytes);
  Slot& slot(int rank) const;
  Layout* layout_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Writes collectives to the board. A few stores per call: no lock, no clock, no system call.
/// Observe only the job's main communicator with it: sequence numbers are compared across ranks.
class BoardObserver final : public CallObserver {
 public:
  /// `board` must outlive the observer.
  BoardObserver(Board& board, int rank) : board_(board), rank_(rank) {}
  void OnEnter(const char* operation, std::uint64_t sequence, std::size_t bytes) override;
  void OnExit(const char* operation, std::uint64_t sequence, bool ok) override;

 private:
  Board& board_;
  int rank_;
};

/// A thread that writes the rank's heartbeat until destroyed; it beats however long the rank's
/// other threads compute, and stops with the process.
class Heartbeat {
 public:
  static constexpr std::chrono::milliseconds kInterval{100};
  /// `board` must outlive the heartbeat.
  Heartbeat(Board& board, int rank);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  struct Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace ringward::comm
