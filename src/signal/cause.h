#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "signal/severity.h"
#include "signal/time.h"

namespace ringward::signal {

enum class Category : std::uint8_t {
  kCommunication,
  kCompute,
  kDataIo,
  kResourceContention,
  kMemory,
  kNumerics,
  kConfiguration,
  kHardware,
  kPreemption,
  kProcessCrash,
};
inline constexpr std::size_t kCategories = 10;

/// "communication", "compute", "data-io", ….
const char* NameOf(Category category);

/// What may be done about a cause without asking again.
enum class Remedy : std::uint8_t { kNone, kRestart, kExcludeHost, kFixConfig, kRollback };

/// "none", "restart", "exclude-host", ….
const char* NameOf(Remedy remedy);

/// A place that proves something: a line of a file, or, with line 0, what a detector measured.
struct Evidence {
  std::string file;
  std::uint64_t line = 0;
  std::string text;
};

/// One incident: who and why, with what follows from it folded under it.
struct Cause {
  std::uint64_t id = 0;
  Category category = Category::kCompute;
  std::string cause;                        ///< slug: "slow-rank", "slow-network", …
  std::string summary;                      ///< one sentence
  std::vector<std::int32_t> culprit_ranks;  ///< ascending; none: nobody, or undecided
  std::vector<std::string> culprit_hosts;
  std::vector<std::int32_t> victim_ranks;
  double confidence = 0.0;         ///< below 0.5: undecided, never an accusation
  std::vector<Evidence> evidence;  ///< the decisive one first
  std::string remedy;
  Remedy action = Remedy::kNone;
  Severity severity = Severity::kWarning;  ///< follows from the cause; not in recordings
  std::int64_t since_step = -1;
  std::int64_t found_step = -1;
  Time started{};
  Time found{};
  bool over = false;
  double lost_seconds = 0.0;
  double speedup_without = 1.0;  ///< how much faster the job would run without the culprits
};

/// Sure enough to tell: below, a cause is undecided and accuses nobody.
inline bool IsIncident(const Cause& cause) {
  constexpr double kSure = 0.5;
  return cause.confidence >= kSure;
}

}  // namespace ringward::signal
