#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace ringward::launch {

/// Names of the variables by which a launcher tells a rank what it is (docs/running.md).
namespace variable {
inline constexpr char kRank[] = "RINGWARD_RANK";
inline constexpr char kWorldSize[] = "RINGWARD_WORLD_SIZE";
inline constexpr char kLocalRank[] = "RINGWARD_LOCAL_RANK";
inline constexpr char kLocalSize[] = "RINGWARD_LOCAL_SIZE";
inline constexpr char kEngine[] = "RINGWARD_ENGINE";
inline constexpr char kJobId[] = "RINGWARD_JOB_ID";
inline constexpr char kJobDir[] = "RINGWARD_JOB_DIR";
inline constexpr char kStore[] = "RINGWARD_STORE";
inline constexpr char kCollectiveTimeoutMs[] = "RINGWARD_COLLECTIVE_TIMEOUT_MS";
inline constexpr char kStartTimeoutMs[] = "RINGWARD_START_TIMEOUT_MS";
inline constexpr char kThreads[] = "RINGWARD_THREADS";
inline constexpr char kColumns[] = "RINGWARD_COLUMNS";
inline constexpr char kPreload[] = "RINGWARD_PRELOAD";
}  // namespace variable

/// What a rank learns from its environment.
struct RankEnvironment {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int local_size = 1;
  std::string engine = "local";
  std::string job_id;   ///< 16 hexadecimal digits; empty when started without a launcher
  std::string job_dir;  ///< the job's folder, with the board in it; empty as above
  std::string store;    ///< "host:port" of the rendezvous store; empty unless engine is gloo
  std::chrono::milliseconds collective_timeout{30'000};
  std::chrono::milliseconds start_timeout{60'000};
  int threads = 1;  ///< processors this rank may keep busy
  int columns = 0;  ///< width of the terminal that shows standard error; 0 = no terminal

  /// Reads this process's environment. Without RINGWARD_RANK it is a job of one local rank.
  /// Errors: kInvalidInput, naming the variable, its value and what it may be.
  static Result<RankEnvironment> Read();
  std::string BoardPath() const { return job_dir + "/board"; }
};

}  // namespace ringward::launch
