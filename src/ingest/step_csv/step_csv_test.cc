#include "ingest/step_csv/step_csv.h"

#include <gtest/gtest.h>

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
