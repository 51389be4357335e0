#include "capi/nccl/collective_record.h"

#include <dlfcn.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "capi/job_name.h"

namespace ringward::capi::nccl {
namespace {

struct Operation {
  const char* function;  // as NCCL calls it
  const char* name;      // as a watcher does
};
constexpr Operation kNames[] = {{"AllGather", "allgather"},
                                {"AllReduce", "allreduce"},
                                {"AlltoAll", "alltoall"},
                                {"Broadcast", "broadcast"},
                                {"Gather", "gather"},
                                {"Reduce", "reduce"},
                                {"Scatter", "scatter"},
                                {"ReduceScatter", "reduce_scatter"},
                                {"", "other"}};
constexpr std::size_t kOther = sizeof(kNames) / sizeof(kNames[0]) - 1;
constexpr int kTriesMost = 4096;  // some microseconds

std::size_t IndexOf(const char* function) {
  std::size_t index = 0;
  while (index < kOther && (function == nullptr || std::strcmp(function, kNames[index].function)))
    ++index;
  return index;
}

/// Of an element of "ncclFloat32": its name ends with its bits; 0 where it does not.
std::uint64_t BytesOf(const char* datatype) {
  if (datatype == nullptr) return 0;
  const char* digits = datatype + std::strcspn(datatype, "0123456789");
  const long bits = std::strtol(digits, nullptr, 10);
  return bits > 0 ? static_cast<std::uint64_t>(bits) / 8 : 0;
}

std::int64_t NowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

/// Ranks of the job, of whoever started it; 0: it does not say.
int WorldOfEnvironment() {
  for (const char* const name :
       {"RINGWARD_WORLD_SIZE", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"}) {
    const char* const value = std::getenv(name);
    const long world = value == nullptr ? 0 : std::strtol(value, nullptr, 10);
    if (world > 0 && world <= INT32_MAX) return static_cast<int>(world);
  }
  return 0;
}

bool SwitchedOff() {
  const char* const value = std::getenv("RINGWARD_NCCL");
  return value != nullptr && std::strcmp(value, "0") == 0;
}

}  // namespace

/// The recorder of a rank; null where it has none.
CollectiveRecord::Rank* CollectiveRecord::RankOf(std::uint64_t hash, int ranks, int rank) {
  if (world_ == 0) {
    const int world = WorldOfEnvironment();
    world_ = world > 0 ? world : ranks;
  }
  if (ranks != world_) return nullptr;
  if (hash_ == 0) hash_ = hash;
  for (Rank& known : ranks_) {
    if (known.guest != nullptr && known.rank == rank) return &known;
  }
  // Ranks that are numbered anew in a later communicator are not new ones.
  if (hash != hash_) return nullptr;
  for (Rank& free : ranks_) {
    if (free.guest != nullptr) continue;
    char otherwise[32];
    std::snprintf(otherwise, sizeof otherwise, "nccl-%016llx",
                  static_cast<unsigned long long>(hash));
    rw_guest* const guest = rw_guest_open(JobNameOr(otherwise), rank, world_, nullptr);
    if (rw_guest_status(guest) != RW_GUEST_ON) {
      rw_guest_close(guest);
      return nullptr;
    }
    for (std::size_t i = 0; i < kOperations; ++i)
      free.ids[i] = rw_guest_operation_id(guest, kNames[i].name);
    free.rank = rank;
    free.steps = 0;
    free.next = 1;
    free.finder = {};
    free.guest = guest;
    rw_guest_step_begin(guest, 0);
    return &free;
  }
  return nullptr;
}

void* CollectiveRecord::Begin(std::uint64_t hash, int ranks, int rank) {
  static_assert(kOperations == kOther + 1);
  // The program's own recorder knows more; ours shows no symbol, so this finds only the other.
  if (SwitchedOff() || dlsym(RTLD_DEFAULT, "rw_guest_open") != nullptr) return nullptr;
  while (!Enter(kTriesMost)) {
  }
  Communicator* found = nullptr;
  for (Communicator& communicator : communicators_) {
    if (communicator.rank == nullptr) {
      found = &communicator;
      break;
    }
  }
  if (found != nullptr) {
    found->rank = RankOf(hash, ranks, rank);
    found->all_ranks = found->rank != nullptr;
    // Of some ranks: what it waits is waiting too, of the one rank that this process is.
    if (found->rank == nullptr && ranks_[0].guest != nullptr && ranks_[1].guest == nullptr)
      found->rank = &ranks_[0];
    if (found->rank == nullptr) {
      found = nullptr;
    } else {
      ++found->rank->communicators;
    }
  }
  Leave();
  return found;
}

void CollectiveRecord::End(void* context) {
  auto* const communicator = static_cast<Communicator*>(context);
  if (communicator == nullptr) return;
  while (!Enter(kTriesMost)) {
  }
  for (Collective& collective : collectives_) {
    if (collective.state == State::kUnderWay && collective.communicator == communicator)
      MarkEnded(collective);
  }
  RecordEnds();
  Rank& rank = *communicator->rank;
  if (--rank.communicators == 0) {
    // The step under way is the program's end, and none of its own.
    rw_guest_close(rank.guest);
    rank.guest = nullptr;
    rank.rank = -1;
  }
  communicator->rank = nullptr;
  Leave();
}

bool CollectiveRecord::Enter(int tries) {
  for (int i = 0; i < tries; ++i) {
    if (!busy_.test_and_set(std::memory_order_acquire)) return true;
  }
  return false;
}

/// No end is lost: whoever brings one marks it, counts it and then tries to enter; whoever leaves
/// looks at the count after.
void CollectiveRecord::Leave() {
  while (true) {
    RecordEnds();
    busy_.clear();
    if (ends_waiting_.load() <= 0 || !Enter(1)) return;
  }
}

void CollectiveRecord::RecordEnds() {
  while (ends_waiting_.load() > 0) {
    // In the order in which they ended.
    Collective* first = nullptr;
    for (Collective& collective : collectives_) {
      if (collective.state.load() != State::kEnded) continue;
      if (first == nullptr || collective.ended_ns < first->ended_ns) first = &collective;
    }
    if (first == nullptr) return;
    RecordEnd(*first);
    ends_waiting_.fetch_sub(1);
  }
}

void CollectiveRecord::RecordEnd(Collective& collective) {
  Rank& rank = *collective.communicator->rank;
  const std::int64_t begun = collective.begun_ns;
  const std::int64_t ns = begun == 0 ? 0 : collective.ended_ns - begun;
  if (ns > 0) rw_guest_wait(rank.guest, RW_GUEST_OTHER, static_cast<std::uint64_t>(ns));
  if (collective.number != 0) {
    rw_guest_collective_exit(rank.guest, collective.number, 1);
    // The next step ends this one.
    if (rank.finder.EndsStep(collective.kind)) rw_guest_step_begin(rank.guest, ++rank.steps);
  }
  collective.generation.fetch_add(1);
  collective.state.store(State::kFree);
}

/// Of the one that ends it, whichever thread that is.
void CollectiveRecord::MarkEnded(Collective& collective) {
  collective.ended_ns = NowNs();
  State under_way = State::kUnderWay;
  if (collective.state.compare_exchange_strong(under_way, State::kEnded))
    ends_waiting_.fetch_add(1);
}

/// Not null, and not an address: generation, slot + 1, and whether it is a channel.
void* CollectiveRecord::HandleOf(const Collective& collective, bool channel) const {
  const auto slot = static_cast<std::uint64_t>(&collective - collectives_) + 1;
  const std::uint64_t value =
      (std::uint64_t{collective.generation.load()} << 32U) | (slot << 1U) | (channel ? 1U : 0U);
  return reinterpret_cast<void*>(value);
}

CollectiveRecord::Collective* CollectiveRecord::Find(void* handle, bool* channel) {
  const auto value = reinterpret_cast<std::uint64_t>(handle);
  const std::uint64_t slot = (value & 0xffffffffU) >> 1U;
  if (slot == 0 || slot > kUnderWay) return nullptr;
  Collective& collective = collectives_[slot - 1];
  *channel = (value & 1U) != 0;
  const bool same = collective.generation.load() == value >> 32U;
  return same && collective.state.load() == State::kUnderWay ? &collective : nullptr;
}

/// There is no room for another: those whose kernels were never heard of have ended, for all we
/// know.
void CollectiveRecord::GiveUpOnKernels() {
  if (!kernels_seen_) no_kernels_ = true;
  for (Collective& collective : collectives_) {
    if (collective.state == State::kUnderWay && collective.channels_begun == 0)
      MarkEnded(collective);
  }
  RecordEnds();
}

CollectiveRecord::Collective* CollectiveRecord::Take(Communicator* communicator) {
  for (int round = 0; round < 2; ++round) {
    for (Collective& collective : collectives_) {
      if (collective.state.load() != State::kFree) continue;
      collective.channels_begun = 0;
      collective.channels_ended = 0;
      collective.begun_ns = 0;
      collective.communicator = communicator;
      return &collective;
    }
    GiveUpOnKernels();
  }
  return nullptr;
}

void* CollectiveRecord::StartCollective(Communicator* communicator, const CollectiveEvent& event) {
  Rank& rank = *communicator->rank;
  const std::uint64_t number = communicator->all_ranks ? rank.next.fetch_add(1) : 0;
  if (!Enter(kTriesMost)) return nullptr;
  void* handle = nullptr;
  if (Collective* const collective = Take(communicator)) {
    const std::size_t index = IndexOf(event.function);
    const std::uint64_t bytes = event.count * BytesOf(event.datatype);
    collective->number = number;
    collective->kind = (std::uint64_t{index} << 56U) ^ bytes;
    collective->channels = event.channels == 0 ? 1 : event.channels;
    if (number != 0)
      rw_guest_collective_enter(rank.guest, rank.ids[index], number, bytes, RW_GUEST_OVERLAPPED);
    collective->state.store(State::kUnderWay);
    handle = HandleOf(*collective, false);
  }
  Leave();
  return handle;
}

void* CollectiveRecord::StartChannel(void* parent) {
  kernels_seen_ = true;
  bool channel = false;
  Collective* const collective = Find(parent, &channel);
  if (collective == nullptr || channel) return nullptr;
  if (collective->channels_begun.fetch_add(1) == 0) collective->begun_ns = NowNs();
  return HandleOf(*collective, true);
}

void* CollectiveRecord::Start(void* context, const Event& event) {
  auto* const communicator = static_cast<Communicator*>(context);
  if (communicator == nullptr) return nullptr;
  if (event.type == kCollective) return StartCollective(communicator, event.collective);
  if (event.type == kKernelChannel) return StartChannel(event.parent);
  return nullptr;
}

void CollectiveRecord::Stop(void* handle) {
  bool channel = false;
  Collective* const collective = Find(handle, &channel);
  if (collective == nullptr) return;
  if (channel) {
    if (collective->channels_ended.fetch_add(1) + 1 < collective->channels) return;
  } else if (!no_kernels_) {
    return;  // enqueued: its kernel comes
  }
  MarkEnded(*collective);
  if (Enter(1)) Leave();
}

}  // namespace ringward::capi::nccl
