#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "watch/alerts/alert.h"

namespace ringward::watch {

/// Alerts that nobody is told of: "cause=slow-rank,job=nightly-*". All parts must fit; a '*' at the
/// end stands for anything.
class Silence {
 public:
  /// Errors: kInvalidInput (no part, an unknown key, no value).
  static Result<Silence> Parse(const std::string& text);
  bool Matches(const Alert& alert) const;

 private:
  struct Part {
    std::string key;  ///< job, cause, category, severity or rank
    std::string value;
  };
  std::vector<Part> parts_;
};

}  // namespace ringward::watch
