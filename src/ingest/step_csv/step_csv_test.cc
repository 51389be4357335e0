#include "ingest/step_csv/step_csv.h"

#include <gtest/gtest.h>

#include "ingest/step_csv/clock_text.h"
#include "ingest/step_csv/columns.h"

namespace ringward::ingest {
namespace {

using signal::Known;

Result<bool> Add(StepTable& table, std::string text, std::string name, InputReport& report) {
  return table.Add(io::FromMemory(std::move(text), std::move(name)), report);
}

TEST(ColumnsTest, AreToldByName) {
  struct Case {
    const char* name;
    StepColumn::Role role;
    Known metric;
    double to_unit;
    bool has_unit;
  };
  const Case cases[] = {
      {"step", StepColumn::Role::kStep, {}, 1.0, true},
      {"Worker", StepColumn::Role::kRank, {}, 1.0, true},
      {"timestamp", StepColumn::Role::kTimestamp, {}, 1.0, true},
      {"step_seconds", StepColumn::Role::kMetric, Known::kStepTime, 1.0, true},
      {"data_ms", StepColumn::Role::kMetric, Known::kDataTime, 1e-3, true},
      {"sync_us", StepColumn::Role::kMetric, Known::kWaitTime, 1e-6, true},
      {"batch_time_norm", StepColumn::Role::kMetric, Known::kStepTime, 1.0, false},
      {"grad_norm", StepColumn::Role::kMetric, Known::kReducedNorm, 1.0, true},
      {"gpu", StepColumn::Role::kOther, {}, 1.0, true},
      {"globalStep", StepColumn::Role::kStep, {}, 1.0, true},
      {"#step", StepColumn::Role::kStep, {}, 1.0, true},
      {"Global Rank", StepColumn::Role::kRank, {}, 1.0, true},
      {"proc", StepColumn::Role::kRank, {}, 1.0, true},
      {"Hostname", StepColumn::Role::kHost, {}, 1.0, true},
      {"local_rank", StepColumn::Role::kLocalRank, {}, 1.0, true},
      {"ts", StepColumn::Role::kTimestamp, {}, 0.0, true},
      {"@timestamp", StepColumn::Role::kTimestamp, {}, 0.0, true},
      {"timestamp_ms", StepColumn::Role::kTimestamp, {}, 1e-3, true},
      {"epoch_ns", StepColumn::Role::kTimestamp, {}, 1e-9, true},
      {"epoch", StepColumn::Role::kOther, {}, 1.0, true},
      {"time_us", StepColumn::Role::kTimestamp, {}, 1e-6, true},
      {"Step time [ms]", StepColumn::Role::kMetric, Known::kStepTime, 1e-3, true},
      {"stepTimeMs", StepColumn::Role::kMetric, Known::kStepTime, 1e-3, true},
      {"duration", StepColumn::Role::kMetric, Known::kStepTime, 1.0, false},
      {"duration_s", StepColumn::Role::kMetric, Known::kStepTime, 1.0, true},
      {"iter_time_in_us", StepColumn::Role::kMetric, Known::kStepTime, 1e-6, true},
      {"ms_per_iteration", StepColumn::Role::kMetric, Known::kStepTime, 1e-3, true},
      {"dataloader_seconds", StepColumn::Role::kMetric, Known::kDataTime, 1.0, true},
      {"comm_time (usec)", StepColumn::Role::kMetric, Known::kWaitTime, 1e-6, true},
      {"fwd_ms", StepColumn::Role::kMetric, Known::kComputeTime, 1e-3, true},
      {"steps_per_second", StepColumn::Role::kOther, {}, 1.0, true},
      {"s", StepColumn::Role::kOther, {}, 1.0, true},
      {"", StepColumn::Role::kOther, {}, 1.0, true},
  };
  for (const Case& c : cases) {
    const StepColumn column = RecogniseColumn(c.name);
    EXPECT_EQ(column.role, c.role) << c.name;
    if (c.role != StepColumn::Role::kMetric) continue;
    EXPECT_EQ(column.metric, c.metric) << c.name;
    EXPECT_EQ(column.to_unit, c.to_unit) << c.name;
    EXPECT_EQ(column.has_unit, c.has_unit) << c.name;
  }
}

TEST(ColumnsTest, RanksAreFoundInFileNames) {
  const std::pair<const char*, int> cases[] = {
      {"rank3.csv", 3},           {"a/b/rank_12.csv", 12},
      {"worker-7.csv.gz", 7},     {"slot_127.0.0.1_2.csv", 2},
      {"run5_rank0.csv", 0},      {"job.csv", -1},
      {"rank99999999999.csv", -1}};
  for (const auto& [name, rank] : cases) EXPECT_EQ(RankInName(name).value_or(-1), rank) << name;
}

TEST(StepTableTest, JoinsFilesOfRanksIntoFrames) {
  StepTable table;
  InputReport report;
  ASSERT_TRUE(*Add(table, "step,timestamp,step_ms,loss\n0,100.5,10,1\n1,100.6,20,nan\n",
                   "rank0.csv", report));
  ASSERT_TRUE(
      *Add(table, "step,timestamp,step_ms,loss\n1,100.7,30,2\n2,100.8,40,", "rank1.csv", report));
  const auto events = table.Events();
  ASSERT_EQ(events.size(), 4U);
  const auto& frame = std::get<signal::Frame>(events[2].what);
  EXPECT_EQ(frame.step, 1);
  EXPECT_EQ(frame.received, signal::FromSeconds(100.7));
  EXPECT_FLOAT_EQ(frame.Find(Known::kStepTime)->values[1], 0.03F);
  EXPECT_TRUE(std::isnan(frame.Find(Known::kLoss)->values[0]));
  EXPECT_FALSE(signal::IsMissing(frame.Find(Known::kLoss)->values[0]));
  EXPECT_TRUE(
      signal::IsMissing(std::get<signal::Frame>(events[1].what).Find(Known::kLoss)->values[1]));
  EXPECT_EQ(table.PlaceOf(1, 2).file, "rank1.csv");
  EXPECT_EQ(table.PlaceOf(1, 2).line, 3U);
  EXPECT_EQ(table.PlaceOf(0, 2).line, 0U);
}

TEST(StepTableTest, OneFileWithAWorkerColumnAndNoUnits) {
  StepTable table;
  InputReport report;
  ASSERT_TRUE(*Add(table,
                   ",worker,gpu,batch_time_norm\n0,0,25,400\n1,1,25,500\n2,0,25,400\n3,1,25,400\n",
                   "steps.csv", report));
  EXPECT_EQ(table.world(), 2U);
  const auto events = table.Events();
  ASSERT_EQ(events.size(), 3U);
  EXPECT_FLOAT_EQ(std::get<signal::Frame>(events[1].what).Find(Known::kStepTime)->values[1], 1.25F);
}

TEST(ClockTextTest, ReadsIsoAndWhatIsCloseToIt) {
  constexpr double kTen = 1767607200.0;  // 2026-01-05T10:00:00Z
  const std::pair<const char*, double> cases[] = {
      {"2026-01-05T10:00:00Z", kTen},
      {"2026-01-05T10:00:00", kTen},
      {"2026-01-05 10:00", kTen},
      {"2026/01/05 10:00:00.25", kTen + 0.25},
      {"2026-01-05 10:00:00,125", kTen + 0.125},
      {"2026-01-05T12:30:00+02:30", kTen},
      {"2026-01-05T02:00:00.5-0800", kTen + 0.5},
      {"2026-01-05 10:00:00 UTC", kTen},
      {"2026-01-05", kTen - 36000.0},
      {"2026-02-30", -1.0},
      {"2026-01-05T24:00:00Z", -1.0},
      {"2026-01-05T10:00:00+25:00", -1.0},
      {"2026-01-05T10:00:00Zulu", -1.0},
      {"10:00:00", -1.0},
      {"05.01.2026", -1.0},
      {"", -1.0},
  };
  for (const auto& [text, seconds] : cases)
    EXPECT_DOUBLE_EQ(ParseClock(text).value_or(-1.0), seconds) << text;
}

/// Two ranks, two steps of 0.5 s and 0.25 s, the second received at 2026-01-05T10:00:01Z.
TEST(StepTableTest, ReadsTablesAsPeopleWriteThem) {
  const std::pair<const char*, const char*> cases[] = {
      {"seconds",
       "rank,step,timestamp,step_s\n0,0,1767607200,.5\n1,0,1767607200,.5\n"
       "0,1,1767607201,.25\n1,1,1767607201,.25\n"},
      {"milliseconds, semicolons, CR LF",
       "worker;iteration;ts;iter_ms\r\n0;0;1767607200000;500\r\n1;0;1767607200000;500\r\n"
       "0;1;1767607201000;250\r\n1;1;1767607201000;250\r\n"},
      {"microseconds, tabs, a byte-order mark",
       "\xef\xbb\xbfproc\titer\ttime\tduration_us\n0\t0\t1767607200000000\t500000\n"
       "1\t0\t1767607200000000\t500000\n0\t1\t1767607201000000\t250000\n"
       "1\t1\t1767607201000000\t250000\n"},
      {"nanoseconds, texts as ranks",
       "process,global_step,timestamp,stepTimeMs\nworker-0,0,1767607200000000000,500\n"
       "worker-1,0,1767607200000000000,500\nworker-0,1,1767607201000000000,250\n"
       "worker-1,1,1767607201000000000,250\n"},
      {"a unit in the name",
       "rank,step,time_ms,step_s\n0.0,0,1767607200000,.5\n"
       "1.0,0,1767607200000,.5\n0.0,1,1767607201000,.25\n"
       "1.0,1,1767607201000,.25\n"},
      {"ISO, the length of the step as time_ms, hosts",
       "datetime,host,step,time_ms\n2026-01-05T10:00:00Z,a,0,500\n2026-01-05T10:00:00Z,b,0,500\n"
       "2026-01-05 12:00:01+02:00,a,1,250\n2026-01-05T10:00:01,b,1,250\n"},
      {"processes of one host",
       "timestamp|node|local_rank|step|Step Time (s)\n1767607200|n|0|0|.5\n1767607200|n|1|0|.5\n"
       "1767607201.0|n|0|1|.25\n1.767607201e9|n|1|1|.25\n"},
      {"parts, quotes, cells without a value",
       "\"rank\",\"step\",\"timestamp\",\"step_s\",\"forward_s\",\"backward_s\",\"loss\"\n"
       "0,0,1767607200,.5,.1,.2,None\n1,0,1767607200,.5,.1,.2,\n0,1,1767607201,.25,.1,.2,-\n"
       "1,1,1767607201,.25,.1,.2,N/A\n"},
  };
  for (const auto& [title, text] : cases) {
    SCOPED_TRACE(title);
    StepTable table;
    InputReport report;
    ASSERT_TRUE(*Add(table, text, "steps.csv", report));
    EXPECT_EQ(report.first_malformed + report.note, "");
    ASSERT_EQ(table.world(), 2U);
    const auto events = table.Events();
    ASSERT_EQ(events.size(), 3U);
    for (const std::size_t step : {0U, 1U}) {
      const auto& frame = std::get<signal::Frame>(events[step + 1].what);
      ASSERT_NE(frame.Find(Known::kStepTime), nullptr);
      EXPECT_EQ(frame.step, static_cast<std::int64_t>(step));
      EXPECT_NEAR(signal::Seconds(frame.received), 1767607200.0 + static_cast<double>(step), 1e-3);
      for (const float seconds : frame.Find(Known::kStepTime)->values)
        EXPECT_FLOAT_EQ(seconds, step == 0 ? 0.5F : 0.25F);
      if (const auto* compute = frame.Find(Known::kComputeTime)) {
        EXPECT_FLOAT_EQ(compute->values[0], 0.3F);
      }
    }
  }
}

TEST(StepTableTest, SaysWhatIsWrongWithTheFirstLine) {
  struct Case {
    const char* text;
    std::string malformed;
    std::string note;
    std::uint64_t used;
  };
  const Case cases[] = {
      {"rank;step;step_s\n0;0;0,5\n1;0;0,5\n",
       "2: column \"step_s\": \"0,5\" has a decimal comma, where a point is expected", "", 0},
      {"rank,step,step_s\n0,0,1\n1,0,fast\n", "3: column \"step_s\": \"fast\" is no number", "", 1},
      {"rank,step,step_s\n0,0\n", "2: 2 fields where 3 are expected", "", 0},
      {"rank,step,step_s\nmaster,0,1\n-1,0,1\n", "2: column \"rank\": \"master\" is no rank", "",
       0},
      {"rank,step,timestamp_s,step_s\n0,0,1767607200000,1\n",
       "2: column \"timestamp_s\": no Unix time in the unit of the others", "", 0},
      {"rank,step,timestamp,step_s\n0,0,5 Jan 10:00,1\n", "",
       "column \"timestamp\": \"5 Jan 10:00\" is no time that is known (Unix or ISO 8601); steps "
       "are "
       "added up instead",
       1},
  };
  for (const Case& c : cases) {
    StepTable table;
    InputReport report;
    ASSERT_TRUE(*Add(table, c.text, "steps.csv", report));
    EXPECT_EQ(report.first_malformed, c.malformed);
    EXPECT_EQ(report.note, c.note);
    EXPECT_EQ(report.lines_used, c.used) << c.text;
  }
}

TEST(StepTableTest, CountsWhatItCannotRead) {
  StepTable table;
  InputReport report;
  ASSERT_TRUE(*Add(table, "step,step_seconds\n0,1\nx,1\n1\n1,1\n1,2\n2,0.", "rank0.csv", report));
  EXPECT_EQ(report.lines_used, 3U);
  EXPECT_EQ(report.lines_malformed, 2U);
  EXPECT_EQ(report.lines_other, 1U);
}

TEST(StepTableTest, ProcessNumbersAreNoRanks) {
  const std::pair<const char*, bool> cases[] = {
      {"rank,step_s\n0,1\n1,1\n", true},
      {"rank,step_s\n7,1\n1000,1\n", true},
      {"process,step_s\n31337,1\n31338,1\n31339,1\n", false},
  };
  for (const auto& [text, good] : cases) {
    StepTable table;
    InputReport report;
    ASSERT_TRUE(*Add(table, text, "steps.csv", report));
    const Status checked = table.CheckRanks();
    EXPECT_EQ(static_cast<bool>(checked), good) << text;
    if (!checked) {
      EXPECT_EQ(checked.error().what(),
                std::string("steps.csv:4: rank 31339 in a job of which 3 ranks report: ranks count "
                            "from 0"));
    }
  }
}

TEST(StepTableTest, TimesStayWithin64Bits) {
  StepTable table;
  InputReport report;
  ASSERT_TRUE(*Add(table,
                   "step,timestamp,step_s\n0,99999999999,1\n1,3.9e9,1\n2,,9e7\n3,,9e7\n"
                   "4,,3e38\n",
                   "rank0.csv", report));
  EXPECT_EQ(report.lines_malformed, 1U);
  signal::Time last{};
  for (const signal::Event& event : table.Events()) {
    EXPECT_GE(event.received, last);
    last = event.received;
  }
  EXPECT_LE(signal::Seconds(last), 4e9);
}

TEST(StepTableTest, LeavesOtherTablesAlone) {
  for (const auto& [text, name] :
       {std::pair{"a,b\n1,2\n", "rank0.csv"}, std::pair{"step,loss\n1,2\n", "table.csv"},
        std::pair{"", "rank0.csv"}}) {
    StepTable table;
    InputReport report;
    EXPECT_FALSE(*Add(table, text, name, report)) << name;
    EXPECT_TRUE(table.empty());
  }
}

}  // namespace
}  // namespace ringward::ingest
