#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "comm/socket.h"
#include "comm/store_protocol.h"

namespace ringward::comm {

/// One rank's connection to the job's StoreServer. Keys of one generation (one formation of the
/// group) are kept apart from those of all others. One thread at a time. After a kUnavailable,
/// kCorrupt or overdue answer the connection is over and every later call fails.
class StoreClient {
 public:
  /// Errors: kInvalidInput (address, another job's server), kUnavailable, kTimeout.
  static Result<StoreClient> Connect(const std::string& address, std::uint16_t port,
                                     const std::string& job, std::uint64_t generation,
                                     Deadline deadline);

  /// Keys hold 1 to 400 bytes, values up to 1 MiB. Errors also: kInvalidInput, kResource (full).
  Status Set(std::string_view key, std::string_view value, Deadline deadline);
  /// Waits until somebody has set `key`. Errors also: kTimeout.
  Result<std::string> Get(std::string_view key, Deadline deadline);
  /// The value if there is one within `wait`, without an error if not.
  Result<std::optional<std::string>> TryGet(std::string_view key, std::chrono::milliseconds wait);
  /// The same where the answer itself may take until `deadline`, as on a machine with far more
  /// ranks than cores.
  Result<std::optional<std::string>> TryGet(std::string_view key, std::chrono::milliseconds wait,
                                            Deadline deadline);
  /// Sets `key` unless it is set; the value that stands.
  Result<std::string> SetIfAbsent(std::string_view key, std::string_view value, Deadline deadline);

 private:
  StoreClient(Fd socket, std::string prefix)
      : socket_(std::move(socket)), prefix_(std::move(prefix)) {}
  struct Reply {
    store::Answer answer;
    std::string bytes;
  };
  Result<Reply> Ask(store::Op op, std::string_view key, std::string_view value,
                    std::chrono::milliseconds wait, Deadline deadline);
  Result<Reply> Exchange(std::string_view bytes, Deadline deadline);

  Fd socket_;
  std::string prefix_;
  bool over_ = false;
};

}  // namespace ringward::comm
