#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ringward/cli/json.h"

namespace ringward::cli {

/// Asks a watcher for documents (docs/api.md). Not safe for concurrent use.
class WatchClient {
 public:
  /// `url`: "http://127.0.0.1:9188"; `token` may be empty. Errors: kInvalidInput (no address).
  static Result<WatchClient> Make(const std::string& url, const std::string& token);
  WatchClient(WatchClient&&) noexcept;
  WatchClient& operator=(WatchClient&&) noexcept;
  ~WatchClient();

  /// The document at `path` ("/api/v1/jobs"). Errors: kUnavailable (nobody answers, or not with a
  /// document), kInvalidInput (the watcher refuses), all naming the address.
  Result<Json> Get(const std::string& path);

 private:
  struct Connection;
  explicit WatchClient(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

/// A name as a part of a path.
std::string PercentEncoded(const std::string& text);

}  // namespace ringward::cli
