// Files that nobody should trust: every one ends in events or in one line.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "recording/schema.h"
#include "recording/test_recording.h"
#include "recording/test_use.h"

namespace ringward::recording {
namespace {

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A small sound recording with something in every table.
std::string SoundBytes() {
  const TestFile file;
  TestRun run(6);
  auto writer = *Writer::Open(file.path(), {.full = std::chrono::minutes(1)});
  RINGWARD_CHECK(WriteSeconds(writer, run, 200));
  signal::Finding finding{.id = 1, .detector = "cusum", .ranks = {1, 2}, .at = run.now()};
  signal::Cause cause{.id = 1, .culprit_ranks = {3}, .culprit_hosts = {"n"}};
  cause.evidence = {{"f", 3, "t"}};
  const Call call{.number = 900, .now = run.now(), .rules = "a = 1"};
  const Batch batch{.calls = {&call, 1}, .findings = {&finding, 1}, .causes = {&cause, 1}};
  RINGWARD_CHECK(writer.Append(batch, run.metrics));
  RINGWARD_CHECK(writer.Close());
  return BytesOf(file.path());
}

struct Damage {
  const char* sql;
  const char* line;  ///< after the file's name
};

TEST(DamageTest, NamesTheRow) {
  const std::vector<Damage> cases = {
      {"UPDATE sample_rows SET data = zeroblob(3) WHERE key = (SELECT min(key) FROM sample_rows)",
       ": sample_rows row 3469312: data is damaged"},
      {"UPDATE sample_rows SET data = substr(data, 1, length(data) - 1)",
       ": sample_rows row 3469312: data is damaged"},
      {"UPDATE sample_rows SET count = 7",
       ": sample_rows row 3469312: count is not the number of ranks"},
      {"UPDATE sample_rows SET count = 1 << 40",
       ": sample_rows row 3469312: count is out of range"},
      {"UPDATE sample_rows SET metric = 77", ": metric 77 of sample_rows is not in metric_rows"},
      {"UPDATE event_rows SET kind = 9 WHERE kind = 4",
       ": event_rows row 841: kind is not one of this version"},
      {"UPDATE event_rows SET kind = 8 WHERE kind = 4",
       ": event_rows row 841: exit_status is no integer"},
      {"UPDATE event_rows SET data = x'0000' WHERE kind = 4",
       ": event_rows row 841: data is damaged"},
      {"UPDATE event_rows SET count = 65537 WHERE kind = 4",
       ": event_rows row 841: count is out of range"},
      {"UPDATE event_rows SET step = NULL WHERE kind = 3",
       ": event_rows row 847: step is no integer"},
      {"UPDATE event_rows SET step = 1 WHERE kind = 3",
       ": event_rows row 854: its step does not follow"},
      {"UPDATE event_rows SET received = 1 WHERE kind = 3",
       ": event_rows row 847: its time goes back"},
      {"DELETE FROM rank_rows WHERE rank = 2",
       ": rank_rows row 3: ranks are not 0, 1, 2 and so on"},
      {"UPDATE rank_rows SET stage = 1 << 40", ": rank_rows row 0: stage is out of range"},
      {"DELETE FROM rank_rows", ": event_rows row 841: no such rank"},
      {"UPDATE call_rows SET last_event = -2", ": call_rows row 120: last_event is out of range"},
      {"UPDATE finding_rows SET kind = 'rank'",
       ": finding_rows row 1: kind is not a name of this version"},
      {"UPDATE finding_rows SET ranks = '[[0,99999999]]'",
       ": finding_rows row 1: ranks holds no ranges of ranks"},
      {"UPDATE cause_rows SET over = 2", ": cause_rows row 1: over is out of range"},
      {"UPDATE host_rows SET position = -1", ": host_rows row 1: position is out of range"},
      {"UPDATE span_rows SET state = 3", ": span_rows row 29460120: state is out of range"},
  };
  const std::string sound = SoundBytes();
  for (const Damage& each : cases) {
    SCOPED_TRACE(each.sql);
    const TestFile file;
    std::ofstream(file.path(), std::ios::binary) << sound;
    {
      auto database = *Database::Open(file.path(), "x", SQLITE_OPEN_READWRITE);
      ASSERT_TRUE(database.Run(each.sql));
    }
    auto reader = Reader::Open(file.path());
    ASSERT_TRUE(reader) << reader.error().what();
    const auto errors = UseReader(*reader);
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0], file.path() + each.line);
  }
}

TEST(DamageTest, RandomDamageEndsInALine) {
  const std::string sound = SoundBytes();
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    std::string bytes = sound;
    const std::uint64_t hits = 1 + rng.Below(seed % 2 == 0 ? 3 : 300);
    for (std::uint64_t i = 0; i < hits; ++i) {
      bytes[rng.Below(bytes.size())] = static_cast<char>(rng());
    }
    if (seed % 5 == 0) bytes.resize(rng.Below(bytes.size()));
    auto reader = Reader::FromMemory(std::move(bytes), "hostile.rwrec");
    if (!reader) {
      CheckLine(reader.error());
      ++refused;
      continue;
    }
    refused += UseReader(*reader).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 100);
  EXPECT_LT(refused, 400);
}

TEST(DamageTest, CutFilesAndEmptyOnesAreRefused) {
  const std::string sound = SoundBytes();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{99}, std::size_t{4096}, sound.size() / 2}) {
    const TestFile file;
    std::ofstream(file.path(), std::ios::binary) << sound.substr(0, size);
    auto reader = Reader::Open(file.path());
    if (reader) {
      EXPECT_FALSE(UseReader(*reader).empty()) << size;
    } else {
      CheckLine(reader.error());
    }
  }
}

}  // namespace
}  // namespace ringward::recording
