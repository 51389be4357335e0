#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "detect/detector.h"

namespace ringward::watch {

/// Where rules that come over HTTP wait for the watcher, and where it shows those in force.
/// Thread-safe.
class RulesDesk {
 public:
  /// `given` are the rules of the command line: what a document does not name stays as in them.
  explicit RulesDesk(detect::DetectOptions given);

  /// Takes a file of rules for the watcher; the rules that will be in force, as text. Of several
  /// before it looks the last counts. kInvalidInput naming line and column: nothing changes.
  Result<std::string> Post(const std::string& text);
  /// What was posted since the last call.
  std::optional<detect::DetectOptions> Take();
  void Show(const detect::DetectOptions& in_force);
  /// Those in force, as a file of rules.
  std::string Text() const;

 private:
  const detect::DetectOptions given_;
  mutable std::mutex mutex_;
  std::optional<detect::DetectOptions> posted_;
  std::string text_;
};

}  // namespace ringward::watch
