// What the pages hold. RINGWARD_WRITE_GOLDEN=1 writes what is in golden/ anew: look at the
// difference before it is committed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "watch/http/api_json.h"
#include "watch/http/heat.h"
#include "watch/http/metrics.h"
#include "watch/http/snapshot_test_support.h"
#include "watch/http/stream_log.h"
#include "watch/http/watch_server.h"

namespace ringward::watch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string FileText(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(RINGWARD_HTTP_GOLDEN) + "/" + name;
  if (std::getenv("RINGWARD_WRITE_GOLDEN") != nullptr) std::ofstream(path) << text;
  EXPECT_EQ(text, FileText(path)) << path;
}

HttpCounts MadeCounts() {
  return {.answers = {{200, 12}, {404, 1}}, .stream_dropped = 1, .connections = 2};
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(PagesTest, AreWhatTheyWere) {
  const Snapshot snapshot = MadeSnapshot(MadeJob(4, 3));
  const JobSnapshot& job = *snapshot.jobs[0];
  ExpectGolden("metrics.txt", MetricsPage({snapshot, MadeCounts()}));
  ExpectGolden("jobs.json", cli::DumpJson(JobsJson(snapshot)) + "\n");
  ExpectGolden("job.json", cli::DumpJson(JobJson(job)) + "\n");
  ExpectGolden("incidents.json", cli::DumpJson(IncidentsOfJson(job)) + "\n");
  ExpectGolden("heat.json", HeatText(job, RankMetric::kWait, 2));
}

TEST(MetricsTest, TheDocumentListsEachOfThem) {
  const std::string page = FileText(RINGWARD_METRICS_PAGE);
  const std::string begin = "<!-- begin metrics -->\n";
  const std::size_t from = page.find(begin);
  const std::size_t to = page.find("<!-- end metrics -->");
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  EXPECT_EQ(page.substr(from + begin.size(), to - from - begin.size()),
            "| name | type | unit | labels | meaning |\n|---|---|---|---|---|\n" + MetricsTable());
}

TEST(MetricsTest, NamesFollowTheConventions) {
  std::set<std::string> names;
  for (const MetricRow& row : MetricRows()) {
    SCOPED_TRACE(row.name);
    const std::string name = row.name;
    const std::string unit = row.unit;
    const bool counter = std::string(row.type) == "counter";
    EXPECT_TRUE(names.insert(name).second);
    EXPECT_THAT(name, StartsWith("ringward_"));
    EXPECT_EQ(name.ends_with("_total"), counter);
    EXPECT_TRUE(counter || std::string(row.type) == "gauge");
    if (!unit.empty()) {
      EXPECT_TRUE(name.ends_with(counter ? unit + "_total" : unit));
    }
    EXPECT_FALSE(std::string(row.help).ends_with('.'));
  }
}

TEST(MetricsTest, AreBoundedWhereRanksAndJobsAreMany) {
  struct Row {
    std::int32_t world;
    std::size_t series;
  };
  for (const Row& row : {Row{1, 1}, Row{256, 256}, Row{257, 10}, Row{10240, 10}}) {
    SCOPED_TRACE(row.world);
    const Snapshot snapshot = MadeSnapshot(MadeJob(row.world, 1));
    const std::string page = MetricsPage({snapshot, {}});
    EXPECT_EQ(CountOf(page, "\nringward_rank_self_seconds{"), row.series);
    EXPECT_THAT(page, HasSubstr("ringward_rank_self_seconds{job=\"job\",rank=\"" +
                                std::to_string(row.world - 1) + "\"}"));
  }
  Snapshot many;
  for (int i = 0; i < 100; ++i)
    many.jobs.push_back(std::make_shared<const JobSnapshot>(MadeJob(2, 1)));
  EXPECT_EQ(CountOf(MetricsPage({many, {}}), "\nringward_job_step{"), 64U);
}

/// What machines tell comes with one look in four.
TEST(MetricsTest, ANumberStaysForAFewLooks) {
  for (const auto& [looks, shown] : {std::pair(3, 1U), std::pair(30, 0U)}) {
    SCOPED_TRACE(looks);
    JobSnapshot job = MadeJob(1, 0);
    for (int look = 0; look <= looks; ++look) {
      auto column = std::make_shared<RankColumn>();
      column->values[static_cast<std::size_t>(RankMetric::kWait)] = {0.25F};
      if (look == 0) column->values[static_cast<std::size_t>(RankMetric::kMemory)] = {4096.0F};
      job.columns.push_back(column);
    }
    const std::string page = MetricsPage({MadeSnapshot(job), {}});
    EXPECT_EQ(CountOf(page, "\nringward_rank_memory_bytes{"), shown);
    EXPECT_EQ(CountOf(page, "\nringward_rank_wait_seconds{"), 1U);
  }
}

TEST(MetricsTest, LabelsAreEscapedAndEndedJobsLeftOut) {
  JobSnapshot odd = MadeJob(1, 0);
  odd.run.name = "a\"b\\c\nd";
  JobSnapshot over = MadeJob(1, 0);
  over.run.name = "over";
  over.ended = true;
  Snapshot snapshot;
  snapshot.jobs = {std::make_shared<const JobSnapshot>(odd),
                   std::make_shared<const JobSnapshot>(over)};
  const std::string page = MetricsPage({snapshot, {}});
  EXPECT_THAT(page, HasSubstr("ringward_job_step{job=\"a\\\"b\\\\c\\nd\"} -1\n"));
  EXPECT_THAT(page, Not(HasSubstr("over\"")));
  EXPECT_THAT(page, HasSubstr("\nringward_jobs 1\n"));
}

struct HeatRow {
  const char* name;
  std::vector<float> values;  ///< of one column
  bool logarithmic;
  std::vector<int> bytes;
};

TEST(HeatTest, NumbersBecomeBytesOfAScale) {
  const float nan = std::nanf("");
  for (const HeatRow& row : std::initializer_list<HeatRow>{
           {"linear", {1.0F, 2.0F, 3.0F}, false, {0, 127, 253}},
           {"negative", {-1.0F, 0.0F, 1.0F}, false, {0, 127, 253}},
           {"logarithmic", {0.01F, 0.1F, 1.0F}, true, {0, 127, 253}},
           {"zero has no logarithm", {0.0F, 50.0F, 100.0F}, false, {0, 127, 253}},
           {"all the same", {2.0F, 2.0F, 2.0F}, false, {0, 0, 0}},
           {"no numbers", {nan, signal::kMissing, INFINITY}, false, {254, 255, 254}},
           {"numbers and none", {nan, 1.0F, 2.0F}, false, {254, 0, 253}},
           {"fewer ranks than the world", {1.0F, 2.0F}, false, {0, 253, 255}},
           {"not reported", {}, false, {255, 255, 255}}}) {
    SCOPED_TRACE(row.name);
    JobSnapshot job = MadeJob(3, 0);
    auto column = std::make_shared<RankColumn>();
    column->values[static_cast<std::size_t>(RankMetric::kLoss)] = row.values;
    job.columns.push_back(column);
    const HeatTile tile = MakeHeatTile(job, RankMetric::kLoss, 120);
    EXPECT_EQ(tile.logarithmic, row.logarithmic);
    std::vector<int> bytes;
    for (const char byte : tile.bytes) bytes.push_back(static_cast<std::uint8_t>(byte));
    EXPECT_EQ(bytes, row.bytes);
  }
}

TEST(HeatTest, IsRanksByColumnsOldestFirst) {
  JobSnapshot job = MadeJob(300, 0);
  for (const float at : {0.0F, 1.0F, 2.0F}) {
    auto column = std::make_shared<RankColumn>();
    auto& values = column->values[static_cast<std::size_t>(RankMetric::kWait)];
    for (std::size_t rank = 0; rank < 300; ++rank)
      values.push_back(at * 300.0F + static_cast<float>(rank));
    job.columns.push_back(column);
  }
  const HeatTile tile = MakeHeatTile(job, RankMetric::kWait, 2);
  EXPECT_EQ(tile.bytes.size(), 600U);
  EXPECT_EQ(tile.low, 300.0);
  EXPECT_EQ(tile.high, 899.0);
  for (std::size_t rank = 1; rank < 300; ++rank) {
    for (std::size_t c = 0; c < 2; ++c) {
      const auto byte = static_cast<std::uint8_t>(tile.bytes[rank * 2 + c]);
      const double value = tile.low + (tile.high - tile.low) * byte / kHeatMax;
      EXPECT_NEAR(value, static_cast<double>(300 * (c + 1) + rank), 1.2);
    }
  }
}

TEST(Base64Test, IsThatOfRfc4648) {
  for (const auto& [bytes, text] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}}) {
    std::string out = "data:";
    AppendBase64(out, bytes);
    EXPECT_EQ(out, std::string("data:") + text);
  }
  std::string high;
  AppendBase64(high, "\xff\xfe\xfd");
  EXPECT_EQ(high, "//79");
}

std::string Joined(const std::vector<StreamFrame>& frames) {
  std::string text;
  for (const StreamFrame& frame : frames) text += *frame;
  return text;
}

TEST(StreamLogTest, GivesWhatAClientMissedAndSaysWhereItCannot) {
  StreamLog log("r1");
  for (int i = 0; i < 3; ++i) log.Add({"incident", std::to_string(i), true});
  log.Add({"status", "gone", false});
  const std::string retry = "retry: 2000\n\n";
  const std::string reset = "event: reset\ndata: {}\n\n";
  const auto event = [](int n) {
    const std::string number = std::to_string(n);
    return "id: r1-" + number + "\nevent: incident\ndata: " + number + "\n\n";
  };
  struct Row {
    const char* last;
    std::string opening;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"", retry},
           {"r1-2", retry},
           {"r1-0", retry + event(1) + event(2)},
           {"r1-3", retry + reset + event(0) + event(1) + event(2)},
           {"r2-1", retry + reset + event(0) + event(1) + event(2)},
           {"r1-", retry + reset + event(0) + event(1) + event(2)},
           {"r1-99999999999999999999", retry + reset + event(0) + event(1) + event(2)},
           {"r1-1x", retry + reset + event(0) + event(1) + event(2)},
           {"\r\n", retry + reset + event(0) + event(1) + event(2)}}) {
    SCOPED_TRACE(row.last);
    EXPECT_EQ(Joined(log.Opening(row.last)), row.opening);
  }
}

TEST(StreamLogTest, ForgetsWhatIsOld) {
  StreamLog log("r");
  for (int i = 0; i < 2000; ++i) log.Add({"incident", "x", true});
  const auto opening = log.Opening("r-0");
  EXPECT_EQ(opening.size(), 2U + 1024U);
  EXPECT_THAT(Joined({opening[1], opening[2]}),
              StartsWith("event: reset\ndata: {}\n\nid: r-976\n"));
  StreamLog large("r");
  for (int i = 0; i < 5; ++i) large.Add({"incident", std::string(400'000, 'x'), true});
  EXPECT_EQ(large.Opening("r-0").size(), 2U + 2U);
}

HttpResponse Ask(const Published& published, const std::string& target,
                 std::span<const Asset> assets = {}) {
  const HttpCounter counter;
  const Router routes = WatchRoutes(published, counter, assets);
  auto request = ParseTarget(target);
  EXPECT_TRUE(request);
  const Router::Route& route = routes.Find(*request);
  return route.handler(*request);
}

TEST(WatchRoutesTest, EachPathHasItsPage) {
  Published published;
  JobSnapshot job = MadeJob(4, 3);
  job.run.name = "a/b c";
  published.Put(std::make_shared<const Snapshot>(MadeSnapshot(job)));
  struct Row {
    const char* target;
    unsigned status;
    const char* told;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"/metrics", 200, "ringward_job_step{job=\"a/b c\"} 2\n"},
           {"/healthz", 200, "ok\n"},
           {"/", 200, "no page"},
           {"/index.html", 404, ""},
           {"/api/v1/jobs", 200, "\"a/b c\""},
           {"/api/v1/jobs/a%2Fb%20c", 200, "\"by_rank\""},
           {"/api/v1/jobs/a%2Fb%20c/incidents", 200, "\"slow-rank\""},
           {"/api/v1/jobs/a%2Fb%20c/heat", 200, "\"metric\":\"self\""},
           {"/api/v1/jobs/a%2Fb%20c/heat?metric=local_loss&steps=2", 200, "\"columns\":2"},
           {"/api/v1/jobs/a%2Fb%20c/heat?steps=512", 200, "\"columns\":3"},
           {"/api/v1/jobs/a%2Fb%20c/heat?metric=speed", 400, "metric: expected"},
           {"/api/v1/jobs/a%2Fb%20c/heat?steps=0", 400, "steps: expected"},
           {"/api/v1/jobs/a%2Fb%20c/heat?steps=513", 400, "steps: expected"},
           {"/api/v1/jobs/a%2Fb%20c/heat?steps=-1", 400, "steps: expected"},
           {"/api/v1/jobs/a%2Fb%20c/heat?steps=", 400, "steps: expected"},
           {"/api/v1/jobs/other", 404, "no such job"},
           {"/api/v1/jobs/", 404, "no such job"},
           {"/api/v2/jobs", 404, "no such page"}}) {
    SCOPED_TRACE(row.target);
    const HttpResponse answer = Ask(published, row.target);
    EXPECT_EQ(answer.status, row.status);
    EXPECT_THAT(answer.body, HasSubstr(row.told));
  }
}

TEST(WatchRoutesTest, ThePagesFilesAreServedWhereTheyAreBuiltIn) {
  constexpr Asset kFiles[] = {{"/index.html", "text/html; charset=utf-8", "<p>page"},
                              {"/assets/app.js", "text/javascript", "1"}};
  const Published published;
  EXPECT_EQ(Ask(published, "/", kFiles).body, "<p>page");
  EXPECT_EQ(Ask(published, "/index.html", kFiles).content_type, "text/html; charset=utf-8");
  EXPECT_EQ(Ask(published, "/assets/app.js", kFiles).body, "1");
  EXPECT_EQ(Ask(published, "/assets/other.js", kFiles).status, 404U);
}

}  // namespace
}  // namespace ringward::watch
