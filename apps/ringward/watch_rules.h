#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/reload.h"
#include "base/result.h"
#include "detect/detector.h"
#include "watch/http/rules_desk.h"
#include "watch/watcher.h"

namespace ringward::cli {

/// The rules of a running `ringward watch`: from its file, again at each SIGHUP, and over HTTP. A
/// wrong file is named in the log, and the rules stay. One thread but for desk().
class WatchRules {
 public:
  /// Reads the file; without one (empty) SIGHUP keeps its meaning. `given` are those of the command
  /// line. Errors as ReadRules().
  static Result<WatchRules> Open(std::string file, const detect::DetectOptions& given);

  const detect::DetectOptions& first() const { return first_; }
  watch::RulesDesk& desk() { return *desk_; }
  /// Gives the watcher what has changed since the last call.
  void Apply(watch::Watcher& watcher);

 private:
  WatchRules(std::string file, detect::DetectOptions given, detect::DetectOptions first);
  void Change(watch::Watcher& watcher, const detect::DetectOptions& rules, const std::string& from);

  std::string file_;
  detect::DetectOptions given_;
  detect::DetectOptions first_;
  std::unique_ptr<watch::RulesDesk> desk_;
  std::unique_ptr<ReloadScope> reload_;
};

}  // namespace ringward::cli
