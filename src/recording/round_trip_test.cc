#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "recording/file_system.h"
#include "recording/rank_ranges.h"
#include "recording/schema.h"
#include "recording/test_recording.h"
#include "recording/test_same.h"

namespace ringward::recording {
namespace {

std::vector<signal::Event> ReadEvents(Reader& reader) {
  std::vector<signal::Event> events;
  while (true) {
    auto event = reader.NextEvent();
    if (!event) ADD_FAILURE() << event.error().what();
    if (!event || !*event) return events;
    events.push_back(std::move(**event));
  }
}

void ExpectSame(const std::vector<signal::Event>& got, const std::vector<signal::Event>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_TRUE(Same(got[i], wanted[i])) << i;
}

/// One of every kind, with the values at the ends of their ranges.
std::vector<signal::Event> EveryKind() {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const signal::Time late(kTimeMax);
  signal::Frame frame{.step = -5, .steps = 7, .received = kStart, .expected_slow = true};
  frame.columns = {{signal::kKnownMetrics, {nan, -0.0F, signal::kMissing}},
                   {0, {INFINITY, -INFINITY, std::numeric_limits<float>::denorm_min()}}};
  const signal::Topology places({{"a b", -1, 7}, {"", 0, 0}, {"\xff\n", 2, 1}});
  std::vector<signal::Event> events;
  events.push_back({3, kStart, signal::JobOpened{"j'o\"b", places}});
  events.push_back({4, kStart, signal::Progress{0, -1, signal::Phase::kOther, UINT64_MAX, true}});
  events.push_back({5, kStart, signal::Progress{2, INT64_MAX, signal::Phase::kData, 0, false}});
  events.push_back({9, kStart, signal::Progress{1, 4, signal::Phase::kData, 8, false}});
  events.push_back({10, kStart, frame});
  events.push_back({11, kStart, signal::RankEnded{2, -3, 9}});
  events.push_back({12, kStart, signal::SourceLost{{2, 0, 1}}});
  events.push_back({13, kStart,
                    signal::LogLine{.kind = signal::LogLine::Kind::kStalled,
                                    .category = signal::Category::kProcessCrash,
                                    .ranks = {2, 0},
                                    .seconds = 10.0,
                                    .where = {"a log", UINT64_MAX >> 1U, "one\ntwo\n"}}});
  events.push_back({14, kStart, signal::LogLine{}});
  events.push_back({15, late, signal::SourceBack{{}}});
  events.push_back({16, late, signal::JobClosed{}});
  events.push_back({17, late, signal::JobOpened{"", signal::Topology()}});
  return events;
}

TEST(RoundTripTest, GivesBackEveryKindOfEvent) {
  const TestFile file;
  TestRun names(1);
  const auto wanted = EveryKind();
  auto writer = *Writer::Open(file.path());
  ASSERT_TRUE(writer.Append({.events = wanted}, names.metrics));
  EXPECT_EQ(writer.next_event(), 18U);
  auto reader = *Reader::Open(file.path());  // while it is being written
  ExpectSame(ReadEvents(reader), wanted);
  ASSERT_TRUE(writer.Close());
  auto closed = *Reader::Open(file.path());
  ExpectSame(ReadEvents(closed), wanted);
  EXPECT_EQ(closed.metrics().NameOf(signal::kKnownMetrics), "queue_length");
}

TEST(RoundTripTest, GivesBackARunInManyBatchesAndAfterReopening) {
  const TestFile file;
  TestRun run(5);
  std::vector<signal::Event> wanted;
  for (int part = 0; part < 3; ++part) {
    auto writer = *Writer::Open(file.path());
    EXPECT_EQ(writer.next_event(), run.number());
    for (int second = 0; second < 70; ++second) {
      const auto events = run.Second();
      ASSERT_TRUE(writer.Append({.events = events}, run.metrics));
      wanted.insert(wanted.end(), events.begin(), events.end());
    }
  }
  auto reader = *Reader::Open(file.path());
  ExpectSame(ReadEvents(reader), wanted);
  for (const std::uint64_t from : {0U, 1U, 9U, 300U, 1000U}) {
    ASSERT_TRUE(reader.SeekEvent(from));
    const auto first = wanted.begin() + static_cast<std::ptrdiff_t>(from);
    ExpectSame(ReadEvents(reader), {first, wanted.end()});
  }
  ASSERT_TRUE(reader.SeekEvent(1U << 30U));
  EXPECT_TRUE(ReadEvents(reader).empty());
}

TEST(RoundTripTest, ATableThatNumbersMetricsInAnotherOrderContinuesTheFile) {
  const TestFile file;
  std::vector<signal::Event> events;
  events.push_back({0, kStart, signal::JobOpened{"j", signal::Topology(1)}});
  for (int part = 0; part < 2; ++part) {
    signal::MetricTable metrics;
    signal::Frame frame{.step = part};
    for (const char* name : {part == 0 ? "a" : "b", part == 0 ? "b" : "a"}) {
      frame.columns.push_back({metrics.Add(name), {name[0] == 'a' ? 1.0F : 2.0F}});
    }
    events.push_back({1 + static_cast<std::uint64_t>(part), kStart, frame});
    auto writer = *Writer::Open(file.path());
    ASSERT_TRUE(writer.Append({.events = events}, metrics));
    events.clear();
  }
  auto reader = *Reader::Open(file.path());
  const auto got = ReadEvents(reader);
  ASSERT_EQ(got.size(), 3U);
  for (const std::size_t at : {1U, 2U}) {
    for (const signal::Column& column : std::get<signal::Frame>(got[at].what).columns) {
      EXPECT_EQ(column.values[0], reader.metrics().NameOf(column.metric) == "a" ? 1.0F : 2.0F);
    }
  }
}

TEST(RoundTripTest, GivesBackCallsAndTheirRules) {
  const TestFile file;
  const signal::MetricTable metrics;
  const std::vector<Call> calls = {
      {.number = 0, .now = kStart, .last_event = -1, .dropped = 0, .rules = "a = 1\n"},
      {.number = 1, .now = kStart, .last_event = 7, .dropped = UINT64_MAX},
      {.number = 5, .now = signal::Time(0), .last_event = 7, .dropped = 1, .rules = ""},
      {.number = 6, .now = kStart, .last_event = 9},
  };
  auto writer = *Writer::Open(file.path());
  ASSERT_TRUE(writer.Append({.calls = calls}, metrics));
  auto reader = *Reader::Open(file.path());
  for (const Call& call : calls) EXPECT_TRUE(Same(**reader.NextCall(), call)) << call.number;
  EXPECT_FALSE(*reader.NextCall());
  ASSERT_TRUE(reader.SeekCall(1));
  EXPECT_EQ((**reader.NextCall()).rules, "a = 1\n");
  ASSERT_TRUE(reader.SeekCall(6));
  EXPECT_EQ((**reader.NextCall()).rules, "");
}

// Retention thins calls, not rules: what follows is read with those in force.
TEST(RoundTripTest, RulesOutliveTheCallThatChangedThem) {
  const TestFile file;
  const std::vector<Call> calls = {
      {.number = 0, .now = kStart, .last_event = -1, .rules = "a = 1\n"},
      {.number = 1, .now = kStart, .last_event = -1, .rules = "a = 2\n"},
      {.number = 2, .now = kStart, .last_event = -1},
      {.number = 3, .now = kStart, .last_event = -1},
  };
  ASSERT_TRUE((*Writer::Open(file.path())).Append({.calls = calls}, signal::MetricTable()));
  auto database = *Database::Open(file.path(), "test", SQLITE_OPEN_READWRITE);
  ASSERT_TRUE(database.Run("DELETE FROM call_rows WHERE number = 1"));
  auto reader = *Reader::Open(file.path());
  EXPECT_EQ((**reader.NextCall()).rules, "a = 1\n");
  EXPECT_EQ((**reader.NextCall()).rules, "a = 2\n");
  EXPECT_FALSE((**reader.NextCall()).rules);
}

TEST(RoundTripTest, GivesBackFindingsAndCauses) {
  const TestFile file;
  signal::Finding finding{.id = UINT64_MAX,
                          .kind = signal::FindingKind::kRetransmits,
                          .detector = "cusum",
                          .ranks = {0, 1, 2, 9, 4},
                          .host = "h'1",
                          .stage = -1,
                          .phase = signal::Phase::kBackward,
                          .step = 12,
                          .since_step = -1,
                          .at = kStart,
                          .p_value = std::nan(""),
                          .effect = 1e300,
                          .elapsed_seconds = 2.5,
                          .lost_seconds = -INFINITY,
                          .over = true,
                          .evidence = std::string("nul\0 and \xff", 10)};
  signal::Cause cause{.id = 7, .category = signal::Category::kProcessCrash, .cause = "slow-rank"};
  cause.culprit_ranks = {6};
  for (int rank = 0; rank < 10'000; ++rank) cause.victim_ranks.push_back(rank);
  cause.culprit_hosts = {"a", "", "b"};
  cause.evidence = {{"f", UINT64_MAX, "line"}, {"", 0, ""}};
  cause.action = signal::Remedy::kRollback;
  cause.started = kStart;
  cause.speedup_without = 1.9;
  const std::vector<signal::Finding> findings = {finding, {}};
  const std::vector<signal::Cause> causes = {cause, {}};
  auto writer = *Writer::Open(file.path());
  ASSERT_TRUE(writer.Append({.findings = findings, .causes = causes}, {}));
  auto reader = *Reader::Open(file.path());
  for (const auto& each : findings) EXPECT_TRUE(Same(**reader.NextFinding(), each));
  for (const auto& each : causes) EXPECT_TRUE(Same(**reader.NextCause(), each));
  EXPECT_FALSE(*reader.NextFinding());
  EXPECT_FALSE(*reader.NextCause());
}

TEST(WriterTest, RefusesWhatAReaderWouldRefuseAndGoesOn) {
  struct Case {
    const char* why;
    signal::Event event;
  };
  signal::Frame narrow{.step = 2};
  narrow.columns = {{0, {1.0F}}};
  signal::Frame nameless{.step = 2};
  nameless.columns = {{99, {1.0F, 2.0F}}};
  const std::vector<Case> cases = {
      {"event 1: its number does not follow", {1, kStart, signal::JobClosed()}},
      {"event 2: its time is out of range", {2, signal::Time(-1), signal::JobClosed()}},
      {"event 2: its time goes back", {2, kStart - signal::Time(1), signal::JobClosed()}},
      {"number is too high", {std::uint64_t{1} << 51U, kStart, signal::JobClosed()}},
      {"event 2: no such rank", {2, kStart, signal::Progress{.rank = 2}}},
      {"event 2: no such rank", {2, kStart, signal::RankEnded{.rank = -1}}},
      {"event 2: no such rank", {2, kStart, signal::SourceLost{{0, 5}}}},
      {"event 2: no such rank", {2, kStart, signal::LogLine{.ranks = {5}}}},
      {"event 2: a log says no such thing", {2, kStart, signal::LogLine{.seconds = NAN}}},
      {"event 2: no file is called so", {2, kStart, signal::LogLine{.where = {"a\nb", 1, ""}}}},
      {"no such phase", {2, kStart, signal::Progress{.phase = static_cast<signal::Phase>(8)}}},
      {"its step does not follow", {2, kStart, signal::Frame{.step = 1}}},
      {"it sums no step", {2, kStart, signal::Frame{.step = 2, .steps = 0}}},
      {"not one value for each rank", {2, kStart, narrow}},
      {"a metric has no name", {2, kStart, nameless}},
  };
  const TestFile file;
  const signal::MetricTable metrics;
  auto writer = *Writer::Open(file.path());
  std::vector<signal::Event> begin;
  begin.push_back({0, kStart, signal::JobOpened{"j", signal::Topology(2)}});
  begin.push_back({1, kStart, signal::Frame{.step = 1}});
  ASSERT_TRUE(writer.Append({.events = begin}, metrics));
  for (const Case& each : cases) {
    const Status status = writer.Append({.events = {&each.event, 1}}, metrics);
    ASSERT_FALSE(status) << each.why;
    EXPECT_EQ(status.error().code(), Code::kInvalidInput);
    EXPECT_NE(status.error().what().find(each.why), std::string::npos) << status.error().what();
  }
  EXPECT_EQ(writer.dropped().events, cases.size());
  EXPECT_FALSE(writer.stopped());
  const signal::Event next{2, kStart, signal::JobClosed()};
  EXPECT_TRUE(writer.Append({.events = {&next, 1}}, metrics));
}

TEST(WriterTest, RefusesFilesOfOthers) {
  const TestFile file;
  std::ofstream(file.path()) << "a text that is longer than a hundred bytes, so that SQLite takes "
                                "a look at it and finds out that it is no database at all";
  const auto text = Writer::Open(file.path());
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().what(), file.path() + ": is no recording of Ringward");
  std::filesystem::remove(file.path());
  {
    auto other = *Database::Open(file.path(), "x", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    ASSERT_TRUE(other.Run("CREATE TABLE t(a)"));
  }
  EXPECT_EQ(Writer::Open(file.path()).error().what(),
            file.path() + ": is no recording of Ringward");
  EXPECT_EQ(Reader::Open(file.path()).error().what(),
            file.path() + ": is no recording of Ringward");
  EXPECT_EQ(Reader::Open("/nowhere/x.rwrec").error().code(), Code::kInvalidInput);
  EXPECT_EQ(Writer::Open("/nowhere/x.rwrec").error().code(), Code::kInvalidInput);
}

TEST(ReaderTest, RefusesANewerVersionAndTablesOfAnotherMaking) {
  const TestFile file;
  { auto writer = *Writer::Open(file.path()); }
  {
    auto database = *Database::Open(file.path(), "x", SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database.Run("PRAGMA user_version = 2"));
  }
  EXPECT_EQ(Reader::Open(file.path()).error().what(),
            file.path() + ": is a recording of version 2; this program reads up to 1");
  {
    auto database = *Database::Open(file.path(), "x", SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database.Run("PRAGMA user_version = 1"));
    ASSERT_TRUE(database.Run("DROP TABLE call_rows"));
    ASSERT_TRUE(database.Run("CREATE VIEW call_rows AS SELECT 1 AS number"));
  }
  EXPECT_EQ(Reader::Open(file.path()).error().what(),
            file.path() + ": table call_rows is not that of a recording of version 1");
}

TEST(ReaderTest, LeavesNothingBehindAndReadsWhereNothingMayBeWritten) {
  const TestFile file;
  TestRun run(2);
  {
    auto writer = *Writer::Open(file.path());
    ASSERT_TRUE(WriteSeconds(writer, run, 3));
    ASSERT_TRUE(writer.Close());
  }
  EXPECT_FALSE(std::filesystem::exists(file.path() + "-wal"));
  std::filesystem::permissions(
      file.folder(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  {
    auto reader = *Reader::Open(file.path());
    EXPECT_EQ(ReadEvents(reader).size(), run.number());
  }
  const std::filesystem::directory_iterator files(file.folder());
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  std::filesystem::permissions(file.folder(), std::filesystem::perms::owner_all);
}

TEST(FileSystemTest, KnowsNetworksByTheirNumbers) {
  EXPECT_STREQ(NetworkFileSystem(0x6969), "NFS");
  EXPECT_STREQ(NetworkFileSystem(0xFF534D42), "CIFS");
  EXPECT_STREQ(NetworkFileSystem(0x0BD00BD0), "Lustre");
  EXPECT_EQ(NetworkFileSystem(0xEF53), nullptr);      // ext4
  EXPECT_EQ(NetworkFileSystem(0x01021994), nullptr);  // tmpfs
  const TestFile file;
  EXPECT_TRUE(CheckLocal(file.path()));
}

TEST(RankRangesTest, KeepAnyOrder) {
  const std::vector<std::vector<std::int32_t>> lists = {
      {}, {0}, {0, 1, 2, 7}, {3, 2, 1}, {5, 5, 6}, {INT32_MAX}, {INT32_MAX, 0}};
  for (const auto& ranks : lists) {
    std::vector<std::int32_t> again;
    EXPECT_TRUE(RanksOf(RangesOf(ranks), again)) << RangesOf(ranks);
    EXPECT_EQ(again, ranks);
  }
  EXPECT_EQ(RangesOf(lists[2]), "[[0,2],[7,7]]");
  std::vector<std::int32_t> ranks;
  for (const char* bad : {"", "[", "[]x", "[[1,0]]", "[[-1,0]]", "[[0,1]", "[[0,1],]", "[[0,1]]]",
                          "[[0,99999999999]]", "[[0,2000000000]]", "[[0,900000],[0,900000]]"}) {
    EXPECT_FALSE(RanksOf(bad, ranks)) << bad;
  }
}

}  // namespace
}  // namespace ringward::recording
