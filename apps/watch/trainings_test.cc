// Which steps count. To add a case, add a row: who ends which step, and what is answered.
#include "watch/trainings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringward::watch {
namespace {

struct Step {
  std::int32_t rank;
  std::uint64_t step;
  std::int64_t newest;
  char answer;  ///< Counts, Apart, Passed, Begins
};

struct Row {
  const char* name;
  std::int32_t ranks;  ///< that are there
  std::int32_t anew;   ///< this one as another process; -1: none
  std::vector<Step> steps;
};

std::vector<Row> Rows() {
  return {
      {"all count on", 2, -1, {{0, 7, -1, 'C'}, {1, 7, -1, 'C'}, {0, 8, 7, 'C'}, {1, 8, 7, 'C'}}},
      {"a program that does not count", 1, -1, {{0, 0, -1, 'C'}, {0, 0, -1, 'P'}, {0, 0, -1, 'P'}}},
      {"one rank alone begins again", 1, -1, {{0, 9, -1, 'C'}, {0, 0, 9, 'B'}, {0, 1, 0, 'C'}}},
      {"all begin again, twice",
       3,
       -1,
       {{0, 9, -1, 'C'},
        {1, 9, -1, 'C'},
        {2, 9, -1, 'C'},
        {0, 0, 9, 'A'},
        {0, 1, 9, 'A'},
        {1, 0, 9, 'B'},
        {2, 10, -1, 'P'},
        {2, 0, -1, 'C'},
        {0, 0, 2, 'A'},
        {2, 0, 2, 'P'},
        {1, 1, 2, 'C'},
        {1, 0, 2, 'B'}}},
      {"garbage from the past changes nothing",
       3,
       -1,
       {{0, 9, -1, 'C'}, {1, 9, -1, 'C'}, {0, 3, 9, 'A'}, {0, 10, 9, 'C'}, {1, 10, 9, 'C'}}},
      {"garbage from the future changes nothing",
       3,
       -1,
       {{0, 9, -1, 'C'}, {0, 1'000'000'000'000, 9, 'C'}, {0, 10, 9, 'C'}, {0, 11, 10, 'C'}}},
      {"a rank that comes back where the others are", 3, 2, {{0, 9, -1, 'C'}, {2, 10, 9, 'C'}}},
      {"a rank that comes back from where it was saved",
       3,
       2,
       {{0, 9, -1, 'C'}, {2, 5, 9, 'A'}, {2, 9, 9, 'A'}, {2, 10, 9, 'C'}}},
      {"all go back to where one was saved that comes back",
       3,
       2,
       {{0, 9, -1, 'C'}, {1, 9, -1, 'C'}, {2, 5, 9, 'A'}, {0, 5, 9, 'B'}, {1, 5, -1, 'C'}}},
  };
}

TEST(TrainingsTest, MostRanksTogetherBeginAnother) {
  for (const Row& row : Rows()) {
    SCOPED_TRACE(row.name);
    Trainings trainings;
    for (std::int32_t rank = 0; rank < row.ranks; ++rank) trainings.SetThere(rank, true);
    if (row.anew >= 0) trainings.Replace(row.anew);
    std::string expected;
    std::string answered;
    for (const Step& step : row.steps) {
      expected += step.answer;
      answered +=
          "CAPB"[static_cast<std::size_t>(trainings.Take(step.rank, step.step, step.newest))];
    }
    EXPECT_EQ(answered, expected);
  }
}

TEST(TrainingsTest, ThoseThatAreGoneAreNotAsked) {
  Trainings trainings;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    trainings.SetThere(rank, true);
    trainings.Take(rank, 9, -1);
  }
  EXPECT_EQ(trainings.Take(0, 0, 9), Trainings::Answer::kApart);
  EXPECT_TRUE(trainings.IsApart(0));
  for (const std::int32_t gone : {1, 2}) trainings.SetThere(gone, false);
  EXPECT_EQ(trainings.Take(0, 1, 9), Trainings::Answer::kApart);
  trainings.SetThere(3, false);
  EXPECT_EQ(trainings.Take(0, 2, 9), Trainings::Answer::kBegins);
  EXPECT_FALSE(trainings.IsApart(0));
}

}  // namespace
}  // namespace ringward::watch
