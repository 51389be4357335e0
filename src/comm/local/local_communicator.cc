#include "comm/local/local_communicator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "base/check.h"
#include "comm/local/room.h"
#include "comm/reduce.h"

namespace ringward::comm {
namespace {

/// Elements [begin, begin + count) of a buffer.
Buffer Slice(Buffer b, std::size_t begin, std::size_t count) {
  return {static_cast<char*>(b.data) + begin * SizeOf(b.dtype), count, b.dtype};
}

void Copy(Buffer from, Buffer to) {
  if (from.count > 0 && from.data != to.data) {
    std::memcpy(to.data, from.data, from.count * SizeOf(from.dtype));
  }
}

std::size_t Before(std::span<const std::size_t> counts, int rank) {
  std::size_t sum = 0;
  for (int r = 0; r < rank; ++r) sum += counts[static_cast<std::size_t>(r)];
  return sum;
}

constexpr std::size_t kBlockBytes = 8192;  // scratch of a reduction; stays in the cache

class LocalCommunicator final : public EngineBase {
 public:
  // A shared_ptr because the members of a group may be destroyed in any order, on any thread.
  LocalCommunicator(std::shared_ptr<Room> room, int rank, std::chrono::milliseconds timeout)
      : EngineBase(rank, room->world(), timeout), room_(std::move(room)) {}
  ~LocalCommunicator() override {
    StopWorker();
    room_->Leave(rank());
  }
  LocalCommunicator(const LocalCommunicator&) = delete;
  LocalCommunicator& operator=(const LocalCommunicator&) = delete;
  const char* engine() const override { return "local"; }

 private:
  Status DoAllReduce(Buffer data, ReduceOp op, const Call& call) override {
    const Posting posting{.operation = call.operation, .send = data, .op = op};
    RINGWARD_TRY(room_->Meet(rank(), posting, call.timeout));
    const auto size64 = static_cast<std::size_t>(size());
    const std::size_t part = (data.count + size64 - 1) / size64;
    const std::size_t begin = std::min(data.count, part * static_cast<std::size_t>(rank()));
    const std::size_t end = std::min(data.count, begin + part);
    ForBlocks(data.dtype, begin, end, [&](std::size_t at, Buffer block) {
      Reduce(at, block, op);
      for (int r = 0; r < size(); ++r) Copy(block, Slice(room_->posting(r).send, at, block.count));
    });
    room_->Part();
    return Ok();
  }

  Status DoAllGatherV(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                      const Call& call) override {
    const Posting posting{
        .operation = call.operation, .send = send, .receive = receive, .counts = counts};
    RINGWARD_TRY(room_->Meet(rank(), posting, call.timeout));
    for (int r = 0; r < size(); ++r) {
      const Buffer from = room_->posting(r).send;
      Copy(from, Slice(receive, Before(counts, r), from.count));
    }
    room_->Part();
    return Ok();
  }

  Status DoBroadcast(Buffer data, int root, const Call& call) override {
    const Posting posting{.operation = call.operation, .send = data, .root = root};
    RINGWARD_TRY(room_->Meet(rank(), posting, call.timeout));
    Copy(room_->posting(root).send, data);
    room_->Part();
    return Ok();
  }

  Status DoReduceScatter(Buffer send, Buffer receive, std::span<const std::size_t> counts,
                         ReduceOp op, const Call& call) override {
    const Posting posting{
        .operation = call.operation, .send = send, .receive = receive, .counts = counts, .op = op};
    RINGWARD_TRY(room_->Meet(rank(), posting, call.timeout));
    const std::size_t begin = Before(counts, rank());
    ForBlocks(send.dtype, begin, begin + receive.count, [&](std::size_t at, Buffer block) {
      Reduce(at, block, op);
      Copy(block, Slice(receive, at - begin, block.count));
    });
    room_->Part();
    return Ok();
  }

  Status DoBarrier(const Call& call) override {
    RINGWARD_TRY(room_->Meet(rank(), {.operation = call.operation}, call.timeout));
    room_->Part();
    return Ok();
  }

  void OnBroken(const Error& error) override { room_->Fail(rank(), error); }

  /// Calls `work(at, block)` with scratch blocks that stand for elements [at, at + block.count).
  template <typename Work>
  static void ForBlocks(DType dtype, std::size_t begin, std::size_t end, Work work) {
    alignas(64) std::array<std::byte, kBlockBytes> scratch;
    const std::size_t elements = kBlockBytes / SizeOf(dtype);
    for (std::size_t at = begin; at < end; at += elements) {
      work(at, Buffer{scratch.data(), std::min(elements, end - at), dtype});
    }
  }

  /// block = elements from `at` on, reduced over the ranks in rank order.
  void Reduce(std::size_t at, Buffer block, ReduceOp op) const {
    alignas(64) std::array<std::byte, kBlockBytes> scratch;
    for (int r = 0; r < size(); ++r) {
      Buffer term = r == 0 ? block : Buffer{scratch.data(), block.count, block.dtype};
      Copy(Slice(room_->posting(r).send, at, block.count), term);
      ScaleBefore(op, term, size());
      if (r > 0) Combine(op, block.dtype, block.data, block.data, term.data, block.count);
    }
    ScaleAfter(op, block, size());
  }

  const std::shared_ptr<Room> room_;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> MakeLocalGroup(int world,
                                                          std::chrono::milliseconds timeout) {
  RINGWARD_CHECK(world >= 1);
  auto room = std::make_shared<Room>(world);
  std::vector<std::unique_ptr<Communicator>> group;
  group.reserve(static_cast<std::size_t>(world));
  for (int rank = 0; rank < world; ++rank) {
    group.push_back(std::make_unique<LocalCommunicator>(room, rank, timeout));
  }
  return group;
}

std::unique_ptr<Communicator> MakeLocal() { return std::move(MakeLocalGroup(1).front()); }

void RunRanks(int world, const std::function<void(Communicator&)>& body,
              std::chrono::milliseconds timeout) {
  auto group = MakeLocalGroup(world, timeout);
  std::vector<std::jthread> threads;
  threads.reserve(group.size());
  for (auto& communicator : group) {
    threads.emplace_back([&body, own = std::move(communicator)] { body(*own); });
  }
}

}  // namespace ringward::comm
