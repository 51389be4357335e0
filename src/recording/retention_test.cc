#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "recording/schema.h"
#include "recording/test_recording.h"

namespace ringward::recording {
namespace {

/// What SQL says about a recording.
class Sql {
 public:
  explicit Sql(const std::string& path)
      : database_(*Database::Open(path, path, SQLITE_OPEN_READONLY)) {}
  std::int64_t Number(const std::string& sql) {
    const auto number = database_.Number(sql);
    EXPECT_TRUE(number) << sql;
    return number ? *number : -1;
  }
  std::vector<double> Reals(const std::string& sql) {
    Statement rows = *database_.Prepare(sql);
    std::vector<double> values;
    rows.Start();
    while (*rows.Step()) {
      for (int i = 0; i < sqlite3_column_count(rows.get()); ++i) {
        values.push_back(Row(rows, database_.name(), "a").Real(i));
      }
    }
    return values;
  }

 private:
  Database database_;
};

/// One rank, one metric: `values` in the minute, then as many quiet minutes as upkeep needs.
void WriteMinute(const std::string& path, const std::vector<float>& values) {
  const signal::MetricTable metrics;
  auto writer = *Writer::Open(path);
  std::uint64_t number = 0;
  const auto append = [&](signal::Time at, auto what) {
    signal::Event event{.number = number++, .received = at};
    event.what = std::move(what);
    ASSERT_TRUE(writer.Append({.events = {&event, 1}}, metrics));
  };
  append(kStart, signal::JobOpened{"j", signal::Topology(1)});
  for (std::size_t i = 0; i < values.size(); ++i) {
    signal::Frame frame{.step = static_cast<std::int64_t>(i)};
    frame.columns.push_back({2, {values[i]}});
    append(kStart + std::chrono::milliseconds(i), std::move(frame));
  }
  for (int minute = 1; minute < 5; ++minute) {
    append(kStart + std::chrono::minutes(minute), signal::SourceLost{{0}});
  }
}

TEST(MinutesTest, AreMinimumMedianAndMaximum) {
  struct Case {
    std::vector<float> values;
    std::vector<double> wanted;  ///< count, minimum, median, maximum
  };
  const double nan = std::nan("");
  const float hole = signal::kMissing;
  const std::vector<Case> cases = {
      {{3, 1, 2}, {3, 1, 2, 3}},
      {{4, 1, 2, 3}, {4, 1, 2.5, 4}},
      {{7}, {1, 7, 7, 7}},
      {{hole, 5, NAN, 4, INFINITY}, {2, 4, 4.5, 5}},
      {{NAN, -INFINITY}, {0, nan, nan, nan}},
      {{hole, hole}, {}},
  };
  for (const Case& each : cases) {
    const TestFile file;
    WriteMinute(file.path(), each.values);
    const auto got = Sql(file.path())
                         .Reals(
                             "SELECT count, minimum, median, maximum FROM minutes "
                             "WHERE metric = 'compute_seconds' AND rank = 0");
    ASSERT_EQ(got.size(), each.wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_TRUE(got[i] == each.wanted[i] || (std::isnan(got[i]) && std::isnan(each.wanted[i])));
    }
  }
}

TEST(RetentionTest, ThinsWhatIsOldAndSaysSo) {
  const TestFile file;
  TestRun run(3);
  {
    auto writer = *Writer::Open(file.path(), {.full = std::chrono::minutes(5)});
    ASSERT_TRUE(WriteSeconds(writer, run, 20 * 60));
  }
  auto reader = *Reader::Open(file.path());
  const auto minutes = *reader.Minutes();
  ASSERT_EQ(minutes.size(), 20U);
  for (std::size_t i = 0; i < minutes.size(); ++i) {
    EXPECT_EQ(minutes[i].full, i >= 14) << i;
    EXPECT_EQ(minutes[i].call_end - minutes[i].first_call, 60U) << i;
  }
  Sql sql(file.path());
  EXPECT_EQ(sql.Number("SELECT count(*) FROM minutes WHERE rank = 2"), 19 * 4);
  EXPECT_EQ(sql.Number("SELECT count(DISTINCT minute) FROM minutes"), 19);
  // The reader goes from the job right to what is still there.
  EXPECT_EQ((**reader.NextEvent()).number, 0U);
  EXPECT_EQ((**reader.NextEvent()).number, minutes[14].first_event);
  ASSERT_TRUE(reader.SeekCall(minutes[14].first_call));
  EXPECT_EQ((**reader.NextCall()).number, minutes[14].first_call);
}

TEST(RetentionTest, KeepsDetailAroundIncidents) {
  const TestFile file;
  TestRun run(2);
  const Limits limits{.full = std::chrono::minutes(5), .around = std::chrono::minutes(1)};
  signal::Cause cause{.id = 1, .started = kStart + std::chrono::minutes(3)};
  for (int part = 0; part < 20; ++part) {
    // Another process each minute: what is to be kept is known from the file.
    auto writer = *Writer::Open(file.path(), limits);
    ASSERT_TRUE(WriteSeconds(writer, run, 60));
    if (part != 3 && part != 7) continue;
    cause.over = part == 7;
    ASSERT_TRUE(writer.Append({.causes = {&cause, 1}}, run.metrics));
  }
  auto reader = *Reader::Open(file.path());
  const auto minutes = *reader.Minutes();
  ASSERT_EQ(minutes.size(), 20U);
  for (std::size_t i = 0; i < minutes.size(); ++i) {
    EXPECT_EQ(minutes[i].full, (i >= 2 && i <= 8) || i >= 14) << i;
  }
}

TEST(RetentionTest, DropsTheOldestAndTheFileStopsGrowing) {
  const TestFile file;
  TestRun run(64);
  constexpr std::uint64_t kBytes = 640 << 10;
  auto writer = *Writer::Open(file.path(), {.full = std::chrono::minutes(3), .bytes = kBytes});
  std::uintmax_t most = 0;
  for (int minute = 0; minute < 60; ++minute) {
    ASSERT_TRUE(WriteSeconds(writer, run, 60));
    most = std::max(most, std::filesystem::file_size(file.path()));
  }
  EXPECT_LT(most, kBytes + kBytes / 4);
  EXPECT_GT(most, kBytes / 2);
  auto reader = *Reader::Open(file.path());
  const auto minutes = *reader.Minutes();
  ASSERT_GT(minutes.size(), 3U);
  ASSERT_LT(minutes.size(), 59U);
  EXPECT_EQ(Sql(file.path()).Number("SELECT count(DISTINCT minute) FROM minutes"),
            static_cast<std::int64_t>(minutes.size()) - 1);
  EXPECT_EQ(Sql(file.path()).Number("SELECT count(*) FROM ranks"), 64);
  // Less room for the next writer: the file shrinks.
  ASSERT_TRUE(writer.Close());
  auto smaller = *Writer::Open(file.path(), {.bytes = kBytes / 2});
  ASSERT_TRUE(WriteSeconds(smaller, run, 60));
  ASSERT_TRUE(smaller.Close());
  EXPECT_LT(std::filesystem::file_size(file.path()), kBytes / 2 + kBytes / 8);
}

TEST(RetentionTest, DropsByAge) {
  const TestFile file;
  TestRun run(2);
  signal::Finding finding{.at = kStart};
  signal::Cause cause{.over = true};
  cause.evidence.push_back({"f", 1, "t"});
  cause.culprit_hosts = {"h"};
  {
    auto writer = *Writer::Open(file.path(), {.age = std::chrono::minutes(10)});
    ASSERT_TRUE(writer.Append({.findings = {&finding, 1}, .causes = {&cause, 1}}, run.metrics));
    ASSERT_TRUE(WriteSeconds(writer, run, 30 * 60));
  }
  auto reader = *Reader::Open(file.path());
  EXPECT_EQ(reader.Minutes()->size(), 11U);
  EXPECT_TRUE(std::holds_alternative<signal::JobOpened>((**reader.NextEvent()).what));
  Sql sql(file.path());
  for (const char* table : {"finding_rows", "cause_rows", "host_rows", "evidence_rows"}) {
    EXPECT_EQ(sql.Number(std::string("SELECT count(*) FROM ") + table), 0) << table;
  }
  EXPECT_EQ(sql.Number("SELECT count(DISTINCT minute) FROM minutes"), 10);
}

}  // namespace
}  // namespace ringward::recording
