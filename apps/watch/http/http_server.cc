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
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <csignal>
#include <deque>
#include <optional>
#include <thread>
#include <utility>  // before Asio 1.74, which forgets it
#include <vector>

#include "base/caught.h"
#include "base/log.h"

namespace ringward::watch {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kBodyMost = 32 * 1024;  // a file of rules
constexpr std::size_t kRefusingMost = 64;
constexpr std::size_t kLingerBytesMost = 1 << 20;
// What the kernel may hold for a client of the stream: beyond it the client counts as slow.
constexpr int kStreamSendBytes = 64 * 1024;
constexpr std::chrono::milliseconds kFarewell{500};
constexpr std::chrono::milliseconds kAcceptAgain{100};

/// What all connections share; used on the server's thread.
struct Shared {
  Router router;
  HttpLimits limits;
  std::string token;
  bool loopback = true;
  StreamLog log{""};
  std::vector<std::weak_ptr<class Connection>> streams;
  HttpCounter* counter = nullptr;
  std::size_t connections = 0;
  std::size_t refusing = 0;
  std::size_t stream_clients = 0;
  bool ending = false;

  void ShowCounts() {
    counter->Count([this](HttpCounts& counts) {
      counts.connections = connections;
      counts.stream_clients = stream_clients;
    });
  }
  void CountAnswer(unsigned status) {
    counter->Count([&](HttpCounts& counts) { ++counts.answers[status]; });
  }
};

/// One client: requests one after another, or the stream.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  virtual ~Connection() = default;
  virtual void Offer(const StreamFrame& frame) = 0;
  /// The server ends: what waits is sent, then it hangs up.
  virtual void Finish() = 0;
};

using Response = http::response<http::string_body>;
using Request = http::request<http::string_body>;

/// Where the headers make an answer of their own: who may not ask.
std::optional<HttpResponse> RefusalOf(const Shared& shared, const Request& request) {
  if (request.method() != http::verb::get && request.method() != http::verb::head &&
      request.method() != http::verb::post)
    return HttpError(405, "only GET and HEAD");
  const auto host = request.find(http::field::host);
  if (host == request.end() && request.version() >= 11) return HttpError(400, "no Host header");
  if (shared.loopback && host != request.end() && request.count(http::field::host) == 1) {
    const std::string_view name(host->value().data(), host->value().size());
    if (!IsLoopbackHost(name))
      return HttpError(403, "the Host header names another host than this machine's loopback");
  } else if (request.count(http::field::host) > 1) {
    return HttpError(400, "more than one Host header");
  }
  return std::nullopt;
}

bool HasToken(const Shared& shared, const Request& request) {
  if (shared.token.empty()) return true;
  constexpr std::string_view kScheme = "Bearer ";
  const auto field = request[http::field::authorization];
  const std::string_view value(field.data(), field.size());
  if (value.size() < kScheme.size() ||
      !beast::iequals(field.substr(0, kScheme.size()), beast::string_view("Bearer ")))
    return false;
  return IsSameSecret(value.substr(kScheme.size()), shared.token);
}

HttpResponse AnswerOf(const Shared& shared, const Request& request) {
  if (auto refusal = RefusalOf(shared, request)) return *std::move(refusal);
  auto asked = ParseTarget(std::string_view(request.target().data(), request.target().size()));
  if (!asked) return HttpError(400, asked.error().what());
  asked->post = request.method() == http::verb::post;
  if (asked->post) asked->body = request.body();
  const Router::Route& route = shared.router.Find(*asked);
  if (route.access == Router::Access::kToken && !HasToken(shared, request))
    return HttpError(401, "a bearer token is needed");
  // Without one any page that a browser shows could send it, and any user of this machine.
  if (route.post && route.access == Router::Access::kToken && shared.token.empty())
    return HttpError(403, "nothing can be changed over HTTP without --token-file");
  return route.handler(*asked);
}

/// The status for a request that is no HTTP, or too much of it; nothing where there is nobody to
/// answer.
std::optional<unsigned> StatusOf(const ErrorCode& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  if (error == http::error::body_limit) return 413;
  const bool malformed = error.category() == make_error_code(http::error::bad_method).category() &&
                         error != http::error::end_of_stream &&
                         error != http::error::partial_message;
  return malformed ? std::optional(400U) : std::nullopt;
}

template <typename Stream>
class ConnectionOf final : public Connection {
 public:
  template <typename... Args>
  explicit ConnectionOf(Shared& shared, bool refused, Args&&... args)
      : shared_(shared), refused_(refused), stream_(std::forward<Args>(args)...) {
    ++(refused_ ? shared_.refusing : shared_.connections);
    shared_.ShowCounts();
  }
  ~ConnectionOf() override {
    --(refused_ ? shared_.refusing : shared_.connections);
    if (streaming_) --shared_.stream_clients;
    shared_.ShowCounts();
  }

  void Run() {
    if (refused_) return Answer(HttpError(503, "too many connections"), 11, false, false);
    if constexpr (kTls) {
      Limit(shared_.limits.read);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = Self()](const ErrorCode& error) {
                                if (!error) self->Read();
                              });
    } else {
      Read();
    }
  }

  void Offer(const StreamFrame& frame) override {
    if (hung_up_) return;
    if (queue_.size() < shared_.limits.stream_queue) {
      queue_.push_back(frame);
      if (!writing_) WriteNext();
      return;
    }
    shared_.counter->Count([](HttpCounts& counts) { ++counts.stream_dropped; });
    HangUp();
  }

  void Finish() override {
    if (!writing_) HangUp();
  }

 private:
  static constexpr bool kTls = !std::is_same_v<Stream, beast::tcp_stream>;

  std::shared_ptr<ConnectionOf> Self() {
    return std::static_pointer_cast<ConnectionOf>(shared_from_this());
  }
  beast::tcp_stream& Lowest() { return beast::get_lowest_layer(stream_); }
  void Limit(std::chrono::milliseconds time) { Lowest().expires_after(time); }
  void HangUp() {
    hung_up_ = true;
    ErrorCode ignored;
    Lowest().socket().close(ignored);
  }

  void Read() {
    if (shared_.ending) return;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_.limits.header_bytes));
    parser_->body_limit(kBodyMost);
    Limit(shared_.limits.read);
    http::async_read(stream_, buffer_, *parser_,
                     [self = Self()](const ErrorCode& error, std::size_t) { self->OnRead(error); });
  }

  void OnRead(const ErrorCode& error) {
    if (error) {
      const auto status = StatusOf(error);
      if (status) return Answer(HttpError(*status, error.message()), 11, false, false);
      return Linger();
    }
    const Request& request = parser_->get();
    HttpResponse answer = AnswerOf(shared_, request);
    const bool head = request.method() == http::verb::head;
    if (answer.stream && !head) return BeginStream(request);
    Answer(std::move(answer), request.version(), request.keep_alive(), head);
  }

  void Answer(HttpResponse answer, unsigned version, bool keep_alive, bool head) {
    shared_.CountAnswer(answer.status);
    auto response = std::make_shared<Response>(static_cast<http::status>(answer.status), version);
    response->set(http::field::content_type, answer.content_type);
    response->set(http::field::cache_control, "no-store");
    response->set("X-Content-Type-Options", "nosniff");
    if (answer.content_type.starts_with("text/html"))
      response->set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'");
    if (answer.status == 401) response->set(http::field::www_authenticate, "Bearer");
    if (answer.status == 405) response->set(http::field::allow, "GET, HEAD");
    response->keep_alive(keep_alive && !shared_.ending);
    response->body() = std::move(answer.body);
    response->prepare_payload();
    // The length that GET would have; the empty body is not written.
    if (head) response->body().clear();
    Limit(shared_.limits.write);
    http::async_write(stream_, *response,
                      [self = Self(), response](const ErrorCode& error, std::size_t) {
                        if (error) return;
                        response->keep_alive() ? self->Read() : self->Linger();
                      });
  }

  /// Closes our side, and reads what the client still sends: a socket that is closed over unread
  /// bytes takes the answer back.
  void Linger() {
    Limit(shared_.limits.linger);
    if constexpr (kTls) {
      stream_.async_shutdown([self = Self()](const ErrorCode&) {});
    } else {
      ErrorCode ignored;
      stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
      Discard(0);
    }
  }

  void Discard(std::size_t so_far) {
    stream_.async_read_some(asio::buffer(scratch_),
                            [self = Self(), so_far](const ErrorCode& error, std::size_t got) {
                              if (!error && so_far + got < kLingerBytesMost)
                                self->Discard(so_far + got);
                            });
  }

  void BeginStream(const Request& request) {
    if (shared_.stream_clients >= shared_.limits.stream_clients)
      return Answer(HttpError(503, "too many clients of the stream"), request.version(), false,
                    false);
    shared_.CountAnswer(200);
    ++shared_.stream_clients;
    streaming_ = true;
    shared_.ShowCounts();
    ErrorCode ignored;
    Lowest().socket().set_option(asio::socket_base::send_buffer_size(kStreamSendBytes), ignored);
    queue_.push_back(std::make_shared<const std::string>(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"));
    const auto last = request["Last-Event-ID"];
    for (StreamFrame& frame : shared_.log.Opening({last.data(), last.size()}))
      queue_.push_back(std::move(frame));
    shared_.streams.push_back(weak_from_this());
    Lowest().expires_never();
    WatchForEnd();
    WriteNext();
  }

  /// The client has nothing more to say: whatever comes is its end.
  void WatchForEnd() {
    stream_.async_read_some(asio::buffer(scratch_),
                            [self = Self()](const ErrorCode& error, std::size_t) {
                              if (error) return self->HangUp();
                              self->WatchForEnd();
                            });
  }

  void WriteNext() {
    writing_ = !queue_.empty();
    if (queue_.empty()) {
      if (shared_.ending) HangUp();
      return;
    }
    Limit(shared_.limits.write);
    asio::async_write(stream_, asio::buffer(*queue_.front()),
                      [self = Self()](const ErrorCode& error, std::size_t) {
                        if (error) return self->HangUp();
                        self->queue_.pop_front();
                        self->WriteNext();
                      });
  }

  Shared& shared_;
  bool refused_;
  Stream stream_;
  beast::flat_buffer buffer_{64 * 1024};
  std::optional<http::request_parser<http::string_body>> parser_;
  std::array<char, 4096> scratch_{};
  std::deque<StreamFrame> queue_;  ///< the front one is being written
  bool streaming_ = false;
  bool writing_ = false;
  bool hung_up_ = false;
};

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
