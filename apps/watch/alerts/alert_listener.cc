#include "watch/alerts/alert_listener.h"

#include <chrono>
#include <utility>

namespace ringward::watch {

AlertListener::AlertListener(AlertOptions options, std::vector<std::unique_ptr<Receiver>> receivers,
                             const Clock& clock)
    : clock_(clock), policy_(std::move(options)), sender_(std::move(receivers), clock) {}

AlertListener::~AlertListener() {
  for (const Notice& notice : policy_.Last()) sender_.Post(notice);
  sender_.Stop(std::chrono::seconds(5));
}

void AlertListener::OnIncident(const JobEvents& job, const Told& told) {
  const Clock::Duration now = clock_.WallNow();
  policy_.Take({.job = job.run().name,
                .cause = told.cause,
                .starts = told.cause.started,
                .ends = told.cause.over ? now : Clock::Duration{},
                .over = told.cause.over},
               clock_.Now());
}

void AlertListener::OnLooked(const Watcher& /*watcher*/, bool /*judged*/) {
  for (const Notice& notice : policy_.Due(clock_.Now())) sender_.Post(notice);
}

Notice TestNotice(Clock::Duration now) {
  Alert alert{.job = "test", .starts = now};
  alert.cause.cause = "test-alert";
  alert.cause.summary = "this is a test of ringward watch; nothing is wrong";
  alert.cause.confidence = 1.0;
  alert.cause.started = alert.cause.found = now;
  alert.cause.remedy = "nothing";
  return {.alerts = {std::move(alert)}};
}

}  // namespace ringward::watch
