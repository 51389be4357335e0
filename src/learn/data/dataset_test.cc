#include "learn/data/dataset.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "io/test_folder.h"
#include "io/test_zip.h"
#include "learn/data/test_npy.h"

namespace ringward::learn {
namespace {

TEST(TrainingSetTest, TrainsOnNormalRowsOnly) {
  const io::TestFolder folder;
  DataOptions data;
  data.paths = {folder.Write("t.csv", "v,label\n1,0\n2,0.0\n900,1\n3,false\n4,\n5,Normal\n")};
  data.label = "label";
  const auto set = LoadTrainingSet(data, {});
  ASSERT_TRUE(set) << set.error().what();
  EXPECT_EQ(set->rows, (std::vector<std::size_t>{0, 1, 3, 5}));
  EXPECT_EQ(set->data.rows(), 6U);
  EXPECT_EQ(set->labels[2], RowLabel::kAnomaly);
  EXPECT_EQ(set->labels[4], RowLabel::kMissing);
  EXPECT_EQ(set->preprocessor.columns()[0].max, 5);
  ASSERT_FALSE(set->notes.empty());
  EXPECT_EQ(set->notes[0],
            "column \"label\": 4 of 6 rows are labelled normal and used; 1 have no label");
  const auto all = LoadTrainingSet(data, {}, false);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->rows.size(), 6U);
  EXPECT_EQ(all->preprocessor.columns()[0].max, 900);
}

TEST(LabelsTest, CompareByValueOrByDigits) {
  const struct {
    const char* label;
    const char* normal;
    bool same;
  } kCases[] = {{"0.0", "0", true},
                {"9007199254740993", "9007199254740993", true},
                {"9007199254740992", "9007199254740993", false},
                {"9007199254740993", "9007199254740992", false},
                {"1000000000000000000000001", "1000000000000000000000002", false},
                {"9007199254740992.0", "9007199254740992", true}};
  for (const auto& c : kCases) {
    EXPECT_EQ(NormalValues({c.normal}).Contains(c.label), c.same) << c.label << " " << c.normal;
  }
}

TEST(TrainingSetTest, SaysWhichLabelsThereAre) {
  const io::TestFolder folder;
  DataOptions data;
  data.paths = {folder.Write("t.csv", "v,label\n1,ok\n2,bad\n")};
  data.label = "label";
  data.normal = {"OK"};
  const auto set = LoadTrainingSet(data, {});
  ASSERT_FALSE(set);
  EXPECT_EQ(folder.Hide(set.error().what()),
            "t.csv: no row is labelled normal (\"OK\") in column \"label\", which holds \"bad\", "
            "\"ok\"; --normal names the values that are");
}

std::vector<std::vector<float>> Rows(const WindowedRows& data) {
  std::vector<std::vector<float>> rows(data.rows(), std::vector<float>(data.inputs()));
  for (std::size_t i = 0; i < data.rows(); ++i) data.CopyRow(i, rows[i]);
  return rows;
}

/// Windows in training and in scoring are the same, never cross files, and start padded.
TEST(WindowTest, JoinsRowsInsideFiles) {
  const io::TestFolder folder;
  DataOptions data;
  data.paths = {folder.Write("1.csv", "t,v,w\n1,0,5\n2,1,4\n3,2,3\n4,3,2\n"),
                folder.Write("2.csv", "t,v,w\n1,4,1\n2,5,0\n")};
  data.time = "t";
  data.window = 3;
  const auto set = LoadTrainingSet(data, {});
  ASSERT_TRUE(set) << set.error().what();
  EXPECT_EQ(set->preprocessor.InputName(0), "v[t-2]");
  EXPECT_EQ(set->preprocessor.InputName(5), "w[t]");
  const auto rows = Rows(set->data);
  const auto units = [&](std::size_t row) {
    std::string text;
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      text += std::to_string(std::lround(set->preprocessor.ToUnits(i, rows[row][i])));
    }
    return text;
  };
  EXPECT_EQ(units(0), "050505");
  EXPECT_EQ(units(1), "050514");
  EXPECT_EQ(units(3), "142332");
  EXPECT_EQ(units(4), "414141");
  EXPECT_EQ(units(5), "414150");
  auto stream = ScoringStream::Open(data, set->preprocessor);
  ASSERT_TRUE(stream) << stream.error().what();
  ScoringBatch batch;
  std::size_t row = 0;
  while (*stream->Next(batch)) {
    for (std::size_t i = 0; i < batch.inputs.rows; ++i, ++row) {
      const auto got = batch.inputs.Row(i);
      EXPECT_EQ(std::vector<float>(got.begin(), got.end()), rows[row]) << row;
    }
  }
  EXPECT_EQ(row, 6U);
}

TEST(WindowTest, LeavesOutWindowsThatTouchAnomalies) {
  const io::TestFolder folder;
  DataOptions data;
  data.paths = {folder.Write("t.csv", "v,y\n1,0\n2,0\n3,1\n4,0\n5,0\n6,0\n7,0\n")};
  data.label = "y";
  data.window = 3;
  const auto set = LoadTrainingSet(data, {});
  ASSERT_TRUE(set);
  EXPECT_EQ(set->rows, (std::vector<std::size_t>{0, 1, 5, 6}));
}

TEST(WindowTest, JoinerCarriesHistoryOverBatchesShorterThanTheWindow) {
  WindowJoiner joiner(1, 4);
  std::vector<float> last;
  for (int i = 0; i < 6; ++i) {
    Matrix one(1, 1);
    one.values = {static_cast<float>(i)};
    last = joiner.Join(one, 0).values;
  }
  EXPECT_EQ(last, (std::vector<float>{2, 3, 4, 5}));
}

TEST(TimeOrderTest, NamesTheLineThatGoesBack) {
  const io::TestFolder folder;
  const struct {
    const char* text;
    const char* expected;
  } kCases[] = {
      {"t,v\n1,0\n1,1\n0.5,2\n",
       "t.csv:4: column \"t\": time goes back from \"1\" to \"0.5\"; sort the rows by time"},
      {"t,v\n2020-01-02,0\n2020-01-01T23:59:00Z,1\n",
       "t.csv:3: column \"t\": time goes back from \"2020-01-02\" to \"2020-01-01T23:59:00Z\"; "
       "sort "
       "the rows by time"},
      {"t,v\n1,0\nsoon,1\n",
       "t.csv:3: column \"t\": \"soon\" is neither a number nor an ISO 8601 time"},
      {"t,v\n1,0\n,1\n", "t.csv:3: column \"t\": \"\" is neither a number nor an ISO 8601 time"},
  };
  for (const auto& c : kCases) {
    DataOptions data;
    data.paths = {folder.Write("t.csv", c.text)};
    data.time = "t";
    const auto set = LoadTrainingSet(data, {});
    ASSERT_FALSE(set) << c.text;
    EXPECT_EQ(folder.Hide(set.error().what()), c.expected);
  }
}

TEST(FilesTest, AreOneTableWithTheSameColumns) {
  const io::TestFolder folder;
  folder.Write("a.csv", "v,w\n1,2\n");
  folder.Write("b.csv", "v,w\n3,4\n");
  DataOptions data;
  data.paths = {folder.Path("*.csv")};
  const auto set = LoadTrainingSet(data, {});
  ASSERT_TRUE(set) << set.error().what();
  EXPECT_EQ(set->data.rows(), 2U);
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"v,x\n1,2\n", "c.csv: column 2 is \"x\" where a.csv has \"w\""},
           {"v\n1\n", "c.csv: has 1 columns where a.csv has 2"},
           {"1,2\n", "c.csv: has no header where a.csv has one"},
           {"v,w\n", "c.csv: has no rows"}}) {
    folder.Write("c.csv", text);
    const auto bad = LoadTrainingSet(data, {});
    ASSERT_FALSE(bad) << text;
    EXPECT_EQ(folder.Hide(bad.error().what()), expected);
  }
}

TEST(RolesTest, NamesWhatIsWrongWithThem) {
  const io::TestFolder folder;
  const std::string named = folder.Write("n.csv", "duration,bytes,label\n1,2,0\n");
  const std::string numbered = folder.Write("h.csv", "1,2,0\n");
  const auto error = [&](const std::string& path, const std::string& label,
                         std::vector<std::string> drop) {
    DataOptions data;
    data.paths = {path};
    data.label = label;
    data.drop = std::move(drop);
    const auto set = LoadTrainingSet(data, {});
    return set ? "none" : folder.Hide(set.error().what());
  };
  EXPECT_EQ(error(named, "lable", {}), "n.csv: no column \"lable\" (--label); nearest: \"label\"");
  EXPECT_EQ(error(named, "", {"zzzzzz"}), "n.csv: no column \"zzzzzz\" (--drop)");
  EXPECT_EQ(error(numbered, "4", {}),
            "h.csv: no column \"4\" (--label): it has no header, so columns are numbered 1 .. 3");
  EXPECT_EQ(error(named, "label", {"label"}),
            "n.csv: column \"label\" is given two roles, the second by --drop");
}

TEST(OptionsTest, SaysWhichFlagIsOutsideItsRange) {
  DataOptions data;
  EXPECT_EQ(Validate(data).error().what(), "--data: at least one file is needed");
  data.paths = {"x"};
  EXPECT_TRUE(Validate(data));
  data.window = 0;
  EXPECT_EQ(Validate(data).error().what(), "--window: 0 is not in 1 .. 100000");
  data.window = 1;
  data.delimiter = '"';
  EXPECT_FALSE(Validate(data));
}

/// Lines from a pipe are given when they are there: the writer waits for each before the next.
TEST(StreamTest, GivesRowsFromAPipeAsTheyCome) {
  const io::TestFolder folder;
  DataOptions data;
  data.paths = {folder.Write("t.csv", "a,b\n1,2\n2,1\n")};
  const auto set = LoadTrainingSet(data, {});
  ASSERT_TRUE(set);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto say = [&](const std::string& text) {
    ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  };
  data.paths = {"/dev/fd/" + std::to_string(ends[0])};
  say("a,b\n1,2\n");
  auto stream = ScoringStream::Open(data, set->preprocessor);
  ASSERT_TRUE(stream) << stream.error().what();
  ScoringBatch batch;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(*stream->Next(batch));  // would wait for ever if it wanted more than one line
    EXPECT_EQ(batch.block.rows, 1U);
    EXPECT_EQ(batch.block.first_row, static_cast<std::uint64_t>(i));
    if (i < 4) say("2,1\n");
  }
  close(ends[1]);
  EXPECT_FALSE(*stream->Next(batch));
  close(ends[0]);
}

TEST(StreamTest, KeepsIdsAsTheyAreWritten) {
  const io::TestFolder folder;
  DataOptions data;
  data.paths = {folder.Write("t.csv", "id,a\n007,1\n1e3,2\n,3\n")};
  data.id = {"id"};
  const auto set = LoadTrainingSet(data, {});
  ASSERT_TRUE(set);
  EXPECT_EQ(set->preprocessor.inputs(), 1U);
  auto stream = ScoringStream::Open(data, set->preprocessor);
  ASSERT_TRUE(stream);
  ScoringBatch batch;
  ASSERT_TRUE(*stream->Next(batch));
  const std::size_t slot = stream->id_slots().at(0);
  EXPECT_EQ(batch.block.Text(0, slot), "007");
  EXPECT_EQ(batch.block.Text(1, slot), "1e3");
  EXPECT_EQ(batch.block.Text(2, slot), "");
}

/// More than one buffer and one block, so that every seam is crossed.
TEST(StreamTest, ReadsLargeFilesAcrossBuffers) {
  const io::TestFolder folder;
  std::string text = "a,b,c\n";
  constexpr int kRows = 300'000;
  for (int i = 0; i < kRows; ++i) {
    text +=
        std::to_string(i) + (i % 1000 == 7 ? ",\"x\ny\"," : ",z,") + std::to_string(i % 7) + "\n";
  }
  DataOptions data;
  data.paths = {folder.Write("t.csv", text)};
  auto reader = RowReader::Open(data, Purpose::kScore);
  ASSERT_TRUE(reader);
  Block block;
  std::uint64_t row = 0;
  std::uint64_t line = 2;
  while (*(*reader)->Next(block)) {
    ASSERT_EQ(block.first_row, row);
    ASSERT_LE(block.rows * block.slots, kBlockCells);
    for (std::size_t r = 0; r < block.rows; ++r, ++row) {
      ASSERT_EQ(block.Number(r, 0), static_cast<double>(row));
      ASSERT_EQ(block.lines[r], line);
      line += row % 1000 == 7 ? 2 : 1;
    }
  }
  EXPECT_EQ(row, static_cast<std::uint64_t>(kRows));
}

}  // namespace
}  // namespace ringward::learn
