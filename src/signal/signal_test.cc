#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "signal/cause.h"
#include "signal/event.h"
#include "signal/finding.h"

namespace ringward::signal {
namespace {

TEST(MetricTest, MissingIsToldFromNumbersAndFromNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(IsMissing(kMissing));
  EXPECT_TRUE(std::isnan(kMissing));
  for (const float value : {nan, -nan, std::nanf("1"), 0.0F, 1.0F, INFINITY, 0.0F / nan}) {
    EXPECT_FALSE(IsMissing(value)) << value;
  }
}

TEST(MetricTest, KnownMetricsKeepTheirNumbers) {
  MetricTable table;
  EXPECT_EQ(table.size(), kKnownMetrics);
  EXPECT_EQ(table.Add("step_seconds"), IdOf(Known::kStepTime));
  EXPECT_EQ(table.Add("parameter_hash"), IdOf(Known::kParameterHash));
  const MetricId own = table.Add("queue_length");
  EXPECT_EQ(own, kKnownMetrics);
  EXPECT_EQ(table.Add("queue_length"), own);
  EXPECT_EQ(table.NameOf(own), "queue_length");
}

TEST(FrameTest, FindsAColumnByItsMetric) {
  Frame frame;
  frame.columns.push_back({IdOf(Known::kLoss), {1.0F, 2.0F}});
  ASSERT_NE(frame.Find(Known::kLoss), nullptr);
  EXPECT_EQ(frame.Find(Known::kLoss)->values[1], 2.0F);
  EXPECT_EQ(frame.Find(Known::kMemory), nullptr);
}

TEST(TopologyTest, GroupsByHostAndStage) {
  const Topology topology({{"a", 0, 0}, {"b", 1, 0}, {"a", 0, 1}, {"b", 1, 1}});
  const Topology::Groups two = {{0, 2}, {1, 3}};
  EXPECT_EQ(topology.ByHost(), two);
  EXPECT_EQ(topology.ByStage(), two);
  EXPECT_TRUE(topology.has_stages());
  EXPECT_EQ(Topology(3).ByHost(), (Topology::Groups{{0, 1, 2}}));
  EXPECT_FALSE(Topology(3).has_stages());
}

// Names are what scripts and recordings hold: each enumerator has its own.
template <typename E>
void ExpectDistinctNames(std::size_t count) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.insert(NameOf(static_cast<E>(i)));
  EXPECT_EQ(names.size(), count);
}

TEST(NamesTest, AreDistinct) {
  ExpectDistinctNames<Phase>(kPhases);
  ExpectDistinctNames<FindingKind>(kFindingKinds);
  // A name left out or one too many moves all that follow: the last one shows it.
  EXPECT_STREQ(NameOf(FindingKind::kUnusual), "unusual");
  EXPECT_STREQ(NameOf(Phase::kOther), "other");
  EXPECT_STREQ(NameOf(Category::kProcessCrash), "process-crash");
  EXPECT_STREQ(NameOf(Remedy::kRollback), "rollback");
  ExpectDistinctNames<Category>(kCategories);
  ExpectDistinctNames<Remedy>(5);
  ExpectDistinctNames<Severity>(kSeverities);
}

}  // namespace
}  // namespace ringward::signal
