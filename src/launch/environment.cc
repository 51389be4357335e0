#include "launch/environment.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

namespace ringward::launch {
namespace {

std::string Get(const char* name, const std::string& otherwise = {}) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

/// Sets `number` from variable `name` if there is one.
Status GetInt(const char* name, int least, int most, int& number) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return Ok();
  const char* const end = value + std::strlen(value);
  int parsed = 0;
  const auto [rest, error] = std::from_chars(value, end, parsed);
  if (error != std::errc() || rest != end || parsed < least || parsed > most) {
    return Error(Code::kInvalidInput, std::string(name) + "=" + value + ": not a number from " +
                                          std::to_string(least) + " to " + std::to_string(most));
  }
  number = parsed;
  return Ok();
}

Status GetMillis(const char* name, std::chrono::milliseconds& time) {
  int millis = static_cast<int>(time.count());
  RINGWARD_TRY(GetInt(name, 0, std::numeric_limits<int>::max(), millis));
  time = std::chrono::milliseconds(millis);
  return Ok();
}

}  // namespace

Result<RankEnvironment> RankEnvironment::Read() {
  constexpr int kMost = std::numeric_limits<int>::max();
  RankEnvironment e;
  RINGWARD_TRY(GetInt(variable::kWorldSize, 1, kMost, e.world_size));
  RINGWARD_TRY(GetInt(variable::kRank, 0, e.world_size - 1, e.rank));
  e.local_size = e.world_size;
  RINGWARD_TRY(GetInt(variable::kLocalSize, 1, e.world_size, e.local_size));
  e.local_rank = e.rank % e.local_size;
  RINGWARD_TRY(GetInt(variable::kLocalRank, 0, e.local_size - 1, e.local_rank));
  RINGWARD_TRY(GetMillis(variable::kCollectiveTimeoutMs, e.collective_timeout));
  RINGWARD_TRY(GetMillis(variable::kStartTimeoutMs, e.start_timeout));
  RINGWARD_TRY(GetInt(variable::kThreads, 1, kMost, e.threads));
  RINGWARD_TRY(GetInt(variable::kColumns, 0, kMost, e.columns));
  e.engine = Get(variable::kEngine, e.engine);
  e.job_id = Get(variable::kJobId);
  e.job_dir = Get(variable::kJobDir);
  e.store = Get(variable::kStore);
  return e;
}

}  // namespace ringward::launch
