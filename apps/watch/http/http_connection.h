// The connections of the HTTP server. Included by http_server.cc alone, which is the one source
// with Beast and Asio in it.
#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "watch/http/http_server.h"

namespace ringward::watch::server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

constexpr std::size_t kBodyMost = 1024;  // nobody has a reason to send one
constexpr std::size_t kLingerBytesMost = 1 << 20;
// What the kernel may hold for a client of the stream: beyond it the client counts as slow.
constexpr int kStreamSendBytes = 64 * 1024;

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
  std::size_t bodies_bytes = 0;
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
inline std::optional<HttpResponse> RefusalOf(const Shared& shared, const Request& request) {
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

inline bool HasToken(const Shared& shared, const Request& request) {
  if (shared.token.empty()) return true;
  constexpr std::string_view kScheme = "Bearer ";
  const auto field = request[http::field::authorization];
  const std::string_view value(field.data(), field.size());
  if (value.size() < kScheme.size() ||
      !beast::iequals(field.substr(0, kScheme.size()), beast::string_view("Bearer ")))
    return false;
  return IsSameSecret(value.substr(kScheme.size()), shared.token);
}

/// A request by its headers: who answers it, or why nobody does.
struct Admitted {
  const Router::Route* route = nullptr;  ///< null: `refusal` is the answer
  HttpRequest asked{};
  HttpResponse refusal{};
  const char* allow = "GET, HEAD";
};

inline Admitted Admit(const Shared& shared, const Request& request) {
  const bool get = request.method() == http::verb::get || request.method() == http::verb::head;
  const bool post = request.method() == http::verb::post;
  if (!get && !post) return {.refusal = HttpError(405, "only GET and HEAD")};
  if (auto refusal = RefusalOf(shared, request)) return {.refusal = *std::move(refusal)};
  auto asked = ParseTarget(std::string_view(request.target().data(), request.target().size()));
  if (!asked) return {.refusal = HttpError(400, asked.error().what())};
  asked->post = post;
  const Router::Route& route = shared.router.Find(*asked);
  if (post && route.body_most == 0) return {.refusal = HttpError(405, "only GET and HEAD")};
  if (route.access != Router::Access::kOpen && !HasToken(shared, request))
    return {.refusal = HttpError(401, "a bearer token is needed")};
  // Any user of this machine could send it.
  if (route.access == Router::Access::kSecret && shared.token.empty())
    return {.refusal = HttpError(403, "nothing can be changed over HTTP without --token-file")};
  if (!post && route.body_most != 0)
    return {.refusal = HttpError(405, "only POST"), .allow = "POST"};
  if (post && request[http::field::content_type] !=
                  beast::string_view(route.content_type.data(), route.content_type.size()))
    return {.refusal = HttpError(415, "a body of another type is expected here")};
  return {.route = &route, .asked = *std::move(asked)};
}

/// The status for a request that is no HTTP, or too much of it; nothing where there is nobody to
/// answer.
inline std::optional<unsigned> StatusOf(const ErrorCode& error) {
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
    ForgetBody();
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
    Drop();
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

  /// A client of the stream that is too slow.
  void Drop() {
    shared_.counter->Count([](HttpCounts& counts) { ++counts.stream_dropped; });
    HangUp();
  }

  void Read() {
    if (shared_.ending) return;
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(shared_.limits.header_bytes));
    // Which bodies are welcome is known after the headers.
    parser_->body_limit(std::max(kBodyMost, shared_.router.body_most()));
    Limit(shared_.limits.read);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = Self()](const ErrorCode& error, std::size_t) { self->OnHeader(error); });
  }

  void OnHeader(const ErrorCode& error) {
    if (error) return OnBroken(error);
    admitted_ = Admit(shared_, parser_->get());
    const Router::Route* const route = admitted_.route;
    if (route == nullptr) {
      // Why it is refused comes before what its body is.
    } else if (route->body_most != 0) {
      if (auto refusal = ExpectBody(*route)) {
        admitted_.route = nullptr;
        admitted_.refusal = *std::move(refusal);
      }
    } else if (parser_->content_length().value_or(0) > kBodyMost) {
      return Answer(HttpError(413, "body limit exceeded"), 11, false, false);
    } else {
      parser_->body_limit(kBodyMost);
    }
    const bool unread = admitted_.route == nullptr && !parser_->is_done();
    if (unread) return Answer(std::move(admitted_.refusal), 11, false, false);
    http::async_read(stream_, buffer_, *parser_,
                     [self = Self()](const ErrorCode& failed, std::size_t) {
                       failed ? self->OnBroken(failed) : self->OnRead();
                     });
  }

  /// Sets room for the body aside; the answer where there is none.
  std::optional<HttpResponse> ExpectBody(const Router::Route& route) {
    const auto length = parser_->content_length();
    if (!length) return HttpError(411, "a Content-Length is needed");
    if (*length > route.body_most) return HttpError(413, "a body that is too long");
    if (*length > shared_.limits.bodies_bytes - shared_.bodies_bytes)
      return HttpError(503, "too much is being sent at once");
    body_bytes_ = static_cast<std::size_t>(*length);
    shared_.bodies_bytes += body_bytes_;
    return std::nullopt;
  }
  void ForgetBody() { shared_.bodies_bytes -= std::exchange(body_bytes_, 0); }

  void OnBroken(const ErrorCode& error) {
    const auto status = StatusOf(error);
    if (status) return Answer(HttpError(*status, error.message()), 11, false, false);
    Linger();
  }

  void OnRead() {
    Request& request = parser_->get();
    const bool head = request.method() == http::verb::head;
    HttpResponse answer = std::move(admitted_.refusal);
    if (admitted_.route != nullptr) {
      admitted_.asked.body = std::move(request.body());
      answer = admitted_.route->handler(admitted_.asked);
    }
    ForgetBody();
    if (answer.stream && !head) return BeginStream(request);
    Answer(std::move(answer), request.version(), request.keep_alive(), head);
  }

  void Answer(HttpResponse answer, unsigned version, bool keep_alive, bool head) {
    ForgetBody();
    shared_.CountAnswer(answer.status);
    auto response = std::make_shared<Response>(static_cast<http::status>(answer.status), version);
    response->set(http::field::content_type, answer.content_type);
    response->set(http::field::cache_control, "no-store");
    response->set("X-Content-Type-Options", "nosniff");
    if (answer.content_type.starts_with("text/html"))
      response->set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'");
    if (answer.status == 401) response->set(http::field::www_authenticate, "Bearer");
    if (answer.status == 405) response->set(http::field::allow, admitted_.allow);
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
                              // Closed on this side: whoever did it knows why.
                              if (error == asio::error::operation_aborted) return;
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
                        if (error == beast::error::timeout && !self->hung_up_) return self->Drop();
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
  Admitted admitted_;           ///< the request that is read now
  std::size_t body_bytes_ = 0;  ///< set aside for it
  std::array<char, 4096> scratch_{};
  std::deque<StreamFrame> queue_;  ///< the front one is being written
  bool streaming_ = false;
  bool writing_ = false;
  bool hung_up_ = false;
};

}  // namespace ringward::watch::server
