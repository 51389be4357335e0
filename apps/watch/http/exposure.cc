#include "watch/http/exposure.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "io/byte_source.h"

namespace ringward::watch {
namespace {

constexpr std::string_view kLocalhost = "localhost";
constexpr std::size_t kTokenLeast = 16;
constexpr std::size_t kTokenMost = 512;

std::optional<std::uint16_t> PortOf(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

/// Nothing where the text is no IP address.
std::optional<bool> IsLoopbackAddress(const std::string& host) {
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24U) == 127;
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return std::nullopt;
}

struct HostAndPort {
  std::string host;  // without brackets
  std::optional<std::string_view> port;
};

/// "a:1", "[::1]:1", "a".
std::optional<HostAndPort> SplitHost(std::string_view text) {
  std::string_view host = text;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    rest = text.substr(end + 1);
    if (host.find(':') == std::string_view::npos) return std::nullopt;
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    rest = text.substr(colon);
  }
  if (rest.empty()) return HostAndPort{std::string(host), std::nullopt};
  if (!rest.starts_with(':')) return std::nullopt;
  return HostAndPort{std::string(host), rest.substr(1)};
}

}  // namespace

Result<ListenAddress> ParseListen(std::string_view text) {
  const Error bad(Code::kInvalidInput,
                  "--listen " + std::string(text) +
                      ": expected an IP address and a port, such as 127.0.0.1:9188 or [::1]:0");
  auto split = SplitHost(text);
  if (!split || !split->port) return bad;
  const auto port = PortOf(*split->port);
  if (split->host == kLocalhost) split->host = "127.0.0.1";
  const auto loopback = IsLoopbackAddress(split->host);
  if (!port || !loopback) return bad;
  return ListenAddress{split->host, *port, *loopback};
}

Status CheckExposure(const HttpExposure& exposure) {
  if (exposure.listen.empty()) {
    for (const auto& [name, value] :
         {std::pair("--token-file", &exposure.token_file),
          std::pair("--tls-cert", &exposure.tls_cert), std::pair("--tls-key", &exposure.tls_key)}) {
      if (!value->empty())
        return Error(Code::kInvalidInput, std::string(name) + ": means nothing without --listen");
    }
    return Ok();
  }
  if (exposure.tls_cert.empty() != exposure.tls_key.empty())
    return Error(Code::kInvalidInput, "--tls-cert and --tls-key belong together");
  RINGWARD_ASSIGN(const ListenAddress address, ParseListen(exposure.listen));
  if (!address.loopback && (exposure.token_file.empty() || exposure.tls_cert.empty())) {
    return Error(Code::kInvalidInput, "--listen " + exposure.listen +
                                          ": can be reached from other machines, which needs "
                                          "--token-file, --tls-cert and --tls-key");
  }
  return Ok();
}

Result<std::string> ReadToken(const std::string& path) {
  RINGWARD_ASSIGN(const auto source, io::OpenRawInput(path));
  std::array<char, kTokenMost + 2> buffer{};
  std::size_t size = 0;
  while (size < buffer.size()) {
    RINGWARD_ASSIGN(const std::size_t got, source->Read(std::span(buffer).subspan(size)));
    if (got == 0) break;
    size += got;
  }
  std::string token(buffer.data(), size);
  if (token.ends_with('\n')) token.pop_back();
  if (token.ends_with('\r')) token.pop_back();
  const bool printable =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (token.size() < kTokenLeast || token.size() > kTokenMost || !printable) {
    return Error(Code::kInvalidInput,
                 "--token-file " + path +
                     ": expected one line of 16 to 512 printable characters without blanks");
  }
  return token;
}

bool IsLoopbackHost(std::string_view host_header) {
  const auto split = SplitHost(host_header);
  if (!split || (split->port && !PortOf(*split->port))) return false;
  const std::string& host = split->host;
  const bool localhost = std::equal(host.begin(), host.end(), kLocalhost.begin(), kLocalhost.end(),
                                    [](char a, char b) { return (a | 0x20) == b; });
  return localhost || IsLoopbackAddress(host).value_or(false);
}

bool IsSameSecret(std::string_view a, std::string_view b) {
  // Digests have one length, so that not even the secret's length shows.
  std::array<std::array<unsigned char, SHA256_DIGEST_LENGTH>, 2> digests{};
  SHA256(reinterpret_cast<const unsigned char*>(a.data()), a.size(), digests[0].data());
  SHA256(reinterpret_cast<const unsigned char*>(b.data()), b.size(), digests[1].data());
  return CRYPTO_memcmp(digests[0].data(), digests[1].data(), SHA256_DIGEST_LENGTH) == 0;
}

}  // namespace ringward::watch
