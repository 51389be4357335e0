#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/fd.h"
#include "comm/communicator.h"

namespace ringward::comm {

/// All-reduces among the ranks of one host through memory that all of them have mapped: every rank
/// lays down the shares of the others, combines its own share over all ranks, and picks up what the
/// others combined. Each byte is copied at most twice, where a message through a library is copied
/// at least as often and waited for in more places (docs/decisions/0006).
///
/// The memory has no name: it is gone when the last process that maps it ends, however it ends.
/// One object per rank; each is used by one thread at a time.
class SharedReduce {
 public:
  /// Where a peer finds the memory; plain bytes, to be sent to it.
  struct Address {
    pid_t pid = 0;
    std::int32_t fd = -1;
    std::uint64_t nonce = 0;
    std::uint64_t bytes = 0;
    std::array<char, 96> machine{};  ///< this boot of this host, and its numbering of processes
  };

  /// Makes the memory; on one rank. `rank` in [0, world), world >= 2. Errors: kResource.
  static Result<SharedReduce> Create(int rank, int world);
  /// Maps what another rank made and has not sealed; `rank` and `world` as for Create(). Errors:
  /// kUnavailable (another host, or its maker is out of sight).
  static Result<SharedReduce> Open(const Address& address, int rank, int world);

  SharedReduce(SharedReduce&& other) noexcept;
  SharedReduce& operator=(SharedReduce&& other) noexcept;
  ~SharedReduce();

  /// REQUIRES: made by Create(), before Seal().
  Address address() const;
  /// All ranks have the memory: no rank can open it any more.
  void Seal() { memory_.reset(); }

  /// How a rank waits: `yield` gives up the core at once (more ranks than cores), else after some
  /// 100 us; `idle`, which may be null, is called each time it does.
  void SetWaiting(bool yield, std::function<void()> idle);

  /// Reduces `data` over all ranks, which make the same calls in the same order; every rank ends
  /// with the same bits. kAverage only sums (see ScaleBefore, ScaleAfter). Waits without a
  /// deadline: the caller watches. Nothing to reduce meets nobody. Errors: kInvalidInput (the
  /// ranks' calls disagree; told on every rank, and the object is of no use any more).
  Status AllReduce(Buffer data, ReduceOp op);

 private:
  struct Header;
  struct Desk;

  SharedReduce(Fd memory, void* mapping, std::size_t bytes, int rank, int world);
  static std::size_t Bytes(int world);

  Desk& desk(int rank) const;
  /// Rank `rank`'s place for the pieces of even or odd number.
  std::byte* place(int rank, std::uint64_t piece) const;
  void Arrive(std::uint64_t time);
  /// Waits until every rank has come to `time`.
  void Await(std::uint64_t time) const;
  Status Compare() const;
  /// Puts the shares of the others into the own place.
  void LayDown(Buffer piece) const;
  /// Leaves the own share, combined over all ranks, in the own place.
  void CombineShare(Buffer piece, ReduceOp op) const;
  /// Copies the share that `rank` has combined to where it belongs.
  void PickUp(Buffer piece, int rank) const;

  Fd memory_;
  void* mapping_;
  std::size_t bytes_;
  int rank_;
  int world_;
  bool yield_ = false;
  std::function<void()> idle_;
  std::uint64_t pieces_ = 0;  ///< done so far
};

}  // namespace ringward::comm
