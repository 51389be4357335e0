// The one source of the agent that includes the HTTP client, whose header alone is slow.
#include <httplib.h>

#include <utility>

#include "watch/hosts/agent_link.h"
#include "watch/http/exposure.h"
#include "watch/http/origin.h"

namespace ringward::watch {
namespace {

constexpr std::chrono::seconds kPatience{5};

class HttpPost final : public AgentPost {
 public:
  HttpPost(const HttpOrigin& origin, const HttpPostOptions& options)
      : origin_(origin.text), http_(origin.text) {
    http_.set_connection_timeout(kPatience);
    http_.set_read_timeout(kPatience);
    http_.set_write_timeout(kPatience);
    http_.set_keep_alive(true);
    // A message is two writes: the second must not wait for word of the first.
    http_.set_tcp_nodelay(true);
    if (!options.token.empty()) http_.set_bearer_token_auth(options.token);
    if (origin.tls) http_.enable_server_certificate_verification(true);
    if (origin.tls && !options.ca_file.empty()) http_.set_ca_cert_path(options.ca_file);
  }

  Result<Reply> Post(const std::string& body) override {
    const httplib::Result answer = http_.Post(kAgentPath, body, kAgentContentType);
    if (!answer) {
      return Error(Code::kUnavailable, "nobody answers at " + origin_ + " (" +
                                           httplib::to_string(answer.error()) + ")");
    }
    return Reply{static_cast<unsigned>(answer->status), answer->body};
  }
  void Stop() override { http_.stop(); }

 private:
  std::string origin_;
  httplib::Client http_;
};

}  // namespace

Result<std::unique_ptr<AgentPost>> MakeHttpPost(const HttpPostOptions& options) {
  const auto origin = ParseHttpOrigin(options.url);
  if (!origin) {
    return Error(Code::kInvalidInput,
                 "--agent-of " + options.url + ": expected an address like https://node0:9188");
  }
  if (!origin->tls && !IsLoopbackHost(origin->host)) {
    return Error(Code::kInvalidInput,
                 "--agent-of " + options.url + ": goes to another machine, which needs https://");
  }
  if (!options.ca_file.empty() && !origin->tls)
    return Error(Code::kInvalidInput, "--agent-ca: means nothing without https://");
  return std::unique_ptr<AgentPost>(std::make_unique<HttpPost>(*origin, options));
}

}  // namespace ringward::watch
