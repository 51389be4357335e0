#include "comm/board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/system_error.h"
#include "comm/suspect.h"

namespace ringward::comm {
namespace {

constexpr std::uint64_t kMagic = 0x31424b4e52475752;  // "RWGRNKB1", little endian
constexpr std::size_t kOperationWords = Board::kOperationBytes / sizeof(std::uint64_t);

static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "the board is shared between processes");

Result<void*> Map(int fd, std::size_t bytes, const std::string& path) {
  void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapping == MAP_FAILED) return SystemError("cannot map " + path, errno);
  return mapping;
}

}  // namespace

/// A text with one writer ever: 0 empty, 1 being written, 2 complete.
struct Board::Text {
  std::atomic<std::uint32_t> stage;
  std::uint32_t length;
  char bytes[Board::kReasonBytes];

  bool Claim() {
    std::uint32_t empty = 0;
    return stage.compare_exchange_strong(empty, 1, std::memory_order_acq_rel);
  }
  void Fill(std::string_view text) {
    length = static_cast<std::uint32_t>(std::min(text.size(), sizeof(bytes)));
    std::memcpy(bytes, text.data(), length);
    stage.store(2, std::memory_order_release);
  }
  bool Ready() const { return stage.load(std::memory_order_acquire) == 2; }
  std::string Get() const {
    if (!Ready()) return {};
    return {bytes, std::min<std::size_t>(length, sizeof(bytes))};
  }
};

// Written by one rank, read by all: own cache lines, so that a reader never slows another writer.
struct alignas(128) Board::Slot {
  std::atomic<std::uint64_t> entered;
  std::atomic<std::uint64_t> exited;
  std::array<std::atomic<std::uint64_t>, kOperationWords> operation;
  std::atomic<std::uint64_t> step;
  std::atomic<std::int64_t> beat_ns;
  std::atomic<std::uint64_t> start_time;
  std::atomic<std::int32_t> pid;
  std::atomic<std::uint32_t> state;
  std::atomic<std::int32_t> wait_status;
  std::atomic<std::int64_t> ended_ns;
  Text reason;
};

struct Board::Layout {
  std::atomic<std::uint64_t> magic;
  std::int32_t ranks;
  std::int32_t culprit;
  std::int32_t accuser;
  Text why;
  // The slots follow at the next multiple of their alignment.

  static std::size_t SlotsAt() {
    return (sizeof(Layout) + alignof(Slot) - 1) / alignof(Slot) * alignof(Slot);
  }
  static std::size_t Bytes(int ranks) {
    return SlotsAt() + static_cast<std::size_t>(ranks) * sizeof(Slot);
  }
};

Board::Board(void* mapping, std::size_t bytes)
    : layout_(static_cast<Layout*>(mapping)), bytes_(bytes) {}
Board::Board(Board&& other) noexcept
    : layout_(std::exchange(other.layout_, nullptr)), bytes_(other.bytes_) {}
Board& Board::operator=(Board&& other) noexcept {
  std::swap(layout_, other.layout_);
  std::swap(bytes_, other.bytes_);
  return *this;
}
Board::~Board() {
  if (layout_ != nullptr) munmap(layout_, bytes_);
}

Result<Board> Board::Create(const std::string& path, int ranks) {
  if (ranks < 1 || ranks > kMaxRanks) {
    return Error(Code::kInvalidInput, "a board has 1 to " + std::to_string(kMaxRanks) +
                                          " ranks, not " + std::to_string(ranks));
  }
  const Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return SystemError("cannot create " + path, errno);
  const std::size_t bytes = Layout::Bytes(ranks);
  const int error = posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
  if (error != 0) return SystemError("cannot allocate " + path, error);
  RINGWARD_ASSIGN(void* const mapping, Map(fd.get(), bytes, path));
  Board board(mapping, bytes);
  // A fresh file is all zeros, which is the empty value of every field.
  board.layout_->ranks = ranks;
  board.layout_->magic.store(kMagic, std::memory_order_release);
  return board;
}

Result<Board> Board::Open(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return SystemError("cannot open " + path, errno);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return SystemError("cannot stat " + path, errno);
  const auto bytes = static_cast<std::size_t>(info.st_size);
  if (bytes < Layout::Bytes(1) || bytes > Layout::Bytes(kMaxRanks)) {
    return Error(Code::kCorrupt, path + ": not a board: " + std::to_string(bytes) + " bytes");
  }
  RINGWARD_ASSIGN(void* const mapping, Map(fd.get(), bytes, path));
  Board board(mapping, bytes);
  const int ranks = board.layout_->ranks;
  if (board.layout_->magic.load(std::memory_order_acquire) != kMagic || ranks < 1 ||
      ranks > kMaxRanks || Layout::Bytes(ranks) != bytes) {
    return Error(Code::kCorrupt, path + ": not a board of this version");
  }
  return board;
}

int Board::ranks() const { return layout_->ranks; }

Board::Slot& Board::slot(int rank) const {
  RINGWARD_CHECK(rank >= 0 && rank < layout_->ranks);
  char* const first = reinterpret_cast<char*>(layout_) + Layout::SlotsAt();
  return *std::launder(
      reinterpret_cast<Slot*>(first + static_cast<std::size_t>(rank) * sizeof(Slot)));
}

RankStatus Board::Read(int rank) const {
  const Slot& s = slot(rank);
  RankStatus status;
  status.state = static_cast<RankState>(s.state.load(std::memory_order_acquire));
  status.pid = s.pid.load(std::memory_order_acquire);
  status.start_time = s.start_time.load(std::memory_order_relaxed);
  status.beat = std::chrono::nanoseconds(s.beat_ns.load(std::memory_order_relaxed));
  status.exited = s.exited.load(std::memory_order_acquire);
  status.entered = s.entered.load(std::memory_order_acquire);
  status.step = s.step.load(std::memory_order_relaxed);
  std::array<std::uint64_t, kOperationWords> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = s.operation[i].load(std::memory_order_relaxed);
  }
  const char* const name = reinterpret_cast<const char*>(words.data());
  status.operation.assign(name, strnlen(name, kOperationBytes));
  status.reason = s.reason.Get();
  const std::int64_t ended = s.ended_ns.load(std::memory_order_acquire);
  status.ended = std::chrono::nanoseconds(ended);
  if (ended != 0) status.wait_status = s.wait_status.load(std::memory_order_relaxed);
  return status;
}

void Board::Join(int rank, std::int32_t pid) {
  Slot& s = slot(rank);
  const auto process = ReadProcessStat(pid);
  s.start_time.store(process ? process->start_time : 0, std::memory_order_relaxed);
  s.pid.store(pid, std::memory_order_release);
  std::uint32_t absent = 0;
  // The process itself may already have said more than its parent, who joins on its behalf.
  s.state.compare_exchange_strong(absent, static_cast<std::uint32_t>(RankState::kStarting),
                                  std::memory_order_acq_rel);
}

void Board::SetState(int rank, RankState state) {
  slot(rank).state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

void Board::Fail(int rank, std::string_view reason) {
  Slot& s = slot(rank);
  if (s.reason.Claim()) s.reason.Fill(reason);
  SetState(rank, RankState::kFailed);
}

void Board::Beat(int rank, std::chrono::nanoseconds now) {
  slot(rank).beat_ns.store(now.count(), std::memory_order_relaxed);
}

void Board::Enter(int rank, const char* operation, std::uint64_t sequence) {
  Slot& s = slot(rank);
  std::array<std::uint64_t, kOperationWords> words{};
  std::memcpy(words.data(), operation, strnlen(operation, kOperationBytes));
  for (std::size_t i = 0; i < words.size(); ++i) {
    s.operation[i].store(words[i], std::memory_order_relaxed);
  }
  s.entered.store(sequence + 1, std::memory_order_release);
}

void Board::Exit(int rank, std::uint64_t sequence) {
  slot(rank).exited.store(sequence + 1, std::memory_order_release);
}

void Board::SetStep(int rank, std::uint64_t step) {
  slot(rank).step.store(step + 1, std::memory_order_relaxed);
}

void Board::SetEnded(int rank, int wait_status, std::chrono::nanoseconds now) {
  Slot& s = slot(rank);
  if (s.ended_ns.load(std::memory_order_relaxed) != 0) return;
  s.wait_status.store(wait_status, std::memory_order_relaxed);
  s.ended_ns.store(std::max<std::int64_t>(now.count(), 1), std::memory_order_release);
}

bool Board::Accuse(int culprit, int accuser, std::string_view why) {
  RINGWARD_CHECK(culprit >= -1 && culprit < ranks());
  if (!layout_->why.Claim()) return false;
  layout_->culprit = culprit;
  layout_->accuser = accuser;
  layout_->why.Fill(why);
  return true;
}

std::optional<Verdict> Board::verdict() const {
  if (!layout_->why.Ready()) return std::nullopt;
  return Verdict{layout_->culprit, layout_->accuser, layout_->why.Get()};
}

void BoardObserver::OnEnter(const char* operation, std::uint64_t sequence, std::size_t) {
  board_.Enter(rank_, operation, sequence);
}

void BoardObserver::OnExit(const char*, std::uint64_t sequence, bool ok) {
  if (ok) board_.Exit(rank_, sequence);
}

struct Heartbeat::Thread {
  std::mutex mutex;
  std::condition_variable wake;
  bool stop = false;
  std::thread thread;
};

Heartbeat::Heartbeat(Board& board, int rank) : thread_(std::make_unique<Thread>()) {
  board.Beat(rank, SystemClock().Now());
  thread_->thread = std::thread([&board, rank, state = thread_.get()] {
    std::unique_lock lock(state->mutex);
    while (!state->wake.wait_for(lock, kInterval, [state] { return state->stop; })) {
      board.Beat(rank, SystemClock().Now());
    }
  });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(thread_->mutex);
    thread_->stop = true;
  }
  thread_->wake.notify_all();
  thread_->thread.join();
}

}  // namespace ringward::comm
