#include "watch/alerts/alert_sender.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "io/test_folder.h"

namespace ringward::watch {
namespace {

using std::chrono::seconds;

Notice NoticeOf(const std::string& cause) {
  Notice notice;
  notice.alerts.push_back({.job = "job"});
  notice.alerts[0].cause.cause = cause;
  return notice;
}

/// A server on loopback that keeps what it is sent, and answers as it is told.
class Server {
 public:
  Server() {
    const auto keep = [this](const httplib::Request& request, httplib::Response& answer) {
      const std::lock_guard lock(mutex_);
      got_.push_back(request.method + " " + request.path + " " + request.body);
      answer.status = failures_ > 0 ? failure_ : 200;
      failures_ -= failures_ > 0 ? 1 : 0;
    };
    server_.Get(".*", keep);
    server_.Post(".*", keep);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Server() {
    server_.stop();
    thread_.join();
  }
  std::string url(const std::string& path = "") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  void FailNext(int times, int status) {
    const std::lock_guard lock(mutex_);
    failures_ = times;
    failure_ = status;
  }
  std::vector<std::string> got() {
    const std::lock_guard lock(mutex_);
    return got_;
  }

 private:
  httplib::Server server_;
  std::mutex mutex_;
  std::vector<std::string> got_;
  int failures_ = 0;
  int failure_ = 500;
  int port_ = 0;
  std::thread thread_;
};

std::vector<std::unique_ptr<Receiver>> One(Result<std::unique_ptr<Receiver>> receiver) {
  std::vector<std::unique_ptr<Receiver>> receivers;
  receivers.push_back(*std::move(receiver));
  return receivers;
}

TEST(AlertSenderTest, EachKindSendsItsOwn) {
  Server server;
  using enum ReceiverKind;
  for (const auto& [kind, path, start] :
       {std::tuple(kAlertmanager, "/am/", "POST /am/api/v2/alerts [{\"labels\":"),
        std::tuple(kWebhook, "/hook?x=1", "POST /hook {\"version\":1,"),
        std::tuple(kSlack, "/services/secret", "POST /services/secret {\"text\":\"[warning] job"),
        std::tuple(kHeartbeat, "/ping", "GET /ping ")}) {
    auto receiver = MakeHttpReceiver(kind, server.url(path));
    ASSERT_TRUE(receiver);
    EXPECT_EQ((*receiver)->name().find("secret"), std::string::npos);
    Notice notice = NoticeOf("slow-rank");
    notice.reminder = kind == kHeartbeat;
    ASSERT_TRUE((*receiver)->Send(notice, seconds(1)));
    EXPECT_EQ(server.got().back().rfind(start, 0), 0U) << server.got().back();
  }
}

TEST(AlertSenderTest, RefusesWhatIsNoAddress) {
  for (const char* const bad : {"", "host:9093", "ftp://host", "http://", "http:///path"}) {
    EXPECT_FALSE(MakeHttpReceiver(ReceiverKind::kWebhook, bad)) << bad;
  }
}

TEST(AlertSenderTest, TriesAgainWhereThatMayHelp) {
  Server server;
  AlertSender sender(One(MakeHttpReceiver(ReceiverKind::kWebhook, server.url())), SystemClock());
  server.FailNext(1, 503);
  sender.Post(NoticeOf("first"));
  while (sender.counts().sent == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  server.FailNext(1, 400);
  sender.Post(NoticeOf("refused"));
  sender.Post(NoticeOf("second"));
  while (sender.counts().sent < 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto counts = sender.counts();
  EXPECT_EQ(counts.failed, 2U);
  EXPECT_EQ(counts.dropped, 1U);
  EXPECT_EQ(server.got().size(), 4U);
}

/// Blocks until it is let go.
class Stuck final : public Receiver {
 public:
  explicit Stuck(std::atomic<bool>& go) : go_(go) {}
  const std::string& name() const override { return name_; }
  Status Send(const Notice&, Clock::Duration) override {
    while (!go_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Ok();
  }

 private:
  std::atomic<bool>& go_;
  std::string name_ = "stuck";
};

TEST(AlertSenderTest, ReceiversThatHangHoldUpNobody) {
  Server server;
  std::atomic<bool> go = false;
  auto receivers = One(MakeHttpReceiver(ReceiverKind::kWebhook, server.url()));
  receivers.push_back(std::make_unique<Stuck>(go));
  AlertSender sender(std::move(receivers), SystemClock());
  for (int i = 0; i < 300; ++i) sender.Post(NoticeOf("many"));
  while (sender.counts().sent < 200) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GT(sender.counts().dropped, 0U);
  go = true;
  sender.Stop(seconds(5));
  EXPECT_GE(sender.counts().sent + sender.counts().dropped, 600U);
}

TEST(AlertSenderTest, NobodyThereIsTriedOnceAtTheEnd) {
  // A port that was free a moment ago.
  const std::string url = Server().url();
  AlertSender sender(One(MakeHttpReceiver(ReceiverKind::kWebhook, url)), SystemClock());
  sender.Post(NoticeOf("lost"));
  sender.Stop(seconds(1));
  EXPECT_EQ(sender.counts().sent, 0U);
  EXPECT_EQ(sender.counts().dropped, 1U);
}

TEST(AlertSenderTest, CommandsAndLogsGetTheDocument) {
  const io::TestFolder folder;
  const std::string script = folder.Path("notify.sh");
  std::ofstream(script) << "#!/bin/sh\ncat > " << folder.Path("got") << "\n";
  ::chmod(script.c_str(), 0755);
  auto command = MakeCommandReceiver(script);
  auto log = MakeLogReceiver(folder.Path("log"));
  ASSERT_TRUE(command && log);
  ASSERT_TRUE((*command)->Send(NoticeOf("slow-rank"), seconds(1)));
  ASSERT_TRUE((*log)->Send(NoticeOf("slow-rank"), seconds(1)));
  for (const char* const name : {"got", "log"}) {
    std::ifstream file(folder.Path(name));
    std::string line;
    std::getline(file, line);
    EXPECT_EQ(line.rfind("{\"version\":1,", 0), 0U) << name << ": " << line;
  }
  std::ofstream(script) << "#!/bin/sh\nexit 3\n";
  const Status failed = (*command)->Send(NoticeOf("slow-rank"), seconds(1));
  EXPECT_EQ(failed.error().what(), "exited with status 3");
  EXPECT_FALSE(MakeCommandReceiver("no-such-program"));
  EXPECT_FALSE(MakeLogReceiver(folder.Path("no/log")));
}

}  // namespace
}  // namespace ringward::watch
