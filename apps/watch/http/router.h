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
  std::string body{};                        ///< of a POST
  std::string path;                          ///< as sent, without the query
  std::map<std::string, std::string> query;  ///< decoded; of a name given twice the last
  std::vector<std::string> parts;  ///< decoded, one for each {…} of the pattern, in order
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
    kToken,  ///< whoever holds the token, where there is one
    kOpen,   ///< anybody: tells nothing of any job
  };
  struct Route {
    std::vector<std::string> pattern;  ///< parts of the path; "{…}" stands for any one
    Handler handler;
    Access access;
    bool post = false;
  };

  /// `pattern` like "/api/v1/jobs/{job}/heat".
  void Add(std::string_view pattern, Handler handler, Access access = Access::kToken);
  /// Answers POST, for whoever holds the token; where the server has none, for nobody.
  void AddPost(std::string_view pattern, Handler handler);
  /// Answers what no pattern fits, for anybody.
  void SetFallback(Handler handler) { fallback_ = {{}, std::move(handler), Access::kOpen}; }

  /// The route of a path and method; fills request.parts. Without a fallback a 404; of POST where
  /// none takes it a 405.
  const Route& Find(HttpRequest& request) const;

 private:
  std::vector<Route> routes_;
  Route no_post_{{},
                 [](const HttpRequest&) { return HttpError(405, "only GET and HEAD"); },
                 Access::kOpen,
                 true};
  Route fallback_{
      {}, [](const HttpRequest&) { return HttpError(404, "no such page"); }, Access::kOpen};
};

}  // namespace ringward::watch
