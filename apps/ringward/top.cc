#include "ringward/top.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "base/terminal.h"
#include "io/byte_source.h"

namespace ringward::cli {
namespace {

constexpr std::size_t kTokenBytesMax = 4096;
constexpr const char* kHome = "\x1b[H";
constexpr const char* kToEndOfLine = "\x1b[K";
constexpr const char* kToEndOfScreen = "\x1b[J";

Result<std::string> ReadToken(const std::string& path) {
  if (path.empty()) return std::string();
  RINGWARD_ASSIGN(const auto source, io::OpenInput(path));
  RINGWARD_ASSIGN(std::string token, io::ReadAll(*source, kTokenBytesMax));
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  return token;
}

/// Over what stands on the screen, line by line, so that nothing flickers.
std::string OverScreen(const std::string& text) {
  std::string screen = kHome;
  for (const char c : text) {
    if (c == '\n') screen += kToEndOfLine;
    screen += c;
  }
  return screen + kToEndOfScreen;
}

/// Whatever answers there, it need not be a watcher.
std::vector<std::string> JobNames(const Json& document) {
  std::vector<std::string> names;
  const auto jobs = document.find("jobs");
  if (jobs == document.end() || !jobs->is_array()) return names;
  for (const Json& job : *jobs) {
    if (job.is_object() && job.contains("job") && job["job"].is_string())
      names.push_back(job["job"].get<std::string>());
  }
  return names;
}

bool AnyIncident(const Json& jobs) {
  return std::any_of(jobs.begin(), jobs.end(), [](const Json& job) {
    return job.contains("incidents") && job["incidents"].is_array() && !job["incidents"].empty();
  });
}

}  // namespace

SubcommandInfo TopCommand::Info() const {
  return {.path = "top",
          .group = "Watching",
          .summary = "show the jobs, ranks and incidents of a watcher in the terminal",
          .details =
              "Reads from `ringward watch --listen`. On a terminal it is shown anew every second, "
              "until Ctrl-C; elsewhere, or with\n--once, it is printed once.",
          .example = "ringward top\nringward top http://127.0.0.1:9188 --sort wait --ranks 8",
          .exit_codes = {{kExitFound, "with --once: an incident is open"}}};
}

void TopCommand::AddOptions(OptionTable& table) {
  table.AddPositional("url", &url_, {.what = "an address"}, "where the watcher listens")
      .Metavar("URL");
  table.Add("job", &job_, {.what = "a job's name", .allow_empty = true}, "this job only");
  table.AddChoice("sort", &view_.order,
                  {{"self", TopOrder::kSelf},
                   {"wait", TopOrder::kWait},
                   {"loss", TopOrder::kLoss},
                   {"memory", TopOrder::kMemory},
                   {"rank", TopOrder::kRank}},
                  "which ranks come first: the highest of these");
  table.Add("ranks", &view_.ranks, {.min = 0, .max = 100'000}, "lines of ranks for each job");
  table.Add("interval", &interval_,
            {.min = std::chrono::milliseconds(200), .max = std::chrono::hours(1)},
            "time between looks");
  table.Add("once", &once_, "print once");
  table
      .Add("token-file", &token_file_, {.what = "a file", .allow_empty = true},
           "the token that the watcher asks for")
      .Complete(Completion::kFile);
}

Result<Json> TopCommand::Look(WatchClient& client) const {
  std::vector<std::string> names = {job_};
  if (job_.empty()) {
    RINGWARD_ASSIGN(const Json all, client.Get("/api/v1/jobs"));
    names = JobNames(all);
  }
  Json jobs = Json::array();
  for (const std::string& name : names) {
    RINGWARD_ASSIGN(Json job, client.Get("/api/v1/jobs/" + PercentEncoded(name)));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

Result<int> TopCommand::Run(Context& context) {
  RINGWARD_ASSIGN(const std::string token, ReadToken(token_file_));
  RINGWARD_ASSIGN(WatchClient client, WatchClient::Make(url_, token));
  const bool live = !once_ && !context.common.json && IsTerminal(STDOUT_FILENO);
  view_.color = WantsColor(STDOUT_FILENO);
  const InterruptScope interrupts;
  bool first = true;
  while (true) {
    const auto jobs = Look(client);
    // One that was there and is gone may come back.
    if (!jobs && (first || !live)) return jobs.error();
    std::string text = jobs ? "" : jobs.error().what() + "\n";
    for (const Json& job : jobs ? *jobs : Json::array()) text += TopText(job, view_);
    if (text.empty()) text = "no job is watched\n";
    if (context.common.json) {
      context.out.WriteJson({{"jobs", *jobs}});
    } else {
      context.out.Write(live ? OverScreen(text) : text);
    }
    context.out.Flush();
    if (!live) return AnyIncident(*jobs) ? kExitFound : kExitFine;
    first = false;
    poll(nullptr, 0, static_cast<int>(interval_.count()));
    if (InterruptRequested() || context.out.failed()) return kExitInterrupted;
  }
}

}  // namespace ringward::cli
