#include "comm/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/system_error.h"

namespace ringward::comm {
namespace {

Result<sockaddr_in> Parse(const std::string& address, std::uint16_t port) {
  sockaddr_in parsed{};
  parsed.sin_family = AF_INET;
  parsed.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &parsed.sin_addr) != 1) {
    return Error(Code::kInvalidInput, "'" + address + "' is not an IPv4 address");
  }
  return parsed;
}

Result<Fd> NewSocket() {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return SystemError("socket", errno);
  const int on = 1;  // requests are small and wait for their answers
  setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

Status WaitFor(const Fd& socket, short events, Deadline deadline) {
  while (true) {
    pollfd entry{socket.get(), events, 0};
    const auto left = std::min<std::int64_t>(Left(deadline).count(), INT_MAX);
    const int ready = poll(&entry, 1, static_cast<int>(left));
    if (ready > 0) return Ok();
    if (ready == 0) return Error(Code::kTimeout, "no answer in time");
    if (errno != EINTR) return SystemError("poll", errno);
  }
}

}  // namespace

std::chrono::milliseconds Left(Deadline deadline) {
  const auto left = deadline - std::chrono::steady_clock::now();
  return std::max(std::chrono::milliseconds(0), std::chrono::ceil<std::chrono::milliseconds>(left));
}

Result<Fd> ListenOn(const std::string& address, std::uint16_t port) {
  RINGWARD_ASSIGN(const sockaddr_in parsed, Parse(address, port));
  RINGWARD_ASSIGN(Fd fd, NewSocket());
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&parsed), sizeof(parsed)) != 0) {
    return SystemError("bind to " + address + ":" + std::to_string(port), errno);
  }
  if (listen(fd.get(), SOMAXCONN) != 0) {
    return SystemError("listen on " + address, errno);
  }
  return fd;
}

Result<std::uint16_t> PortOf(const Fd& socket) {
  sockaddr_in bound{};
  socklen_t size = sizeof(bound);
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return SystemError("getsockname", errno);
  }
  return ntohs(bound.sin_port);
}

Result<Fd> ConnectTo(const std::string& address, std::uint16_t port, Deadline deadline) {
  RINGWARD_ASSIGN(const sockaddr_in parsed, Parse(address, port));
  RINGWARD_ASSIGN(Fd fd, NewSocket());
  const std::string where = "connecting to " + address + ":" + std::to_string(port);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&parsed), sizeof(parsed)) == 0) return fd;
  if (errno != EINPROGRESS) return Error(Code::kUnavailable, SystemMessage(errno)).While(where);
  if (Status ready = WaitFor(fd, POLLOUT, deadline); !ready) {
    return std::move(ready).error().While(where);
  }
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return Error(Code::kUnavailable, SystemMessage(error)).While(where);
  return fd;
}

Status SendAll(const Fd& socket, std::span<const char> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      RINGWARD_TRY(WaitFor(socket, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return Error(Code::kUnavailable, "send: " + SystemMessage(errno));
    }
  }
  return Ok();
}

Status ReceiveAll(const Fd& socket, std::span<char> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t got = recv(socket.get(), bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got == 0) {
      return Error(Code::kUnavailable, "the connection was closed");
    } else if (errno == EAGAIN) {
      RINGWARD_TRY(WaitFor(socket, POLLIN, deadline));
    } else if (errno != EINTR) {
      return Error(Code::kUnavailable, "receive: " + SystemMessage(errno));
    }
  }
  return Ok();
}

}  // namespace ringward::comm
