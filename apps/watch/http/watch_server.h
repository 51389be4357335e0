#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "ringward/cli/json.h"
#include "watch/hosts/agent_hub.h"
#include "watch/http/assets.h"
#include "watch/http/http_server.h"
#include "watch/http/job_view.h"
#include "watch/http/rules_desk.h"
#include "watch/http/snapshot.h"
#include "watch/watcher.h"

namespace ringward::watch {

/// Shows over HTTP what a watcher sees (docs/api.md). Its thread reads snapshots, and never the
/// watcher's own state. As a listener it is used on the watcher's thread alone.
class WatchServer final : public Listener {
 public:
  struct Options {
    HttpExposure exposure;
    HttpLimits limits{};
    std::span<const Asset> assets{};  ///< outlive the server
    AgentHub* hub = nullptr;          ///< takes what agents send; outlives the server
    /// Seconds of processor time that this process has used.
    double (*cpu_seconds)() = nullptr;
    RulesDesk* rules = nullptr;  ///< outlives the server; null: rules cannot be seen or changed
  };

  /// Serves from now on. `clock` outlives it. Errors: as HttpServer::Start.
  static Result<std::unique_ptr<WatchServer>> Start(const Options& options, const Clock& clock);

  const std::string& url() const { return server_->url(); }

  void OnLook(const JobLook& look) override;
  void OnJob(const JobEvents& job) override;
  void OnIncident(const JobEvents& job, const Told& told) override;
  void OnEnd(const JobWatch& job) override;
  void OnSelf(const SelfNews& news) override;
  void OnLooked(const Watcher& watcher, bool judged) override;

 private:
  WatchServer(const Options& options, const Clock& clock) : options_(options), clock_(clock) {}
  void Tell(const std::string& type, const cli::Json& document);
  void Publish(const Watcher& watcher);

  Options options_;
  const Clock& clock_;
  Published published_;
  HttpCounter counter_;
  std::map<const JobEvents*, JobView> views_;
  std::deque<std::shared_ptr<const JobSnapshot>> ended_;  ///< newest first
  std::map<std::string, std::uint64_t> found_;            ///< incidents by cause
  std::uint64_t clock_steps_ = 0;
  std::uint64_t rules_changes_ = 0;
  Clock::Duration judged_{};
  std::uint64_t looks_ = 0;
  std::uint64_t judgements_ = 0;
  Clock::Duration next_status_{};
  std::unique_ptr<HttpServer> server_;  ///< last: its thread reads what stands above
};

/// The pages: all outlive the router. Without a hub no agent may come, without a desk rules can
/// neither be seen nor changed.
Router WatchRoutes(const Published& published, const HttpCounter& counter,
                   std::span<const Asset> assets, AgentHub* hub = nullptr,
                   RulesDesk* rules = nullptr);

}  // namespace ringward::watch
