#include "capi/mpi/call_record.h"

#include <dlfcn.h>
#include <time.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "capi/job_name.h"

namespace ringward::capi {
namespace {

constexpr const char* kNames[] = {"allgather", "allreduce", "alltoall", "barrier",
                                  "broadcast", "gather",    "reduce",   "reduce_scatter",
                                  "scan",      "scatter"};
static_assert(std::size(kNames) == static_cast<std::size_t>(Operation::kCount));

bool SwitchedOff() {
  const char* const value = std::getenv("RINGWARD_MPI");
  return value != nullptr && std::strcmp(value, "0") == 0;
}

}  // namespace

/// Whoever comes first has it; nobody waits.
class CallRecord::Turn {
 public:
  explicit Turn(std::atomic_flag& busy)
      : busy_(busy), mine_(!busy.test_and_set(std::memory_order_acquire)) {}
  ~Turn() {
    if (mine_) busy_.clear(std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  std::atomic_flag& busy_;
  bool mine_;
};

void CallRecord::Open() {
  if (guest_ != nullptr || SwitchedOff()) return;
  // The program's own recorder knows more; ours shows no symbol, so this finds only the other.
  if (dlsym(RTLD_DEFAULT, "rw_guest_open") != nullptr) return;
  int rank = 0;
  if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS) return;
  if (PMPI_Comm_size(MPI_COMM_WORLD, &world_) != MPI_SUCCESS) return;
  rw_guest* const guest = rw_guest_open(JobNameOr("mpi"), rank, world_, nullptr);
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    ids_[i] = rw_guest_operation_id(guest, kNames[i]);
  }
  rw_guest_step_begin(guest, steps_);
  guest_ = guest;
}

void CallRecord::Close() {
  // The step under way is the program's end, and none of its own.
  rw_guest_close(guest_);
  guest_ = nullptr;
}

bool CallRecord::OfAllRanks(MPI_Comm comm) const {
  if (comm == MPI_COMM_WORLD) return true;
  int size = 0;
  return PMPI_Comm_size(comm, &size) == MPI_SUCCESS && size == world_;
}

std::uint64_t CallRecord::Enter(Operation operation, MPI_Comm comm, std::int64_t bytes,
                                bool overlapped) {
  if (guest_ == nullptr || !OfAllRanks(comm)) return 0;
  const Turn turn(busy_);
  if (!turn) return 0;
  const auto index = static_cast<std::size_t>(operation);
  const std::uint64_t number = next_++;
  kinds_[number % kUnderWay] = (std::uint64_t{index} << 56U) ^ static_cast<std::uint64_t>(bytes);
  rw_guest_collective_enter(guest_, ids_[index], number, static_cast<std::uint64_t>(bytes),
                            overlapped ? RW_GUEST_OVERLAPPED : 0U);
  return number;
}

void CallRecord::Exit(std::uint64_t number, bool ok) {
  if (number == 0) return;
  const Turn turn(busy_);
  if (!turn) return;
  rw_guest_collective_exit(guest_, number, ok ? 1 : 0);
  if (!finder_.EndsStep(kinds_[number % kUnderWay])) return;
  rw_guest_step_begin(guest_, ++steps_);  // ends the one before
}

void CallRecord::Keep(std::uint64_t number, MPI_Request request) {
  if (number == 0) return;
  {
    const Turn turn(busy_);
    for (Kept& kept : kept_) {
      if (!turn) break;
      if (kept.number != 0) continue;
      kept = {request, number};
      kept_count_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }
  Exit(number, true);  // too many to follow: its end is not known
}

void CallRecord::EndOf(MPI_Request before, MPI_Request after, bool ok) {
  if (after != MPI_REQUEST_NULL || before == MPI_REQUEST_NULL) return;
  std::uint64_t number = 0;
  {
    const Turn turn(busy_);
    for (Kept& kept : kept_) {
      if (!turn) return;
      if (kept.number == 0 || kept.request != before) continue;
      number = kept.number;
      kept = {};
      kept_count_.fetch_sub(1, std::memory_order_relaxed);
      break;
    }
  }
  Exit(number, ok);
}

std::int64_t CallRecord::Now() const {
  if (guest_ == nullptr) return 0;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

void CallRecord::Waited(std::int64_t begin) {
  if (begin == 0) return;
  rw_guest_wait(guest_, RW_GUEST_OTHER, static_cast<std::uint64_t>(Now() - begin));
}

}  // namespace ringward::capi
