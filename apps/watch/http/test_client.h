// A client that sends whatever bytes a test wants sent.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace ringward::watch {

inline std::uint16_t PortOfUrl(const std::string& url) {
  std::uint16_t port = 0;
  const std::size_t at = url.rfind(':') + 1;
  std::from_chars(url.data() + at, url.data() + url.size(), port);
  return port;
}

class TestClient {
 public:
  /// `receive_bytes`: how much the kernel holds for it; 0: what is usual.
  explicit TestClient(std::uint16_t port, int receive_bytes = 0)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0)
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
    EXPECT_EQ(::connect(socket_.get(), generic, sizeof address), 0);
  }

  /// Where the server has hung up the rest is dropped.
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void CloseWriting() { ::shutdown(socket_.get(), SHUT_WR); }

  /// All that comes until `end` has come (empty: never), the server hangs up, or nothing comes for
  /// ten seconds, which fails the test.
  std::string ReadUntil(std::string_view end) {
    constexpr int kPatienceMs = 10000;
    while (end.empty() || got_.find(end) == std::string::npos) {
      pollfd ready{socket_.get(), POLLIN, 0};
      if (::poll(&ready, 1, kPatienceMs) != 1) {
        ADD_FAILURE() << "nothing came for ten seconds after: " << got_.substr(0, 2000);
        break;
      }
      std::string buffer(65536, '\0');
      const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (size <= 0) break;
      got_.append(buffer, 0, static_cast<std::size_t>(size));
    }
    const std::size_t at = end.empty() ? std::string::npos : got_.find(end);
    const std::size_t count = at == std::string::npos ? got_.size() : at + end.size();
    std::string read = got_.substr(0, count);
    got_.erase(0, count);
    return read;
  }
  std::string ReadAll() { return ReadUntil(""); }

 private:
  Fd socket_;
  std::string got_;
};

/// The statuses of all answers in what was read.
inline std::vector<int> StatusesIn(const std::string& read) {
  constexpr std::string_view kMark = "HTTP/1.1 ";
  std::vector<int> statuses;
  for (std::size_t at = read.find(kMark); at != std::string::npos; at = read.find(kMark, at + 1)) {
    int status = 0;
    const char* const digits = read.data() + at + kMark.size();
    std::from_chars(digits, digits + 3, status);
    statuses.push_back(status);
  }
  return statuses;
}

/// Head and body of one answer to "GET target".
inline std::string Get(std::uint16_t port, const std::string& target,
                       const std::string& headers = "") {
  TestClient client(port);
  client.Send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers +
              "\r\n");
  return client.ReadAll();
}

inline std::string BodyOf(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace ringward::watch
