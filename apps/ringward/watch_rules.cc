#include "ringward/watch_rules.h"

#include "base/log.h"
#include "ringward/detect_options.h"

namespace ringward::cli {

WatchRules::WatchRules(std::string file, detect::DetectOptions given, detect::DetectOptions first)
    : file_(std::move(file)),
      given_(std::move(given)),
      first_(std::move(first)),
      desk_(std::make_unique<watch::RulesDesk>(given_)) {
  desk_->Show(first_);
  if (!file_.empty()) reload_ = std::make_unique<ReloadScope>();
}

Result<WatchRules> WatchRules::Open(std::string file, const detect::DetectOptions& given) {
  RINGWARD_ASSIGN(detect::DetectOptions first, ReadRules(file, given));
  return WatchRules(std::move(file), given, std::move(first));
}

void WatchRules::Change(watch::Watcher& watcher, const detect::DetectOptions& rules,
                        const std::string& from) {
  watcher.SetRules(rules, from);
  desk_->Show(rules);
  LogInfo("rules changed: " + from);
}

void WatchRules::Apply(watch::Watcher& watcher) {
  if (reload_ && ReloadScope::TakeRequest()) {
    const auto rules = ReadRules(file_, given_);
    if (rules) {
      Change(watcher, *rules, file_);
    } else {
      LogWarning("rules stay as they were: " + rules.error().what());
    }
  }
  if (const auto rules = desk_->Take()) Change(watcher, *rules, "over HTTP");
}

}  // namespace ringward::cli
