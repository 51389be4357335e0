#include "watch/http/rules_desk.h"

#include <utility>

#include "detect/rules.h"

namespace ringward::watch {

RulesDesk::RulesDesk(detect::DetectOptions given)
    : given_(std::move(given)), text_(detect::RulesText(given_)) {}

Result<std::string> RulesDesk::Post(const std::string& text) {
  RINGWARD_ASSIGN(detect::DetectOptions rules, detect::ParseRules(text, "rules", given_));
  std::string whole = detect::RulesText(rules);
  const std::lock_guard lock(mutex_);
  posted_ = std::move(rules);
  return whole;
}

std::optional<detect::DetectOptions> RulesDesk::Take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(posted_, std::nullopt);
}

void RulesDesk::Show(const detect::DetectOptions& in_force) {
  std::string text = detect::RulesText(in_force);
  const std::lock_guard lock(mutex_);
  text_ = std::move(text);
}

std::string RulesDesk::Text() const {
  const std::lock_guard lock(mutex_);
  return text_;
}

}  // namespace ringward::watch
