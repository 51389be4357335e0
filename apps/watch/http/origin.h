#pragma once

#include <optional>
#include <string>

namespace ringward::watch {

/// Where an HTTP server is: "https://node0:9188".
struct HttpOrigin {
  std::string text;  ///< without a slash at its end
  std::string host;  ///< with the port, where one is given
  bool tls = false;
};

/// Nothing where `url` is no address of http or https, or has a path.
std::optional<HttpOrigin> ParseHttpOrigin(const std::string& url);

}  // namespace ringward::watch
