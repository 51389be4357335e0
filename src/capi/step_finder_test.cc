#include "capi/step_finder.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace ringward::capi {
namespace {

/// A program's collectives: `start` once, then `loop` again and again; a letter is a kind.
struct ProgramCase {
  const char* name;
  std::string start;
  std::string loop;
  char ends;  ///< with this kind, once the loop is known
};

void PrintTo(const ProgramCase& program, std::ostream* out) { *out << program.name; }

class StepFinderTest : public testing::TestWithParam<ProgramCase> {};

std::uint64_t Next(const ProgramCase& program, std::size_t i) {
  const std::string& start = program.start;
  const char kind =
      i < start.size() ? start[i] : program.loop[(i - start.size()) % program.loop.size()];
  // '?' is new each time, like the size of a pickled object.
  return kind == '?' ? 1'000 + i : static_cast<std::uint64_t>(kind);
}

TEST_P(StepFinderTest, StepsAreTheLoops) {
  const ProgramCase& program = GetParam();
  StepFinder finder;
  std::size_t i = 0;
  for (; i < 3000 && !finder.found(); ++i) {
    EXPECT_TRUE(finder.EndsStep(Next(program, i)) || finder.found()) << "collective " << i;
  }
  ASSERT_TRUE(finder.found());
  for (const std::size_t end = i + 500; i < end; ++i) {
    const std::uint64_t kind = Next(program, i);
    EXPECT_EQ(finder.EndsStep(kind), kind == static_cast<std::uint64_t>(program.ends))
        << "collective " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, StepFinderTest,
    testing::Values(ProgramCase{"one_collective", "", "a", 'a'},
                    ProgramCase{"broadcasts_first", "bbbbbbbb", "a", 'a'},
                    ProgramCase{"buckets_and_loss", "bb", "aaal", 'l'},
                    ProgramCase{"all_different_the_last_ends", "", "abcd", 'd'},
                    ProgramCase{"new_sizes_are_passed_over", "", "aa?l", 'l'},
                    ProgramCase{"fifty_buckets", "", std::string(50, 'a') + "l", 'l'}),
    testing::PrintToStringParamName());

TEST(StepFinderTest, ALoopThatChangesIsFoundAgain) {
  StepFinder finder;
  const ProgramCase first{"", "", "aal", 'l'};
  const ProgramCase second{"", "", "bbm", 'm'};
  for (std::size_t i = 0; i < 600; ++i) finder.EndsStep(Next(first, i));
  for (std::size_t i = 0; i < 3000; ++i) finder.EndsStep(Next(second, i));
  EXPECT_TRUE(finder.EndsStep('m'));
  EXPECT_FALSE(finder.EndsStep('b'));
}

}  // namespace
}  // namespace ringward::capi
