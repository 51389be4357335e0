#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringward::watch {

/// Where to listen, and who may come: what the options of `ringward watch` say.
struct HttpExposure {
  std::string listen;      ///< "127.0.0.1:9188", "[::1]:0", "localhost:9188"
  std::string token_file;  ///< empty: nobody is asked for a token
  std::string tls_cert;    ///< PEM, the chain from the leaf up; empty: no TLS
  std::string tls_key;     ///< PEM
};

/// An address as options give it.
struct ListenAddress {
  std::string host;  ///< an IP address, without brackets
  std::uint16_t port = 0;
  bool loopback = false;
};

/// kInvalidInput: "--listen x: expected …".
Result<ListenAddress> ParseListen(std::string_view text);

/// kInvalidInput where the options contradict each other, or where the address can be reached from
/// other machines without both a token and TLS.
Status CheckExposure(const HttpExposure& exposure);

/// The token on the only line of the file: 16 to 512 printable characters without blanks.
Result<std::string> ReadToken(const std::string& path);

/// Whether a Host header names this machine's loopback, as a browser's does unless another name
/// was made to point here.
bool IsLoopbackHost(std::string_view host_header);

/// In a time that does not depend on where they differ.
bool IsSameSecret(std::string_view a, std::string_view b);

}  // namespace ringward::watch
