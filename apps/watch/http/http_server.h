#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "base/result.h"
#include "watch/http/exposure.h"
#include "watch/http/http_counts.h"
#include "watch/http/router.h"
#include "watch/http/stream_log.h"

namespace ringward::watch {

/// What clients may ask of the server: hundreds of browsers, with six connections each, and of
/// agents.
struct HttpLimits {
  std::size_t connections = 4096;                     ///< beyond them 503
  std::size_t header_bytes = 16 * 1024;               ///< request line and headers; beyond them 431
  std::size_t bodies_bytes = std::size_t{64} << 20U;  ///< of all that are sent now; beyond 503
  std::size_t stream_clients = 512;                   ///< beyond them 503
  std::size_t stream_queue = 256;  ///< events that wait for a client; beyond them it is dropped
  std::chrono::milliseconds read{30000};   ///< for a whole request, from the one before it
  std::chrono::milliseconds write{30000};  ///< for a whole answer, or one event
  std::chrono::milliseconds linger{1000};  ///< for a refused client to read why
};

/// An HTTP/1.1 server with a thread of its own: requests through a router, one stream of
/// server-sent events, TLS where there is a certificate. Whatever clients send, it answers or hangs
/// up. Methods may be called from any thread.
class HttpServer {
 public:
  struct Options {
    HttpExposure exposure;  ///< as CheckExposure() finds it well
    HttpLimits limits;
    HttpCounter* counter = nullptr;  ///< not null, outlives the server
    std::string run;  ///< names this run of the server in the stream: letters and digits
  };

  /// Listens and serves. Errors: kInvalidInput (address, token or certificate), kResource (the port
  /// is taken).
  static Result<std::unique_ptr<HttpServer>> Start(Options options, Router router);
  /// Sends what waits in the stream, for half a second at most, and ends the thread.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// "http://127.0.0.1:9188/", with the port that was bound.
  const std::string& url() const;
  /// To all clients of the stream; never waits for one.
  void Publish(StreamEvent event);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringward::watch
