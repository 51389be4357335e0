#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace ringward::comm {

struct StoreServerOptions {
  std::string job;                    ///< clients that name another job are refused; <= 256 bytes
  std::string address = "127.0.0.1";  ///< IPv4 address to listen on
  std::uint16_t port = 0;             ///< 0: the system chooses
  std::size_t max_clients = 4096;
  std::size_t max_bytes = 64U << 20;  ///< of all keys and values
};

/// Where the ranks of a job leave addresses for each other: a small key-value store over TCP, on
/// one thread of the launcher. Bytes of clients are untrusted: every length is bounded, a client
/// that breaks the protocol, is silent before its hello or does not read its answers loses only
/// its own connection. Keys live as long as the server. Destroying it cuts all clients off.
class StoreServer {
 public:
  /// Errors: kInvalidInput (address, job), kResource.
  static Result<std::unique_ptr<StoreServer>> Start(const StoreServerOptions& options);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  const std::string& address() const;
  std::uint16_t port() const;
  /// Connections cut off because they broke a rule or a bound.
  std::uint64_t clients_refused() const;

 private:
  class Loop;
  explicit StoreServer(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace ringward::comm
