#include "ringward/watch_beside.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/log.h"
#include "launch/process.h"

namespace ringward::cli {
namespace {

constexpr std::chrono::seconds kPatience{10};  // for the rest of a recording to reach the disk
constexpr std::chrono::seconds kUserPatience{2};

}  // namespace

void AddWatchBesideOptions(OptionTable& table, WatchBesideOptions& options) {
  table.Group("Watching");
  table.Add("watch", &options.watch, "say on standard error which rank is slow, hung or diverging")
      .Scope(OptionScope::kLocal);
  table
      .Add("record", &options.record, {.what = "a file", .allow_empty = true},
           "watch, and record it in a new file for `ringward replay`")
      .Complete(Completion::kFile)
      .Scope(OptionScope::kLocal);
  table
      .Add("false-alarms-per-day", &options.false_alarms_per_day, {.min = 1e-6, .max = 1e6},
           "alarms that a healthy job may give by chance in a day")
      .Scope(OptionScope::kLocal);
}

Status WatchBeside::Check() const {
  std::error_code error;
  if (!options_.record.empty() && std::filesystem::exists(options_.record, error)) {
    return Error(Code::kInvalidInput,
                 "--record " + options_.record + ": exists, and a recording holds one run");
  }
  return Ok();
}

void WatchBeside::Start(const std::string& job_id) {
  if (!options_.wanted()) return;
  launch::SpawnOptions spawn;
  spawn.command = {"/proc/self/exe",
                   "watch",
                   "--launched-by",
                   job_id,
                   "--once",
                   "--quiet",
                   "--false-alarms-per-day",
                   fmt::format("{}", options_.false_alarms_per_day)};
  if (!options_.record.empty()) {
    spawn.command.insert(spawn.command.end(), {"--record=" + options_.record});
  }
  spawn.environment = launch::CurrentEnvironment();
  spawn.out = spawn.err = STDERR_FILENO;
  const auto child = launch::Spawn(spawn);
  if (child) {
    watcher_ = *child;
  } else {
    LogWarning("not watched: " + child.error().what());
  }
}

bool WatchBeside::Reaped(std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (waitpid(watcher_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  watcher_ = -1;
  return true;
}

void WatchBeside::Leave() {
  if (watcher_ < 0) return;
  kill(watcher_, SIGTERM);
  Reaped(kUserPatience);
}

void WatchBeside::End() {
  if (watcher_ < 0) return;
  kill(watcher_, SIGTERM);
  if (Reaped(kPatience)) return;
  LogWarning("the watcher did not end, and was killed");
  kill(watcher_, SIGKILL);
  Reaped(kPatience);
}

}  // namespace ringward::cli
