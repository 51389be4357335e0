#include "learn/simulate/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace ringward::learn {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A table read back: cells by row, the header apart.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  SimulateTableSummary summary;

  std::size_t Column(const std::string& name) const {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  }
  const std::string& Cell(std::size_t row, const std::string& name) const {
    return rows[row][Column(name)];
  }
};

std::vector<std::string> SplitAtCommas(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

std::string Text(const SimulateTableOptions& options) {
  std::string text;
  const auto summary = SimulateTable(options, [&text](std::string_view lines) {
    text += lines;
    return Ok();
  });
  EXPECT_TRUE(summary) << summary.error().what();
  return text;
}

Table Make(const SimulateTableOptions& options) {
  Table table;
  std::string text;
  auto summary = SimulateTable(options, [&text](std::string_view lines) {
    EXPECT_EQ(lines.back(), '\n');
    text += lines;
    return Ok();
  });
  EXPECT_TRUE(summary) << summary.error().what();
  table.summary = *std::move(summary);
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  table.header = SplitAtCommas(line);
  while (std::getline(lines, line)) table.rows.push_back(SplitAtCommas(line));
  return table;
}

// Changing these lines changes what every seed stands for: say so in the changelog.
TEST(SimulateTableTest, FirstLinesOfASeedStayWhatTheyAre) {
  EXPECT_EQ(Text({.rows = 2, .sensors = 18, .seed = 7}),
            "timestamp,flow_m3h,inflow_m3h,tank_level_m,suction_pressure_bar,"
            "discharge_pressure_bar,pump_a_speed_rpm,pump_b_speed_rpm,pump_a_current_a,"
            "pump_b_current_a,motor_a_temp_c,motor_b_temp_c,pump_a_vibration_mm_s,"
            "pump_b_vibration_mm_s,power_kw,voltage_v,ambient_temp_c,aux_01,aux_02,mode,"
            "label,kind,faulty_sensor\n"
            "2026-01-05T00:00:00Z,118.5,109.5,2.999,0.451,4.65,1202,1014,26.60,18.73,40.2,"
            "39.3,2.12,1.46,26.97,397.7,10.5,0.103,0.642,normal,0,normal,none\n"
            "2026-01-05T00:05:00Z,121.3,108.0,3.000,0.468,4.66,1206,1017,27.03,18.67,40.5,"
            "38.8,2.14,1.38,26.72,397.2,10.9,0.305,0.645,normal,0,normal,none\n");
}

TEST(SimulateTableTest, RepeatsForASeedAndDiffersForAnother) {
  EXPECT_EQ(Text({.rows = 500, .seed = 1}), Text({.rows = 500, .seed = 1}));
  EXPECT_NE(Text({.rows = 500, .seed = 1}), Text({.rows = 500, .seed = 2}));
}

TEST(SimulateTableTest, HasTheRowsColumnsAndCountsItPromises) {
  const Table table = Make({.rows = 6'000, .sensors = 20, .anomalies = 0.05, .seed = 3});
  EXPECT_EQ(table.rows.size(), 6'000U);
  EXPECT_EQ(table.header, table.summary.columns);
  EXPECT_EQ(table.header.size(), 1U + 20U + 4U);
  std::map<std::string, std::uint64_t> kinds;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    ASSERT_EQ(table.rows[row].size(), table.header.size());
    const bool normal = table.Cell(row, "label") == "0";
    ++kinds[table.Cell(row, "kind")];
    EXPECT_EQ(table.Cell(row, "kind") == "normal", normal);
    EXPECT_EQ(table.Cell(row, "faulty_sensor") == "none", normal);
    EXPECT_TRUE(normal || table.Column(table.Cell(row, "faulty_sensor")) < table.header.size());
  }
  EXPECT_EQ(table.summary.anomalous_rows, 300U);
  EXPECT_EQ(kinds["normal"], 5'700U);
  for (std::size_t kind = 0; kind < kFaultKinds; ++kind) {
    EXPECT_EQ(kinds[NameOf(static_cast<FaultKind>(kind))], 50U);
    EXPECT_EQ(table.summary.rows_of_kind[kind], 50U);
    EXPECT_GE(table.summary.events_of_kind[kind], 1U);
  }
}

TEST(SimulateTableTest, WithoutAnomaliesItIsTheCleanTwin) {
  const Table faulty = Make({.rows = 3'000, .anomalies = 0.1, .seed = 5});
  const Table clean = Make({.rows = 3'000, .anomalies = 0.0, .seed = 5});
  EXPECT_EQ(clean.summary.anomalous_rows, 0U);
  std::size_t differences = 0;
  for (std::size_t row = 0; row < clean.rows.size(); ++row) {
    for (std::size_t column = 0; column + 3 < clean.header.size(); ++column) {
      if (clean.rows[row][column] == faulty.rows[row][column]) continue;
      ++differences;
      EXPECT_EQ(clean.header[column], faulty.Cell(row, "faulty_sensor")) << "row " << row;
    }
  }
  EXPECT_GT(differences, 200U);
}

TEST(SimulateTableTest, PlantsOnlyTheKindsAskedFor) {
  const Table table = Make({.rows = 2'000,
                            .anomalies = 0.1,
                            .kinds = {FaultKind::kStuckSensor, FaultKind::kStuckSensor},
                            .missing = 0.0});
  EXPECT_EQ(table.summary.rows_of_kind[static_cast<std::size_t>(FaultKind::kStuckSensor)], 200U);
  for (std::size_t row = 1; row < table.rows.size(); ++row) {
    const std::string& sensor = table.Cell(row, "faulty_sensor");
    if (sensor == "none" || sensor != table.Cell(row - 1, "faulty_sensor")) continue;
    EXPECT_EQ(table.Cell(row, sensor), table.Cell(row - 1, sensor)) << "row " << row;
  }
}

/// Mean and standard deviation of a column's cells that are not empty.
std::pair<double, double> Moments(const Table& table, std::size_t column) {
  double sum = 0.0;
  double squares = 0.0;
  double count = 0.0;
  for (const auto& row : table.rows) {
    if (row[column].empty()) continue;
    const double value = std::stod(row[column]);
    sum += value;
    squares += value * value;
    count += 1.0;
  }
  const double mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean)};
}

// Fault sizes are multiples of these figures.
TEST(SimulateTableTest, SensorsHaveTheMomentsTheyDeclare) {
  const Table table = Make({.rows = 16'000, .anomalies = 0.0, .seed = 2});
  const std::vector<Sensor> sensors = MakeSensors(kStationSensors);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    SCOPED_TRACE(sensors[i].name);
    const auto [mean, deviation] = Moments(table, i + 1);
    EXPECT_NEAR(mean, sensors[i].mean, 0.3 * sensors[i].deviation);
    EXPECT_NEAR(deviation / sensors[i].deviation, 1.0, 0.2);
  }
}

TEST(SimulateTableTest, LeavesTheShareOfCellsEmptyThatWasAskedFor) {
  for (const double share : {0.0, 0.01, 0.5}) {
    const Table table = Make({.rows = 5'000, .missing = share, .seed = 9});
    double empty = 0.0;
    for (const auto& row : table.rows) {
      empty += static_cast<double>(std::count(row.begin(), row.end(), ""));
      EXPECT_NE(row.back(), "");
    }
    const double cells = 5'000.0 * 16.0;
    EXPECT_NEAR(empty / cells, share, 5 * std::sqrt(share * (1 - share) / cells));
  }
}

/// AUROC of the largest distance from a sensor's mean, in its deviations: the best that limits on
/// single columns can do.
double SingleColumnAuroc(const Table& table, const std::string& kind) {
  const std::vector<Sensor> sensors = MakeSensors(kStationSensors);
  std::vector<double> normal;
  std::vector<double> faulty;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    double farthest = 0.0;
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const double distance = std::stod(table.rows[row][i + 1]) - sensors[i].mean;
      farthest = std::max(farthest, std::abs(distance) / sensors[i].deviation);
    }
    const std::string& found = table.Cell(row, "kind");
    if (found == "normal") normal.push_back(farthest);
    if (found == kind) faulty.push_back(farthest);
  }
  std::sort(normal.begin(), normal.end());
  double wins = 0.0;
  for (const double value : faulty) {
    wins +=
        static_cast<double>(std::lower_bound(normal.begin(), normal.end(), value) - normal.begin());
  }
  return wins / static_cast<double>(normal.size() * faulty.size());
}

TEST(SimulateTableTest, OnlySpikesShowInSingleColumns) {
  const Table table = Make({.rows = 20'000, .anomalies = 0.1, .missing = 0.0, .seed = 4});
  EXPECT_GT(SingleColumnAuroc(table, "spike"), 0.9);
  EXPECT_LT(SingleColumnAuroc(table, "correlation-break"), 0.75);
  EXPECT_LT(SingleColumnAuroc(table, "stuck-sensor"), 0.75);
  EXPECT_LT(SingleColumnAuroc(table, "noise-burst"), 0.75);
}

// Half of all rows at fault, single rows, long steps: nothing breaks and no row is lost.
TEST(SimulateTableTest, StandsTheEndsOfItsRanges) {
  const SimulateTableOptions cases[] = {
      {.rows = 1, .anomalies = 0.5},
      {.rows = 1, .anomalies = 0.0, .missing = 0.5},
      {.rows = 50, .sensors = 1000, .anomalies = 0.5},
      {.rows = 400, .sensors = 4, .anomalies = 0.5, .interval = 86'400},
      {.rows = 400, .interval = 1},
      {.rows = 2, .start = 253'402'300'799 - 300}};
  for (const SimulateTableOptions& options : cases) {
    const Table table = Make(options);
    EXPECT_EQ(table.rows.size(), options.rows);
    for (const auto& row : table.rows) {
      for (std::size_t i = 1; i + 4 < row.size(); ++i) {
        EXPECT_TRUE(row[i].empty() || std::isfinite(std::stod(row[i]))) << row[i];
      }
    }
  }
}

TEST(SimulateTableTest, RefusesOptionsOutOfRange) {
  const std::pair<SimulateTableOptions, const char*> cases[] = {
      {{.rows = 0}, "rows is 0, should be in 1 .. 1000000000"},
      {{.sensors = 3}, "sensors is 3"},
      {{.sensors = 1001}, "sensors is 1001"},
      {{.anomalies = 0.51}, "anomalies is 0.51"},
      {{.anomalies = std::nan("")}, "anomalies is nan"},
      {{.missing = -0.1}, "missing is -0.1"},
      {{.interval = 0}, "interval is 0"},
      {{.rows = 2, .start = 253'402'300'799}, "start is 253402300799"}};
  for (const auto& [options, message] : cases) {
    const auto summary = SimulateTable(options, [](std::string_view) { return Ok(); });
    ASSERT_FALSE(summary);
    EXPECT_EQ(summary.error().code(), Code::kInvalidInput);
    EXPECT_THAT(summary.error().what(), HasSubstr(message));
  }
}

TEST(SimulateTableTest, EndsWithTheSinksError) {
  int calls = 0;
  const auto summary = SimulateTable({.rows = 100'000}, [&calls](std::string_view) -> Status {
    if (++calls == 2) return Error(Code::kResource, "disk full");
    return Ok();
  });
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().what(), "disk full");
  EXPECT_EQ(calls, 2);
}

TEST(UtcTest, ReadsWhatItWrites) {
  const std::pair<std::string, std::int64_t> cases[] = {{"1970-01-01T00:00:00Z", 0},
                                                        {"2024-02-29T23:59:59Z", 1'709'251'199},
                                                        {"2026-01-05T00:00:00Z", 1'767'571'200},
                                                        {"9999-12-31T23:59:59Z", 253'402'300'799}};
  for (const auto& [text, seconds] : cases) {
    EXPECT_EQ(FormatUtc(seconds), text);
    EXPECT_EQ(*ParseUtc(text), seconds);
  }
  EXPECT_EQ(*ParseUtc("2026-01-05"), 1'767'571'200);
}

TEST(UtcTest, RefusesWhatIsNoTime) {
  for (const char* const text :
       {"", "2026", "2026-13-01", "2025-02-29", "2026-01-05 00:00:00Z", "2026-01-05T24:00:00Z",
        "2026-01-05T00:00:00", "1969-12-31", "2026-1-05", "2026-01--5", "2026-01-05T00:00:+1Z"}) {
    const auto seconds = ParseUtc(text);
    ASSERT_FALSE(seconds) << text;
    EXPECT_THAT(seconds.error().what(), StartsWith("got '"));
  }
}

}  // namespace
}  // namespace ringward::learn
