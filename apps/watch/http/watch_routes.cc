#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "watch/http/api_json.h"
#include "watch/http/metrics.h"
#include "watch/http/watch_server.h"

namespace ringward::watch {
namespace {

constexpr std::size_t kHeatColumnsUsual = 120;
constexpr std::size_t kHeatColumnsMost = 512;
constexpr const char* kPlainText = "text/plain; charset=utf-8";

HttpResponse JsonPage(const cli::Json& document) {
  return {.body = cli::DumpJsonLine(document) + "\n"};
}

/// A page about the job that the path names, of the newest snapshot.
template <typename Page>
Router::Handler JobHandler(const Published& published, const Page& page) {
  return [&published, page](const HttpRequest& request) {
    const auto snapshot = published.Get();
    const JobSnapshot* const job = snapshot->Find(request.parts.at(0));
    return job == nullptr ? HttpError(404, "no such job") : page(*job, request);
  };
}

HttpResponse HeatPage(const JobSnapshot& job, const HttpRequest& request) {
  std::optional<RankMetric> metric = RankMetric::kSelf;
  if (const auto asked = request.query.find("metric"); asked != request.query.end()) {
    metric.reset();
    for (std::size_t m = 0; m < kRankMetrics; ++m) {
      if (asked->second == InfoOf(static_cast<RankMetric>(m)).name)
        metric = static_cast<RankMetric>(m);
    }
  }
  std::size_t columns = kHeatColumnsUsual;
  bool in_range = true;
  if (const auto asked = request.query.find("steps"); asked != request.query.end()) {
    const char* const end = asked->second.data() + asked->second.size();
    const auto read = std::from_chars(asked->second.data(), end, columns);
    in_range =
        read.ec == std::errc() && read.ptr == end && columns >= 1 && columns <= kHeatColumnsMost;
  }
  if (!metric) {
    return HttpError(400,
                     "metric: expected self, data, wait, local_loss, memory, or one of a GPU "
                     "(gpu_busy, …: docs/api.md)");
  }
  if (!in_range) return HttpError(400, "steps: expected a whole number from 1 to 512");
  return {.body = HeatText(job, *metric, columns)};
}

HttpResponse AgentPage(AgentHub& hub, const HttpRequest& request) {
  AgentReply reply = hub.Take(request.body);
  if (reply.status != 200) return HttpError(reply.status, reply.body);
  return {.content_type = kAgentContentType, .body = std::move(reply.body)};
}

HttpResponse AssetPage(std::span<const Asset> assets, const HttpRequest& request) {
  const std::string path = request.path == "/" ? "/index.html" : request.path;
  const auto asset = std::find_if(assets.begin(), assets.end(),
                                  [&](const Asset& each) { return each.path == path; });
  if (asset != assets.end()) {
    return {.content_type = std::string(asset->content_type), .body = std::string(asset->body)};
  }
  if (request.path != "/") return HttpError(404, "no such page");
  return {.content_type = kPlainText,
          .body =
              "ringward watch: this build has no page. There are /metrics, /api/v1/jobs and "
              "/api/v1/stream.\n"};
}

void AddRules(Router& routes, RulesDesk& rules) {
  constexpr const char* kToml = "application/toml";
  routes.Add("/api/v1/rules", [&rules](const HttpRequest&) {
    return HttpResponse{.content_type = kToml, .body = rules.Text()};
  });
  constexpr std::size_t kFileMost = 32 * 1024;
  routes.AddPost(
      "/api/v1/rules",
      [&rules](const HttpRequest& request) {
        auto text = rules.Post(request.body);
        if (!text) return HttpError(400, text.error().what());
        return HttpResponse{.status = 202, .content_type = kToml, .body = *std::move(text)};
      },
      kToml, kFileMost, Router::Access::kSecret);
}

}  // namespace

Router WatchRoutes(const Published& published, const HttpCounter& counter,
                   std::span<const Asset> assets, AgentHub* hub, RulesDesk* rules) {
  Router routes;
  routes.Add("/api/v1/agents",
             [&](const HttpRequest&) { return JsonPage(AgentsJson(*published.Get())); });
  if (hub != nullptr) {
    routes.AddPost(
        kAgentPath, [hub](const HttpRequest& request) { return AgentPage(*hub, request); },
        kAgentContentType, kAgentBodyMost);
  }
  routes.Add("/metrics", [&](const HttpRequest&) {
    const auto snapshot = published.Get();
    return HttpResponse{.content_type = "text/plain; version=0.0.4; charset=utf-8",
                        .body = MetricsPage({*snapshot, counter.Get()})};
  });
  routes.Add("/api/v1/jobs",
             [&](const HttpRequest&) { return JsonPage(JobsJson(*published.Get())); });
  routes.Add("/api/v1/jobs/{job}",
             JobHandler(published, [](const JobSnapshot& job, const HttpRequest&) {
               return JsonPage(JobJson(job));
             }));
  routes.Add("/api/v1/jobs/{job}/incidents",
             JobHandler(published, [](const JobSnapshot& job, const HttpRequest&) {
               return JsonPage(IncidentsOfJson(job));
             }));
  routes.Add("/api/v1/jobs/{job}/heat", JobHandler(published, HeatPage));
  routes.Add("/api/v1/stream", [](const HttpRequest&) {
    return HttpResponse{.content_type = "text/event-stream", .stream = true};
  });
  routes.Add(
      "/healthz",
      [](const HttpRequest&) { return HttpResponse{.content_type = kPlainText, .body = "ok\n"}; },
      Router::Access::kOpen);
  if (rules != nullptr) AddRules(routes, *rules);
  routes.SetFallback([assets](const HttpRequest& request) { return AssetPage(assets, request); });
  return routes;
}

}  // namespace ringward::watch
