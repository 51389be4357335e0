#include "ringward/watch.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/interrupt.h"
#include "base/terminal.h"
#include "detect/rules.h"
#include "ringward/detect_options.h"
#include "ringward/learned_model.h"
#include "ringward/watch_news.h"
#include "ringward/watch_rules.h"
#include "watch/listeners.h"
#include "watch/local_source.h"

namespace ringward::cli {
namespace {

double CpuSeconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// Where the jobs are, on a terminal.
void ShowStatus(const watch::Watcher& watcher) {
  std::string line = watcher.jobs() == 0 ? "no job to watch" : "";
  for (const auto& job : watcher.watches()) {
    const watch::JobEvents& events = job->events();
    line += fmt::format("{}{}: {} ranks, step {}, {:.3g} ms a step, {} open incidents",
                        line.empty() ? "" : "; ", events.run().name, events.living(), events.step(),
                        1e3 * events.step_seconds(), job->open_incidents());
  }
  ShowTransientLine(line.substr(0, TerminalWidth(STDERR_FILENO) - 1));
}

}  // namespace

SubcommandInfo WatchCommand::Info() const {
  return {.path = "watch",
          .group = "Watching",
          .summary = "look on while jobs train, and say who is slow, hung or diverging",
          .details =
              "Finds the jobs of this user on this machine that record (`ringward train` does, and "
              "every program\n"
              "that uses ringward_guest), and tells each incident once: when it is found, when it "
              "changes, when it is\n"
              "over. With --json each line on standard output is a JSON document. With --listen it "
              "is all there over HTTP.",
          .example =
              "ringward watch\nringward watch --job my-job --once --record run.rwrec\n"
              "ringward watch --listen 127.0.0.1:9188",
          .exit_codes = {{kExitFound, "with --once: an incident was found"}}};
}

void WatchCommand::AddOptions(OptionTable& table) {
  table.Add("job", &job_, {.what = "a job's name", .allow_empty = true},
            "watch this job only, and wait for it to begin");
  table.Add("launched-by", &launched_by_, {.what = "a launch's id", .allow_empty = true},
            "watch only what `ringward run` or `train` started under this id (RINGWARD_JOB_ID)");
  table.Add("interval", &interval_,
            {.min = std::chrono::milliseconds(100), .max = std::chrono::minutes(1)},
            "time between judgements");
  table.Add("once", &once_, "stop when the jobs that run now, or the one of --job, have ended");
  table
      .Add("record", &record_, {.what = "a file", .allow_empty = true},
           "a new file that the first job is recorded in, for `ringward replay`")
      .Complete(Completion::kFile);
  detect::AddRuleOptions(table, detect_);
  AddRulesFileOption(table, rules_);
  AddLearnedModelOption(table, model_);
  AddServerOptions(table);
  AddWatchAlertOptions(table, alerts_);
}

void WatchCommand::AddServerOptions(OptionTable& table) {
  table.Group("Over HTTP");
  table.Add("listen", &exposure_.listen, {.what = "ADDRESS:PORT", .allow_empty = true},
            "serve metrics for Prometheus, an API and a page there; port 0 takes a free one");
  table
      .Add("token-file", &exposure_.token_file, {.what = "a file", .allow_empty = true},
           "answer only those who send the token in it (Authorization: Bearer ...)")
      .Complete(Completion::kFile);
  table
      .Add("tls-cert", &exposure_.tls_cert, {.what = "a file", .allow_empty = true},
           "PEM certificate, with those that lead to its root: serve over TLS")
      .Complete(Completion::kFile);
  table
      .Add("tls-key", &exposure_.tls_key, {.what = "a file", .allow_empty = true},
           "PEM private key of --tls-cert")
      .Complete(Completion::kFile);
}

Result<std::unique_ptr<watch::WatchServer>> WatchCommand::Serve(const Clock& clock,
                                                                watch::RulesDesk& rules) const {
  RINGWARD_TRY(watch::CheckExposure(exposure_));
  if (exposure_.listen.empty()) return std::unique_ptr<watch::WatchServer>();
  return watch::WatchServer::Start({.exposure = exposure_,
                                    .assets = watch::WebAssets(),
                                    .cpu_seconds = CpuSeconds,
                                    .rules = &rules},
                                   clock);
}

Result<watch::WatcherOptions> WatchCommand::WatcherOptionsOf(
    const detect::DetectOptions& rules) const {
  watch::WatcherOptions options{.detect = rules, .interval = interval_};
  if (record_.empty()) return options;
  std::error_code error;
  if (std::filesystem::exists(record_, error)) {
    return Error(Code::kInvalidInput,
                 "--record " + record_ + ": exists, and a recording holds one run");
  }
  RINGWARD_ASSIGN(options.record, recording::Writer::Open(record_));
  return options;
}

Result<int> WatchCommand::Run(Context& context) {
  const Clock& clock = SystemClock();
  if (alerts_.test) return TestAlerts(alerts_, clock, context.common.json, context.out);
  RINGWARD_ASSIGN(const std::unique_ptr<watch::AlertListener> alerts,
                  MakeAlertListener(alerts_, clock));
  RINGWARD_TRY(AddLearnedModel(model_, detect_));
  RINGWARD_ASSIGN(WatchRules rules, WatchRules::Open(rules_, detect_));
  RINGWARD_ASSIGN(const std::unique_ptr<watch::WatchServer> server, Serve(clock, rules.desk()));
  RINGWARD_ASSIGN(watch::WatcherOptions options, WatcherOptionsOf(rules.first()));
  const InterruptScope interrupts;
  watch::LocalSource source({.job = job_, .launched_by = launched_by_}, clock);
  WatchNews news(context.out, clock, context.common.json);
  watch::Listeners listeners;
  listeners.Add(news);
  if (server) {
    news.OnListening(server->url());
    listeners.Add(*server);
  }
  if (alerts) listeners.Add(*alerts);
  watch::Watcher watcher(std::move(options), source, clock, listeners);
  const bool show = !context.common.quiet && IsTerminal(STDERR_FILENO);
  const bool waits = !job_.empty() || !launched_by_.empty();
  while (!InterruptRequested() && !context.out.failed()) {
    rules.Apply(watcher);
    watcher.Look();
    const bool all_ended = watcher.jobs() == 0 && (watcher.any_job() || !waits);
    if (once_ && all_ended) break;
    if (show) ShowStatus(watcher);
    source.Wait(watcher.next_look());
  }
  // What happened since the last look still counts.
  if (InterruptRequested()) watcher.Look();
  watcher.Finish();
  ClearTransientLine();
  if (InterruptRequested()) return kExitInterrupted;
  return watcher.found_any() ? kExitFound : kExitFine;
}

}  // namespace ringward::cli
