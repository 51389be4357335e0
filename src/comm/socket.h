#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace ringward::comm {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline After(std::chrono::milliseconds timeout) {
  return std::chrono::steady_clock::now() + timeout;
}

/// Milliseconds until `deadline`, rounded up; 0 once it has passed.
std::chrono::milliseconds Left(Deadline deadline);

/// A TCP listener on an IPv4 address; port 0 lets the system choose. All sockets here are
/// non-blocking and closed on exec. Errors: kInvalidInput (address), kResource.
Result<Fd> ListenOn(const std::string& address, std::uint16_t port);
/// The port a socket is bound to.
Result<std::uint16_t> PortOf(const Fd& socket);
/// Connects to an IPv4 address. Errors: kInvalidInput, kUnavailable, kTimeout.
Result<Fd> ConnectTo(const std::string& address, std::uint16_t port, Deadline deadline);
/// All of `bytes`, or an error: kUnavailable (peer gone), kTimeout.
Status SendAll(const Fd& socket, std::span<const char> bytes, Deadline deadline);
Status ReceiveAll(const Fd& socket, std::span<char> bytes, Deadline deadline);

}  // namespace ringward::comm
