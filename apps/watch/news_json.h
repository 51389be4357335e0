#pragma once

#include <string>

#include "base/clock.h"
#include "ringward/cli/json.h"
#include "signal/cause.h"
#include "watch/job_watch.h"
#include "watch/watcher.h"

namespace ringward::watch {

/// "2026-01-05T10:00:00.123Z".
std::string TimeText(Clock::Duration since_epoch);

/// "found", "changed", "over".
const char* NameOf(News news);

/// An incident in the words of every document that shows one (docs/replay.md). `started_at` in
/// whole seconds; null where steps have no timestamps and their times were added up from 0.
cli::Json IncidentJson(const signal::Cause& cause);
/// The same of a live job: with its id, and `started_at` in milliseconds.
cli::Json LiveIncidentJson(const signal::Cause& cause);

/// The documents of `ringward watch --json` and of the stream (docs/watch.md), `at` first.
cli::Json JobNews(Clock::Duration at, const JobEvents& job);
cli::Json IncidentNews(Clock::Duration at, const JobEvents& job, const Told& told);
cli::Json EndNews(Clock::Duration at, const JobWatch& watched);
/// Of the watcher itself; `job` only where it is about one.
cli::Json SelfNewsJson(Clock::Duration at, const SelfNews& news);

}  // namespace ringward::watch
