#include "watch/http/origin.h"

#include <algorithm>

namespace ringward::watch {

std::optional<HttpOrigin> ParseHttpOrigin(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::string kind = url.substr(0, scheme);
  const std::size_t host = scheme == std::string::npos ? url.size() : scheme + 3;
  const std::size_t path = std::min(url.find('/', host), url.size());
  const bool bare = path == url.size() || path + 1 == url.size();
  if ((kind != "http" && kind != "https") || path == host || !bare) return std::nullopt;
  return HttpOrigin{url.substr(0, path), url.substr(host, path - host), kind == "https"};
}

}  // namespace ringward::watch
