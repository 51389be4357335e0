#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/system_error.h"
#include "launch/process.h"
#include "watch/alerts/notice_json.h"
#include "watch/alerts/receiver.h"

namespace ringward::watch {
namespace {

constexpr std::chrono::seconds kCommandLimit{10};

Status WriteAll(const Fd& fd, std::string_view text, const std::string& what) {
  while (!text.empty()) {
    const ssize_t wrote = write(fd.get(), text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return SystemError(what, errno);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return Ok();
}

class CommandReceiver final : public Receiver {
 public:
  explicit CommandReceiver(std::string program)
      : program_(std::move(program)), name_("command " + program_) {}

  const std::string& name() const override { return name_; }

  Status Send(const Notice& notice, Clock::Duration /*now*/) override {
    // In memory and not in a pipe: a program that does not read holds nobody up.
    const Fd document(memfd_create("ringward-alert", MFD_CLOEXEC));
    if (!document) return SystemError("memfd_create", errno);
    RINGWARD_TRY(WriteAll(document, cli::DumpJsonLine(WebhookJson(notice)) + "\n", name_));
    lseek(document.get(), 0, SEEK_SET);
    RINGWARD_ASSIGN(const pid_t pid, launch::Spawn({.command = {program_},
                                                    .environment = launch::CurrentEnvironment(),
                                                    .in = document.get(),
                                                    .out = STDERR_FILENO,
                                                    .err = STDERR_FILENO}));
    return Await(pid);
  }

 private:
  static Status Await(pid_t pid) {
    const Fd process = launch::OpenProcess(pid, 0);
    pollfd wait{process.get(), POLLIN, 0};
    const bool ended =
        poll(&wait, 1, static_cast<int>(std::chrono::milliseconds(kCommandLimit).count())) > 0;
    if (!ended) kill(-pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    if (!ended) return Error(Code::kInvalidInput, "was killed after 10 s");
    if (status == 0) return Ok();
    return Error(Code::kInvalidInput, launch::DescribeExit(status));
  }

  std::string program_;
  std::string name_;
};

class LogReceiver final : public Receiver {
 public:
  LogReceiver(Fd file, const std::string& path) : file_(std::move(file)), name_("log " + path) {}

  const std::string& name() const override { return name_; }
  Status Send(const Notice& notice, Clock::Duration /*now*/) override {
    return WriteAll(file_, cli::DumpJsonLine(WebhookJson(notice)) + "\n", name_);
  }

 private:
  Fd file_;
  std::string name_;
};

}  // namespace

Result<std::unique_ptr<Receiver>> MakeCommandReceiver(const std::string& program) {
  const std::string path =
      program.find('/') == std::string::npos ? launch::FindInPath(program) : program;
  if (path.empty() || access(path.c_str(), X_OK) != 0) {
    return Error(Code::kInvalidInput, "'" + program + "' is no program that can be started");
  }
  return std::unique_ptr<Receiver>(std::make_unique<CommandReceiver>(path));
}

Result<std::unique_ptr<Receiver>> MakeLogReceiver(const std::string& path) {
  Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file) return SystemError(path, errno);
  return std::unique_ptr<Receiver>(std::make_unique<LogReceiver>(std::move(file), path));
}

}  // namespace ringward::watch
