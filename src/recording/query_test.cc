// The page of the format is true: it names every table and column, and its examples run.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "recording/schema.h"
#include "recording/test_recording.h"

namespace ringward::recording {
namespace {

std::string Page() {
  std::ifstream file(RINGWARD_FORMAT_PAGE);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The parts of the page between ```sql and ```.
std::vector<std::string> Examples(const std::string& page) {
  const std::string begin = "```sql\n";
  std::vector<std::string> examples;
  for (std::size_t at = 0; (at = page.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    const std::size_t end = page.find("```", at);
    examples.push_back(page.substr(at, end - at));
  }
  return examples;
}

/// A run with an incident: rank 1 of four is slow.
void WriteRun(const std::string& path) {
  TestRun run(4);
  auto writer = *Writer::Open(path);
  ASSERT_TRUE(WriteSeconds(writer, run, 200));
  const signal::Finding finding{.id = 1,
                                .kind = signal::FindingKind::kRankSlow,
                                .detector = "cusum",
                                .ranks = {1},
                                .step = 150,
                                .since_step = 140,
                                .at = run.now()};
  signal::Cause cause{.id = 1, .category = signal::Category::kCompute, .cause = "slow-rank"};
  cause.summary = "rank 1 is slow";
  cause.culprit_ranks = {1};
  cause.culprit_hosts = {"node0"};
  cause.victim_ranks = {0, 2, 3};
  cause.evidence = {{"", 0, "self time has risen by 40 %"}};
  cause.started = run.now();
  signal::Cause over = cause;
  over.over = true;
  const std::vector<signal::Cause> causes = {cause, over};
  ASSERT_TRUE(writer.Append({.findings = {&finding, 1}, .causes = causes}, run.metrics));
  ASSERT_TRUE(writer.Close());
}

class QueryTest : public ::testing::Test {
 protected:
  QueryTest() {
    WriteRun(file_.path());
    database_ = *Database::Open(file_.path(), "run", SQLITE_OPEN_READONLY);
  }
  void Load() {
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
    char* message = nullptr;
    ASSERT_EQ(sqlite3_load_extension(database_.get(), RINGWARD_SQLITE, nullptr, &message),
              SQLITE_OK)
        << message;
  }
  /// All rows, their cells with a bar between, a line each.
  std::string Ask(const std::string& sql) {
    auto rows = database_.Prepare(sql);
    if (!rows) return rows.error().what();
    std::string text;
    rows->Start();
    while (true) {
      const auto there = rows->Step();
      if (!there) return there.error().what();
      if (!*there) return text;
      for (int i = 0; i < sqlite3_column_count(rows->get()); ++i) {
        const auto* cell = sqlite3_column_text(rows->get(), i);
        text += std::string(i > 0 ? "|" : "") +
                (cell == nullptr ? "-" : reinterpret_cast<const char*>(cell));
      }
      text += "\n";
    }
  }

  TestFile file_;
  Database database_;
};

TEST_F(QueryTest, ViewsNeedNothingButSqlite) {
  EXPECT_EQ(Ask("SELECT * FROM ranks WHERE rank < 2"), "0|node0|0|0\n1|node0|1|0\n");
  EXPECT_EQ(Ask("SELECT id, kind, ranks, over FROM findings"), "1|rank-slow|[[1,1]]|0\n");
  EXPECT_EQ(Ask("SELECT cause, culprit_hosts, first_evidence, over FROM causes"),
            "slow-rank|node0|self time has risen by 40 %|1\n");
  EXPECT_EQ(Ask("SELECT * FROM finding_ranks"), "1|1\n");
  EXPECT_EQ(Ask("SELECT role, group_concat(rank) FROM cause_ranks GROUP BY role"),
            "culprit|1\nvictim|0,2,3\n");
  EXPECT_EQ(Ask("SELECT count(*), min(minute), max(minute) FROM minutes"),
            "48|2026-01-05T10:00Z|2026-01-05T10:02Z\n");
  EXPECT_EQ(Ask("SELECT kind, count(*) FROM events GROUP BY kind"),
            "frame|200\njob-opened|1\nprogress|200\n");
  EXPECT_NE(Ask("SELECT * FROM samples").find("no such function"), std::string::npos);
}

TEST_F(QueryTest, SamplesNeedTheExtension) {
  Load();
  TestRun run(4);
  for (const signal::Event& event : run.Second()) {
    const auto* frame = std::get_if<signal::Frame>(&event.what);
    if (frame == nullptr) continue;
    // Rank 0 has not reported the first column of the first step.
    EXPECT_EQ(Ask("SELECT group_concat(rank) FROM samples WHERE step = 0 AND metric = "
                  "'step_seconds'"),
              "1,2,3\n");
    const auto value =
        Ask("SELECT value FROM samples WHERE step = 0 AND metric = 'wait_seconds' "
            "AND rank = 2");
    EXPECT_EQ(std::stof(value), frame->columns[1].values[2]);
  }
  EXPECT_EQ(Ask("SELECT count(*) FROM samples"), "3160\n");
  EXPECT_NE(Ask("SELECT ringward_values(x'00', 1)").find("damaged"), std::string::npos);
  EXPECT_NE(Ask("SELECT ringward_values('a', 1)").find("not a column"), std::string::npos);
  EXPECT_NE(Ask("SELECT ringward_values(x'00', 1 << 30)").find("not a column"), std::string::npos);
  EXPECT_EQ(Ask("SELECT ringward_values(x'00', 0)"), "[]\n");
  // Planes of -inf, a NaN and 1.
  EXPECT_EQ(Ask("SELECT ringward_values(x'0000000000000080c080ff7f3f', 3)"), "[-9e999,null,1]\n");
}

TEST_F(QueryTest, ExamplesOfThePageRun) {
  Load();
  const auto examples = Examples(Page());
  EXPECT_GE(examples.size(), 5U);
  for (const std::string& sql : examples) {
    const std::string answer = Ask(sql);
    EXPECT_FALSE(answer.empty() || answer.starts_with("run: ")) << sql << answer;
  }
}

TEST_F(QueryTest, ThePageNamesEveryTableAndColumn) {
  Load();  // or SQLite cannot tell the columns of `samples`
  const std::string page = Page();
  for (const TableText& table : Tables()) {
    EXPECT_NE(page.find("`" + std::string(table.name) + "`"), std::string::npos) << table.name;
  }
  std::set<std::string> missing;
  Statement columns = *database_.Prepare(
      "SELECT 1, i.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS i");
  columns.Start();
  while (*columns.Step()) {
    const std::string name(Row(columns, "run", "columns").Text(1));
    if (page.find("`" + name + "`") == std::string::npos) missing.insert(name);
  }
  EXPECT_TRUE(missing.empty()) << ::testing::PrintToString(missing);
}

}  // namespace
}  // namespace ringward::recording
