#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ringward::watch {

/// What a handler is asked.
struct HttpRequest {
  bool post = false;                         ///< POST; else GET or HEAD
  std::string path;                          ///< as sent, without the query
  std::map<std::string, std::string> query;  ///< decoded; of a name given twice the last
  std::vector<std::string> parts;  ///< decoded, one for each {…} of the pattern, in order
  std::string body{};              ///< of a POST
};

struct HttpResponse {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::string body;
  /// The answer is the server's stream of events; `body` is left out.
  bool stream = false;
};

/// {"error": …}, as every refusal answers.
HttpResponse HttpError(unsigned status, std::string_view what);

/// Splits "/a/b?c=d". kInvalidInput where an escape is broken or it does not begin with '/'.
Result<HttpRequest> ParseTarget(std::string_view target);

/// Which function answers which path. Handlers are called on the server's thread. Immutable once
/// the server runs.
class Router {
 public:
  using Handler = std::function<HttpResponse(const HttpRequest&)>;
  enum class Access {
    kToken,   ///< whoever holds the token, where there is one
    kSecret,  ///< whoever holds the token; where there is none, nobody
    kOpen,    ///< anybody: tells nothing of any job
  };
  struct Route {
    std::vector<std::string> pattern;  ///< parts of the path; "{…}" stands for any one
    Handler handler;
    Access access;
    std::size_t body_most = 0;        ///< bytes; not 0: the route takes POST, and nothing else
    std::string_view content_type{};  ///< of such a body
  };

  /// `pattern` like "/api/v1/jobs/{job}/heat".
  void Add(std::string_view pattern, Handler handler, Access access = Access::kToken);
  /// Takes bodies of that type, of so many bytes at most, from whoever holds the token.
  /// `content_type` outlives the router. A browser asks before it sends a type of its own, so that
  /// no page of another site can.
  void AddPost(std::string_view pattern, Handler handler, std::string_view content_type,
               std::size_t body_most, Access access = Access::kToken);
  /// Answers what no pattern fits, for anybody.
  void SetFallback(Handler handler) { fallback_ = {{}, std::move(handler), Access::kOpen}; }

  /// The route of a path, of several the one for request.post; fills request.parts. Where none fits
  /// the fallback, without one a 404.
  const Route& Find(HttpRequest& request) const;
  /// Of all routes.
  std::size_t body_most() const;

 private:
  std::vector<Route> routes_;
  Route fallback_{
      {}, [](const HttpRequest&) { return HttpError(404, "no such page"); }, Access::kOpen};
};

}  // namespace ringward::watch
