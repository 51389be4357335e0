#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "watch/alerts/alert_policy.h"
#include "watch/alerts/alert_sender.h"
#include "watch/watcher.h"

namespace ringward::watch {

/// Tells people what the watcher finds: its incidents through the policy to the receivers. Used on
/// the watcher's thread alone.
class AlertListener final : public Listener {
 public:
  /// `clock` outlives it.
  AlertListener(AlertOptions options, std::vector<std::unique_ptr<Receiver>> receivers,
                const Clock& clock);
  /// Delivers what waits, for five seconds at most.
  ~AlertListener() override;

  void OnLook(const JobLook& /*look*/) override {}
  void OnJob(const JobEvents& /*job*/) override {}
  void OnIncident(const JobEvents& job, const Told& told) override;
  void OnEnd(const JobWatch& /*job*/) override {}
  void OnLooked(const Watcher& watcher, bool judged) override;

 private:
  const Clock& clock_;
  AlertPolicy policy_;
  AlertSender sender_;
};

/// A notice of an incident that never was, for trying receivers out. `now` since the Unix epoch.
Notice TestNotice(Clock::Duration now);

}  // namespace ringward::watch
