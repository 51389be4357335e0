#include "comm/shared_reduce.h"

#include <fcntl.h>
#include <immintrin.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include "base/system_error.h"
#include "comm/reduce.h"

namespace ringward::comm {
namespace {

/// One rank's place. Two of a rank and those of a few peers fit the second-level cache.
constexpr std::size_t kPieceBytes = std::size_t{128} << 10U;
constexpr int kSpins = 4'000;  ///< looks before a waiting rank gives up its core; 50 to 200 us

/// What ranks can see of each other's processes is the same where this text is the same.
std::array<char, 96> ThisMachine() {
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string text;
  std::getline(boot, text);
  std::error_code ignored;
  text += " " + std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
  std::array<char, 96> machine{};
  std::memcpy(machine.data(), text.data(), std::min(text.size(), machine.size() - 1));
  return machine;
}

/// The elements that rank `rank` combines: whole cache lines, so that no line has two writers.
std::pair<std::size_t, std::size_t> Share(std::size_t count, std::size_t element, int rank,
                                          int world) {
  const std::size_t line = 64 / element;
  const std::size_t lines = (count + line - 1) / line;
  const auto at = [&](int r) {
    return std::min(count,
                    line * (lines * static_cast<std::size_t>(r) / static_cast<std::size_t>(world)));
  };
  return {at(rank), at(rank + 1)};
}

}  // namespace

struct alignas(128) SharedReduce::Header {
  std::uint64_t nonce;
};

// Written by one rank, read by all.
struct alignas(128) SharedReduce::Desk {
  std::atomic<std::uint64_t> time;  // piece p: 2p + 1 = laid down, 2p + 2 = share combined
  std::uint64_t count;              // of the call under way, for comparison
  std::int32_t dtype;
  std::int32_t op;
};

std::size_t SharedReduce::Bytes(int world) {
  const auto ranks = static_cast<std::size_t>(world);
  return sizeof(Header) + ranks * sizeof(Desk) + 2 * ranks * kPieceBytes;
}

SharedReduce::SharedReduce(Fd memory, void* mapping, std::size_t bytes, int rank, int world)
    : memory_(std::move(memory)), mapping_(mapping), bytes_(bytes), rank_(rank), world_(world) {}

SharedReduce::SharedReduce(SharedReduce&& other) noexcept
    : memory_(std::move(other.memory_)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      bytes_(other.bytes_),
      rank_(other.rank_),
      world_(other.world_),
      yield_(other.yield_),
      idle_(std::move(other.idle_)),
      pieces_(other.pieces_) {}

SharedReduce& SharedReduce::operator=(SharedReduce&& other) noexcept {
  memory_ = std::move(other.memory_);
  std::swap(mapping_, other.mapping_);
  std::swap(bytes_, other.bytes_);
  rank_ = other.rank_;
  world_ = other.world_;
  yield_ = other.yield_;
  idle_ = std::move(other.idle_);
  pieces_ = other.pieces_;
  return *this;
}

SharedReduce::~SharedReduce() {
  if (mapping_ != nullptr) munmap(mapping_, bytes_);
}

Result<SharedReduce> SharedReduce::Create(int rank, int world) {
  Fd memory(memfd_create("ringward-reduce", MFD_CLOEXEC));
  if (!memory) return SystemError("cannot make shared memory", errno);
  const std::size_t bytes = Bytes(world);
  // Allocated now: a full memory is an error here, not a SIGBUS later.
  if (const int error = posix_fallocate(memory.get(), 0, static_cast<off_t>(bytes)); error != 0) {
    return SystemError("cannot allocate shared memory", error);
  }
  void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapping == MAP_FAILED) return SystemError("cannot map shared memory", errno);
  SharedReduce made(std::move(memory), mapping, bytes, rank, world);
  auto* const header = new (mapping) Header{};
  for (int r = 0; r < world; ++r) new (&made.desk(r)) Desk{};
  if (getrandom(&header->nonce, sizeof(header->nonce), 0) != sizeof(header->nonce)) {
    return SystemError("cannot draw a random number", errno);
  }
  return made;
}

SharedReduce::Address SharedReduce::address() const {
  return {.pid = getpid(),
          .fd = memory_.get(),
          .nonce = static_cast<const Header*>(mapping_)->nonce,
          .bytes = bytes_,
          .machine = ThisMachine()};
}

Result<SharedReduce> SharedReduce::Open(const Address& address, int rank, int world) {
  const auto refuse = [](const char* why) { return Error(Code::kUnavailable, why); };
  if (address.machine != ThisMachine()) return refuse("a rank runs on another machine");
  const std::string path =
      "/proc/" + std::to_string(address.pid) + "/fd/" + std::to_string(address.fd);
  Fd memory(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!memory || fstat(memory.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      static_cast<std::uint64_t>(info.st_size) != address.bytes || address.bytes != Bytes(world)) {
    return refuse("the other rank's memory cannot be seen");
  }
  void* const mapping =
      mmap(nullptr, address.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapping == MAP_FAILED) return refuse("the other rank's memory cannot be mapped");
  SharedReduce opened({}, mapping, address.bytes, rank, world);
  if (static_cast<const Header*>(mapping)->nonce != address.nonce) {
    return refuse("the other rank's memory is something else");
  }
  return opened;
}

void SharedReduce::SetWaiting(bool yield, std::function<void()> idle) {
  yield_ = yield;
  idle_ = std::move(idle);
}

SharedReduce::Desk& SharedReduce::desk(int rank) const {
  auto* const bytes = static_cast<std::byte*>(mapping_) + sizeof(Header);
  return *std::launder(
      reinterpret_cast<Desk*>(bytes + static_cast<std::size_t>(rank) * sizeof(Desk)));
}

std::byte* SharedReduce::place(int rank, std::uint64_t piece) const {
  const auto ranks = static_cast<std::size_t>(world_);
  const std::size_t index = 2 * static_cast<std::size_t>(rank) + piece % 2;
  return static_cast<std::byte*>(mapping_) + sizeof(Header) + ranks * sizeof(Desk) +
         index * kPieceBytes;
}

void SharedReduce::Arrive(std::uint64_t time) {
  desk(rank_).time.store(time, std::memory_order_release);
}

void SharedReduce::Await(std::uint64_t time) const {
  for (int rank = 0; rank < world_; ++rank) {
    int looks = yield_ ? kSpins : 0;
    while (desk(rank).time.load(std::memory_order_acquire) < time) {
      if (looks < kSpins) {
        ++looks;
        _mm_pause();
      } else {
        sched_yield();
        if (idle_) idle_();
      }
    }
  }
}

Status SharedReduce::Compare() const {
  const Desk& own = desk(rank_);
  for (int rank = 0; rank < world_; ++rank) {
    const Desk& other = desk(rank);
    if (other.count == own.count && other.dtype == own.dtype && other.op == own.op) continue;
    const auto text = [](const Desk& d) {
      return std::string(NameOf(static_cast<ReduceOp>(d.op))) + " of " + std::to_string(d.count) +
             " x " + NameOf(static_cast<DType>(d.dtype));
    };
    return Error(Code::kInvalidInput, "the ranks' calls disagree: rank " + std::to_string(rank_) +
                                          " asks for the " + text(own) + ", rank " +
                                          std::to_string(rank) + " for the " + text(other));
  }
  return Ok();
}

void SharedReduce::LayDown(Buffer piece) const {
  const std::size_t element = SizeOf(piece.dtype);
  const auto [begin, end] = Share(piece.count, element, rank_, world_);
  const auto copy = [&](std::size_t first, std::size_t last) {
    std::memcpy(place(rank_, pieces_) + first * element,
                static_cast<const std::byte*>(piece.data) + first * element,
                (last - first) * element);
  };
  // The own share has no other reader.
  copy(0, begin);
  copy(end, piece.count);
}

void SharedReduce::CombineShare(Buffer piece, ReduceOp op) const {
  const std::size_t element = SizeOf(piece.dtype);
  const auto [begin, end] = Share(piece.count, element, rank_, world_);
  const std::size_t offset = begin * element;
  const auto term = [&](int rank) {
    return (rank == rank_ ? static_cast<const std::byte*>(piece.data) : place(rank, pieces_)) +
           offset;
  };
  // In the order of ranks whoever combines, so that the number of ranks alone decides the sum.
  std::byte* const result = place(rank_, pieces_) + offset;
  const std::byte* sum = term(0);
  for (int rank = 1; rank < world_; ++rank) {
    Combine(op, piece.dtype, result, sum, term(rank), end - begin);
    sum = result;
  }
}

void SharedReduce::PickUp(Buffer piece, int rank) const {
  const std::size_t element = SizeOf(piece.dtype);
  const auto [begin, end] = Share(piece.count, element, rank, world_);
  std::memcpy(static_cast<std::byte*>(piece.data) + begin * element,
              place(rank, pieces_) + begin * element, (end - begin) * element);
}

Status SharedReduce::AllReduce(Buffer data, ReduceOp op) {
  const std::size_t element = SizeOf(data.dtype);
  const std::size_t most = kPieceBytes / element;
  Desk& own = desk(rank_);
  for (std::size_t done = 0; done < data.count; ++pieces_) {
    const Buffer piece{static_cast<std::byte*>(data.data) + done * element,
                       std::min(most, data.count - done), data.dtype};
    LayDown(piece);
    if (done == 0) {
      own.count = data.count;
      own.dtype = static_cast<std::int32_t>(data.dtype);
      own.op = static_cast<std::int32_t>(op);
    }
    Arrive(2 * pieces_ + 1);
    Await(2 * pieces_ + 1);
    if (done == 0) RINGWARD_TRY(Compare());
    CombineShare(piece, op);
    Arrive(2 * pieces_ + 2);
    PickUp(piece, rank_);
    Await(2 * pieces_ + 2);
    // The places of this piece are written again two pieces later, when all have left them: a rank
    // writes there only after every other has combined the piece in between.
    for (int rank = 0; rank < world_; ++rank) {
      if (rank != rank_) PickUp(piece, rank);
    }
    done += piece.count;
  }
  return Ok();
}

}  // namespace ringward::comm
