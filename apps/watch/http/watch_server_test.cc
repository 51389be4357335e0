// The server beside a watcher of a job that is made up.
#include "watch/http/watch_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "watch/fake_source.h"
#include "watch/hosts/agent_link.h"
#include "watch/hosts/hosts_test_support.h"
#include "watch/http/test_client.h"

namespace ringward::watch {
namespace {

using cli::Json;
using testing::HasSubstr;

class WatchServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = WatchServer::Start(
        {.exposure = {.listen = "127.0.0.1:0"}, .cpu_seconds = [] { return 1.5; }}, clock_);
    ASSERT_TRUE(server) << server.error().what();
    server_ = *std::move(server);
    watcher_.emplace(WatcherOptions{}, source_, clock_, *server_);
  }
  void Run(Clock::Duration time) {
    const Clock::Duration end = clock_.Now() + time;
    while (clock_.Now() < end) {
      watcher_->Look();
      source_.Wait(watcher_->next_look());
    }
  }
  std::uint16_t port() const { return PortOfUrl(server_->url()); }
  Json Page(const std::string& target) const { return Json::parse(BodyOf(Get(port(), target))); }

  ManualClock clock_;
  FakeSource source_{clock_};
  std::unique_ptr<WatchServer> server_;
  std::optional<Watcher> watcher_;
};

TEST_F(WatchServerTest, ShowsAJobAsItGoesOn) {
  EXPECT_EQ(Page("/api/v1/jobs")["jobs"].size(), 0U);
  Run(std::chrono::seconds(20));
  const Json job = Page("/api/v1/jobs/job");
  EXPECT_EQ(job["world"], 4);
  EXPECT_EQ(job["living"], 4);
  EXPECT_EQ(job["blind"], 0);
  EXPECT_GT(job["step"], 300);
  EXPECT_EQ(job["steps"], job["step"].get<int>() + 1);
  EXPECT_NEAR(job["step_seconds"].get<double>(), 0.05, 1e-6);
  EXPECT_TRUE(job["healthy"]);
  EXPECT_EQ(job["by_rank"]["self_seconds"].size(), 4U);
  EXPECT_NEAR(job["by_rank"]["self_seconds"][2].get<double>(), 0.0455, 0.0006);
  EXPECT_NEAR(job["by_rank"]["wait_seconds"][2].get<double>(), 0.0045, 0.0006);
  EXPECT_EQ(job["by_rank"]["local_loss"][0], 1.0);
  EXPECT_EQ(job["by_rank"]["memory_bytes"].size(), 0U);
  const Json heat = Page("/api/v1/jobs/job/heat?metric=wait&steps=10");
  EXPECT_EQ(heat["columns"], 10);
  EXPECT_EQ(heat["ranks"], 4);
  EXPECT_EQ(heat["data"].get<std::string>().size(), 56U);
  // Five steps of 50 ms end in a quarter of a second.
  EXPECT_EQ(heat["last_steps"][9].get<int>() - heat["first_steps"][9].get<int>(), 4);
  EXPECT_EQ(heat["first_steps"][9].get<int>() - heat["last_steps"][8].get<int>(), 1);
  const std::string metrics = BodyOf(Get(port(), "/metrics"));
  EXPECT_THAT(metrics, HasSubstr("\nringward_ranks{job=\"job\",state=\"living\"} 4\n"));
  EXPECT_THAT(metrics, HasSubstr("\nringward_watcher_cpu_seconds_total 1.5\n"));
  EXPECT_THAT(metrics, HasSubstr("\nringward_last_judgement_timestamp_seconds 19\n"));
}

TEST_F(WatchServerTest, ShowsAnIncidentUntilItIsOver) {
  Run(std::chrono::seconds(20));
  source_.Freeze(false);
  Run(std::chrono::seconds(7));
  Json job = Page("/api/v1/jobs/job");
  EXPECT_EQ(job["open_incidents"], 1);
  EXPECT_EQ(job["silent"], 4);
  EXPECT_EQ(job["incidents"][0]["cause"], "rank-frozen");
  EXPECT_TRUE(job["by_rank"]["in_collective"][0]);
  EXPECT_FALSE(job["by_rank"]["in_collective"][2]);
  EXPECT_THAT(BodyOf(Get(port(), "/metrics")),
              HasSubstr("\nringward_incidents_open{job=\"job\",cause=\"rank-frozen\"} 1\n"));
  source_.Thaw();
  Run(std::chrono::seconds(20));
  job = Page("/api/v1/jobs/job");
  EXPECT_EQ(job["open_incidents"], 0);
  EXPECT_EQ(job["silent"], 0);
  EXPECT_FALSE(job["healthy"]);
  const Json incidents = Page("/api/v1/jobs/job/incidents")["incidents"];
  ASSERT_EQ(incidents.size(), 1U);
  EXPECT_TRUE(incidents[0]["over"]);
  EXPECT_GT(incidents[0]["lost_seconds"], 5.0);
  EXPECT_THAT(BodyOf(Get(port(), "/metrics")),
              HasSubstr("\nringward_incidents_found_total{cause=\"rank-frozen\"} 1\n"));
}

TEST_F(WatchServerTest, StreamsWhatIsNew) {
  TestClient client(port());
  client.Send("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  client.ReadUntil("retry: 2000\n\n");
  Run(std::chrono::seconds(20));
  EXPECT_THAT(client.ReadUntil("\"ranks\":4,\"hosts\":[\"here\"]}\n\n"),
              HasSubstr("event: job\ndata: {\"at\":\"1970-01-01T00:00:00.000Z\",\"type\":\"job\""));
  EXPECT_THAT(client.ReadUntil("event: status\ndata: {\"at\":\"1970-01-01T00:00:19.000Z\""),
              HasSubstr("event: status\ndata: {\"at\":\"1970-01-01T00:00:18.000Z\""));
  source_.rank(1).ended = true;
  Run(std::chrono::seconds(3));
  EXPECT_THAT(client.ReadUntil("\"news\":\"found\""), HasSubstr("event: incident\ndata: {\"at\":"));
  source_.EndAll(true);
  Run(std::chrono::seconds(1));
  EXPECT_THAT(client.ReadUntil("\"healthy\":false}\n\n"), HasSubstr("event: end\n"));
}

TEST(WatchServerAgentsTest, TakesWhatAgentsSendAndShowsThem) {
  ManualClock clock;
  clock.Advance(std::chrono::seconds(10));
  AgentHub hub({}, clock);
  for (const bool agents : {true, false}) {
    SCOPED_TRACE(agents);
    auto server = WatchServer::Start(
        {.exposure = {.listen = "127.0.0.1:0"}, .hub = agents ? &hub : nullptr}, clock);
    ASSERT_TRUE(server) << server.error().what();
    auto post = MakeHttpPost({.url = (*server)->url()});
    ASSERT_TRUE(post) << post.error().what();
    TestAgent agent("node-b", 1);
    const auto reply = (*post)->Post(agent.Message({MadeSight(1, 2, 3, clock.Now())}, clock.Now()));
    ASSERT_TRUE(reply);
    if (!agents) {
      EXPECT_EQ(reply->status, 405U);
      continue;
    }
    EXPECT_EQ(reply->status, 200U);
    EXPECT_EQ(AgentCodec::ReadAnswer(reply->body)->taken, 1U);
    const auto garbage = (*post)->Post("garbage");
    ASSERT_TRUE(garbage);
    EXPECT_EQ(garbage->status, 400U);
    EXPECT_THAT(garbage->body, HasSubstr("no such message"));
    FakeSource nobody(clock);
    nobody.EndAll(true);
    HostsSource source(nobody, hub);
    Watcher watcher({}, source, clock, **server);
    watcher.Look();
    const std::uint16_t port = PortOfUrl((*server)->url());
    const Json shown = Json::parse(BodyOf(Get(port, "/api/v1/agents")))["agents"];
    ASSERT_EQ(shown.size(), 1U);
    EXPECT_EQ(shown[0]["host"], "node-b");
    EXPECT_EQ(shown[0]["ranks"], 1);
    EXPECT_TRUE(shown[0]["heard"]);
    EXPECT_THAT(BodyOf(Get(port, "/metrics")), HasSubstr("\nringward_agents{state=\"heard\"} 1\n"));
    EXPECT_EQ(Json::parse(BodyOf(Get(port, "/api/v1/jobs/job")))["hosts"][0], "node-b");
  }
}

TEST(HttpPostTest, GoesWhereItMay) {
  const struct {
    const char* url;
    const char* ca;
    bool fine;
  } rows[] = {{"http://127.0.0.1:1", "", true},    {"http://localhost:1/", "", true},
              {"http://[::1]:1", "", true},        {"https://node0:1", "", true},
              {"http://node0:1", "", false},       {"http://10.0.0.1:1", "", false},
              {"ftp://127.0.0.1:1", "", false},    {"127.0.0.1:1", "", false},
              {"http://127.0.0.1:1/x", "", false}, {"https://", "", false},
              {"http://127.0.0.1:1", "ca", false}};
  for (const auto& row : rows) {
    EXPECT_EQ(static_cast<bool>(MakeHttpPost({.url = row.url, .ca_file = row.ca})), row.fine)
        << row.url;
  }
}

TEST_F(WatchServerTest, AJobThatEndedIsStillShown) {
  Run(std::chrono::seconds(10));
  source_.EndAll(true);
  Run(std::chrono::seconds(2));
  const Json job = Page("/api/v1/jobs/job");
  EXPECT_TRUE(job["ended"]);
  EXPECT_EQ(job["living"], 0);
  EXPECT_EQ(job["by_rank"]["state"][3], "ended");
  EXPECT_GT(Page("/api/v1/jobs/job/heat")["columns"], 5);
  EXPECT_THAT(BodyOf(Get(port(), "/metrics")), HasSubstr("\nringward_jobs 0\n"));
}

}  // namespace
}  // namespace ringward::watch
