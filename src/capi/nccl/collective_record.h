#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "capi/nccl/profiler_abi.h"
#include "capi/ringward_guest.h"
#include "capi/step_finder.h"

namespace ringward::capi::nccl {

/// What the plugin keeps of a process: a recorder for each rank that it drives (one, or several
/// where it drives several GPUs), and the collectives that the GPU has not ended yet.
///
/// A collective is entered when the program enqueues it and left when its kernel has ended on all
/// channels. Between, the program goes on; what is waited is the time that the kernel runs, in
/// which it waits for the other ranks and transfers. Where NCCL tells of no kernels, enqueueing is
/// all there is.
///
/// Threads: NCCL calls from the program's threads and from its own. Whoever is here records also
/// the ends that others bring meanwhile; who begins a collective tries for some microseconds at
/// most, and then lets it pass unrecorded (its number is counted: ranks stay alike). Nothing but
/// Begin and End allocates, locks or calls the system. Constant-initialised.
class CollectiveRecord {
 public:
  /// A communicator of the process; null: it is of no interest. `ranks` of it, and which this is.
  void* Begin(std::uint64_t hash, int ranks, int rank);
  void End(void* context);

  /// The handle of a collective, or of one channel of its kernel; null: it is not followed.
  void* Start(void* context, const Event& event);
  void Stop(void* handle);

 private:
  static constexpr std::size_t kRanks = 16;          // that a process drives
  static constexpr std::size_t kCommunicators = 64;  // at a time
  static constexpr std::size_t kUnderWay = 256;      // the recorder's limit
  static constexpr std::size_t kOperations = 9;

  struct Rank {
    rw_guest* guest = nullptr;
    int rank = -1;
    int communicators = 0;
    std::atomic<std::uint64_t> next{1};
    std::uint64_t steps = 0;
    StepFinder finder{};
    std::int32_t ids[kOperations] = {};
  };
  struct Communicator {
    Rank* rank = nullptr;    ///< null: free
    bool all_ranks = false;  ///< its collectives are of all ranks of the job
  };
  enum class State : std::uint8_t { kFree, kUnderWay, kEnded };
  struct Collective {
    std::atomic<State> state{State::kFree};
    std::atomic<std::uint32_t> generation{0};  ///< of the slot: an old handle means nothing
    std::atomic<std::uint32_t> channels_begun{0};
    std::atomic<std::uint32_t> channels_ended{0};
    std::atomic<std::int64_t> begun_ns{0};  ///< its kernel
    std::atomic<std::int64_t> ended_ns{0};
    std::uint32_t channels = 1;
    Communicator* communicator = nullptr;
    std::uint64_t number = 0;  ///< 0: not of all ranks
    std::uint64_t kind = 0;
  };

  Rank* RankOf(std::uint64_t hash, int ranks, int rank);
  bool Enter(int tries);
  void Leave();
  void RecordEnds();
  void RecordEnd(Collective& collective);
  void* HandleOf(const Collective& collective, bool channel) const;
  Collective* Find(void* handle, bool* channel);
  Collective* Take(Communicator* communicator);
  void GiveUpOnKernels();
  void* StartCollective(Communicator* communicator, const CollectiveEvent& event);
  void* StartChannel(void* collective);
  void MarkEnded(Collective& collective);

  std::atomic_flag busy_{};
  std::atomic<std::int32_t> ends_waiting_{0};  ///< below 0: recorded before it was counted
  std::atomic<bool> kernels_seen_{false};
  std::atomic<bool> no_kernels_{false};  ///< NCCL tells of none: enqueueing is the end
  std::uint64_t hash_ = 0;               ///< of the first communicator of all ranks
  int world_ = 0;                        ///< 0: not known yet
  Rank ranks_[kRanks]{};
  Communicator communicators_[kCommunicators]{};
  Collective collectives_[kUnderWay]{};
};

}  // namespace ringward::capi::nccl
