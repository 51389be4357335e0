// The one source that includes Beast and Asio: it takes a compiler longer than the rest of the
// watcher together.
#if defined(__SANITIZE_THREAD__)
// The thread sanitizer does not know fences. One thread runs all handlers, and others reach it
// through locks, which the sanitizer does know.
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif
#include "watch/http/http_server.h"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>  // before Asio 1.74, which forgets it
#include <vector>

#include "base/caught.h"
#include "base/log.h"
#include "watch/http/http_connection.h"

namespace ringward::watch {
namespace {

using namespace server;  // its connections, which are made here only

constexpr std::size_t kRefusingMost = 64;
constexpr std::chrono::milliseconds kFarewell{500};
constexpr std::chrono::milliseconds kAcceptAgain{100};

std::optional<asio::ssl::context> NoTls() { return std::nullopt; }

Result<std::optional<asio::ssl::context>> TlsOf(const HttpExposure& exposure) {
  if (exposure.tls_cert.empty()) return NoTls();
  asio::ssl::context tls(asio::ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
  ErrorCode error;
  tls.use_certificate_chain_file(exposure.tls_cert, error);
  if (error)
    return Error(Code::kInvalidInput, "--tls-cert " + exposure.tls_cert + ": " + error.message());
  tls.use_private_key_file(exposure.tls_key, asio::ssl::context::pem, error);
  if (error)
    return Error(Code::kInvalidInput, "--tls-key " + exposure.tls_key + ": " + error.message());
  return std::optional(std::move(tls));
}

std::string UrlOf(const ListenAddress& address, std::uint16_t port, bool tls) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (tls ? "https://" : "http://") + (v6 ? "[" + address.host + "]" : address.host) + ":" +
         std::to_string(port) + "/";
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(Options options, Router router, std::optional<asio::ssl::context> tls)
      : tls_(std::move(tls)) {
    shared_.router = std::move(router);
    shared_.limits = options.limits;
    shared_.counter = options.counter;
    shared_.log = StreamLog(options.run);
  }
  ~Impl() {
    asio::post(io_, [this] { End(); });
    if (thread_.joinable()) thread_.join();
  }

  Status Listen(const HttpExposure& exposure, std::string token) {
    RINGWARD_ASSIGN(const ListenAddress address, ParseListen(exposure.listen));
    shared_.token = std::move(token);
    shared_.loopback = address.loopback;
    const tcp::endpoint endpoint(asio::ip::make_address(address.host), address.port);
    ErrorCode error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      return Error(Code::kResource, "--listen " + exposure.listen + ": " + error.message());
    url_ = UrlOf(address, acceptor_.local_endpoint().port(), tls_.has_value());
    return Ok();
  }

  void Serve() {
    Accept();
    thread_ = std::thread([this] {
      // Signals are for the thread that watches.
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, nullptr);
      // Memory that one answer could not get is no reason to give none to the others.
      while (!io_.stopped()) {
        const Status served = Guarded([this]() -> Status {
          io_.run();
          return Ok();
        });
        if (!served) LogWarning("the HTTP server passed over a client: " + served.error().what());
      }
    });
  }

  const std::string& url() const { return url_; }

  void Publish(StreamEvent event) {
    asio::post(io_, [this, event = std::move(event)] {
      const StreamFrame frame = shared_.log.Add(event);
      std::erase_if(shared_.streams, [&](const auto& each) {
        const auto client = each.lock();
        if (client) client->Offer(frame);
        return !client;
      });
    });
  }

 private:
  void Accept() {
    acceptor_.async_accept([this](const ErrorCode& error, tcp::socket socket) {
      if (shared_.ending || error == asio::error::operation_aborted) return;
      if (!error) {
        Take(std::move(socket));
        return Accept();
      }
      // No descriptor left, mostly: others end in a moment.
      timer_.expires_after(kAcceptAgain);
      timer_.async_wait([this](const ErrorCode& cancelled) {
        if (!cancelled) Accept();
      });
    });
  }

  void Take(tcp::socket socket) {
    const bool refused = shared_.connections >= shared_.limits.connections;
    if (refused) shared_.counter->Count([](HttpCounts& counts) { ++counts.refused; });
    // Where many are refused, or a reason would need a handshake first, hanging up must do.
    if (refused && (tls_ || shared_.refusing >= kRefusingMost)) return;
    if (tls_) {
      std::make_shared<ConnectionOf<beast::ssl_stream<beast::tcp_stream>>>(shared_, refused,
                                                                           std::move(socket), *tls_)
          ->Run();
    } else {
      std::make_shared<ConnectionOf<beast::tcp_stream>>(shared_, refused, std::move(socket))->Run();
    }
  }

  void End() {
    shared_.ending = true;
    ErrorCode ignored;
    acceptor_.close(ignored);
    for (const auto& each : shared_.streams) {
      if (const auto client = each.lock()) client->Finish();
    }
    timer_.expires_after(kFarewell);
    timer_.async_wait([this](const ErrorCode&) { io_.stop(); });
    EndWhenIdle();
  }

  /// Others than streams are not waited for.
  void EndWhenIdle() {
    const bool streaming = std::any_of(shared_.streams.begin(), shared_.streams.end(),
                                       [](const auto& each) { return !each.expired(); });
    if (!streaming) return io_.stop();
    idle_.expires_after(std::chrono::milliseconds(5));
    idle_.async_wait([this](const ErrorCode& cancelled) {
      if (!cancelled) EndWhenIdle();
    });
  }

  // Connections end with the io_context, which is why it ends first.
  Shared shared_;
  std::optional<asio::ssl::context> tls_;
  std::string url_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  asio::steady_timer timer_{io_};
  asio::steady_timer idle_{io_};
  std::thread thread_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::Start(Options options, Router router) {
  const HttpExposure exposure = options.exposure;
  RINGWARD_TRY(CheckExposure(exposure));
  std::string token;
  if (!exposure.token_file.empty()) {
    RINGWARD_ASSIGN(token, ReadToken(exposure.token_file));
  }
  RINGWARD_ASSIGN(std::optional<asio::ssl::context> tls, TlsOf(exposure));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(router), std::move(tls));
  RINGWARD_TRY(impl->Listen(exposure, std::move(token)));
  impl->Serve();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
const std::string& HttpServer::url() const { return impl_->url(); }
void HttpServer::Publish(StreamEvent event) { impl_->Publish(std::move(event)); }

}  // namespace ringward::watch
