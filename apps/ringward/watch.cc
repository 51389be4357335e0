#include "ringward/watch.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/interrupt.h"
#include "base/terminal.h"
#include "detect/rules.h"
#include "ringward/cli/help.h"
#include "ringward/detect_options.h"
#include "ringward/learned_model.h"
#include "ringward/watch_news.h"
#include "ringward/watch_rules.h"
#include "watch/hosts/agent_link.h"
#include "watch/listeners.h"

namespace ringward::cli {
namespace {

double CpuSeconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

/// As often as the watcher itself looks.
constexpr std::chrono::milliseconds kLookMost{250};

void ShowAgent(const watch::AgentLink& link) {
  const watch::AgentLink::Counts counts = link.counts();
  const std::string line = fmt::format("{} messages taken, {} failed attempts, {} records lost",
                                       counts.taken, counts.failed, counts.dropped);
  ShowTransientLine(line.substr(0, TerminalWidth(STDERR_FILENO) - 1));
}

/// One descriptor a connection: the usual 1024 are few.
void RaiseFileLimit() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 2 * watch::HttpLimits{}.connections);
  setrlimit(RLIMIT_NOFILE, &files);
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
  AddFileOptions(table);
  AddServerOptions(table);
  AddHostOptions(table);
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

void WatchCommand::AddFileOptions(OptionTable& table) {
  AddJobFileOptions(table, files_);
  table.Add("idle", &idle_, {.min = std::chrono::seconds(1), .max = std::chrono::hours(24)},
            "with --once: that job has ended when its files have not grown for so long");
}

void WatchCommand::AddHostOptions(OptionTable& table) {
  table.Group("Many hosts");
  table.Add("agents", &agents_,
            "with --listen: take what the agents of other hosts send, and judge all as one");
  table.Add("agent-of", &agent_of_, {.what = "https://HOST:PORT", .allow_empty = true},
            "be an agent: send what is seen here to the watcher there, which judges");
  table
      .Add("agent-ca", &agent_ca_, {.what = "a file", .allow_empty = true},
           "PEM certificate that the one of --agent-of must come from; empty: as the system trusts")
      .Complete(Completion::kFile);
  table.Add("host-name", &host_name_, {.what = "a name", .allow_empty = true},
            "what this host is called; empty: as it calls itself");
  table
      .Add("segments", &segments_, {.what = "a folder", .allow_empty = true},
           "where the ranks record; empty: /dev/shm")
      .Complete(Completion::kFile);
}

Status WatchCommand::CheckHosts() const {
  const auto bad = [](const std::string& what) { return Error(Code::kInvalidInput, what); };
  if (agents_ && exposure_.listen.empty()) return bad("--agents: means nothing without --listen");
  if (!agent_ca_.empty() && agent_of_.empty())
    return bad("--agent-ca: means nothing without --agent-of");
  if (agent_of_.empty()) return watch::CheckExposure(exposure_);
  for (const auto& [name, given] :
       {std::pair("--listen", !exposure_.listen.empty()), std::pair("--record", !record_.empty()),
        std::pair("--timeline", !files_.timeline.empty()), std::pair("--log", !files_.logs.empty()),
        std::pair("--tls-cert", !exposure_.tls_cert.empty()),
        std::pair("--tls-key", !exposure_.tls_key.empty()), std::pair("--agents", agents_),
        std::pair("--alertmanager", !alerts_.alertmanager.empty()),
        std::pair("--webhook", !alerts_.webhook.empty()),
        std::pair("--slack", !alerts_.slack.empty()),
        std::pair("--alert-command", !alerts_.command.empty()),
        std::pair("--alert-log", !alerts_.log.empty()),
        std::pair("--heartbeat", !alerts_.heartbeat.empty())}) {
    if (given) return bad(std::string(name) + ": is the aggregator's, not an agent's");
  }
  return Ok();
}

std::unique_ptr<watch::AgentHub> WatchCommand::MakeHub(const Clock& clock) const {
  if (!agents_) return nullptr;
  // Sooner than a rank is called silent: else that would be said of ranks that nobody hears.
  constexpr std::chrono::duration<double> kUsual{3.0};
  const auto silent =
      std::min(kUsual, 0.75 * std::chrono::duration<double>(detect_.silence_seconds));
  constexpr std::chrono::duration<double> kLeast{1.0};
  return std::make_unique<watch::AgentHub>(
      watch::AgentHubOptions{
          .silent_after = std::chrono::duration_cast<Clock::Duration>(std::max(silent, kLeast))},
      clock);
}

/// Null where no files are given. The job is called as asked, or after its first file.
std::unique_ptr<watch::TailSource> WatchCommand::MakeTails(watch::Source& base,
                                                           const Clock& clock) const {
  if (!files_.any()) return nullptr;
  return std::make_unique<watch::TailSource>(
      watch::TailOptions{.job = job_.empty() ? files_.Name() : job_,
                         .timeline = files_.timeline,
                         .logs = files_.logs,
                         .world = static_cast<std::size_t>(files_.world),
                         .idle = once_ ? Clock::Duration(idle_) : Clock::Duration{}},
      base, !job_.empty(), clock);
}

Result<std::unique_ptr<watch::WatchServer>> WatchCommand::Serve(const Clock& clock,
                                                                watch::AgentHub* hub,
                                                                watch::RulesDesk& rules) const {
  if (exposure_.listen.empty()) return std::unique_ptr<watch::WatchServer>();
  RaiseFileLimit();
  return watch::WatchServer::Start({.exposure = exposure_,
                                    .assets = watch::WebAssets(),
                                    .hub = hub,
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

/// The agent of this host: it looks and sends, and judges nothing.
Result<int> WatchCommand::RunAgent(Context& context, watch::LocalSource& source,
                                   const Clock& clock) const {
  std::string token;
  if (!exposure_.token_file.empty()) {
    RINGWARD_ASSIGN(token, watch::ReadToken(exposure_.token_file));
  }
  RINGWARD_ASSIGN(auto post,
                  watch::MakeHttpPost({.url = agent_of_, .token = token, .ca_file = agent_ca_}));
  const InterruptScope interrupts;
  watch::AgentLink link({.host = source.host(), .software = VersionText()}, std::move(post), clock);
  bool any = false;
  while (!InterruptRequested()) {
    std::vector<watch::RankSight> sights = source.Look();
    const bool none = sights.empty();
    any = any || !none;
    link.Offer(std::move(sights));
    const bool waits = !job_.empty() || !launched_by_.empty();
    if (once_ && none && (any || !waits)) break;
    if (!context.common.quiet && IsTerminal(STDERR_FILENO)) ShowAgent(link);
    source.Wait(clock.Now() + std::min<Clock::Duration>(interval_ / 4, kLookMost));
  }
  ClearTransientLine();
  return InterruptRequested() ? kExitInterrupted : kExitFine;
}

Result<int> WatchCommand::Run(Context& context) {
  const Clock& clock = SystemClock();
  if (alerts_.test) return TestAlerts(alerts_, clock, context.common.json, context.out);
  RINGWARD_TRY(CheckHosts());
  watch::LocalSource local({.job = job_,
                            .launched_by = launched_by_,
                            .folder = segments_.empty() ? telemetry::kSegmentFolder : segments_,
                            .host = host_name_},
                           clock);
  if (!agent_of_.empty()) return RunAgent(context, local, clock);
  RINGWARD_ASSIGN(const std::unique_ptr<watch::AlertListener> alerts,
                  MakeAlertListener(alerts_, clock));
  RINGWARD_TRY(AddLearnedModel(model_, detect_));
  RINGWARD_ASSIGN(WatchRules rules, WatchRules::Open(rules_, detect_));
  const std::unique_ptr<watch::AgentHub> hub = MakeHub(clock);
  RINGWARD_ASSIGN(const std::unique_ptr<watch::WatchServer> server,
                  Serve(clock, hub.get(), rules.desk()));
  RINGWARD_ASSIGN(watch::WatcherOptions options, WatcherOptionsOf(rules.first()));
  const InterruptScope interrupts;
  std::optional<watch::HostsSource> all;
  if (hub) all.emplace(local, *hub);
  watch::Source& ranks = hub ? static_cast<watch::Source&>(*all) : local;
  const std::unique_ptr<watch::TailSource> tails = MakeTails(ranks, clock);
  watch::Source& source = tails ? static_cast<watch::Source&>(*tails) : ranks;
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
  const bool waits = !job_.empty() || !launched_by_.empty() || files_.any();
  while (!InterruptRequested() && !context.out.failed()) {
    rules.Apply(watcher);
    watcher.Look();
    const bool all_ended = watcher.jobs() == 0 && (watcher.any_job() || !waits);
    if (once_ && (all_ended || (tails && watcher.jobs() == 0 && tails->ended()))) break;
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
