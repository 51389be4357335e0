#include "ringward-rank/join.h"

#include <charconv>
#include <cstdint>
#include <utility>

#include "comm/local/local_communicator.h"
#ifdef RINGWARD_HAVE_GLOO
#include "comm/gloo/gloo_communicator.h"
#endif
#ifdef RINGWARD_HAVE_MPI
#include "comm/mpi/mpi_communicator.h"
#endif

namespace ringward::rank {
namespace {

using Made = Result<std::unique_ptr<comm::Communicator>>;

Made JoinLocal(const launch::RankEnvironment& environment) {
  if (environment.world_size == 1) return comm::MakeLocal();
  return Error(Code::kInvalidInput,
               "engine local runs one rank, not " + std::to_string(environment.world_size));
}

#ifdef RINGWARD_HAVE_GLOO
Made JoinGloo(const launch::RankEnvironment& environment, comm::Board* board) {
  const std::size_t colon = environment.store.rfind(':');
  std::uint16_t port = 0;
  const char* const end = environment.store.data() + environment.store.size();
  if (colon == std::string::npos ||
      std::from_chars(environment.store.data() + colon + 1, end, port).ptr != end || port == 0) {
    return Error(Code::kInvalidInput, std::string(launch::variable::kStore) + "=" +
                                          environment.store + ": not HOST:PORT");
  }
  return comm::MakeGloo({.rank = environment.rank,
                         .size = environment.world_size,
                         .store_address = environment.store.substr(0, colon),
                         .store_port = port,
                         .job = environment.job_id,
                         .timeout = environment.collective_timeout,
                         .start_timeout = environment.start_timeout,
                         .board = board});
}
#endif

#ifdef RINGWARD_HAVE_MPI
Made JoinMpi(const launch::RankEnvironment& environment, comm::Board* board) {
  auto joined = comm::MakeMpi({.timeout = environment.collective_timeout,
                               .start_timeout = environment.start_timeout,
                               .board = board});
  if (!joined) return std::move(joined).error();
  if ((*joined)->rank() == environment.rank && (*joined)->size() == environment.world_size) {
    return joined;
  }
  return Error(Code::kInvalidInput, "MPI takes this process for rank " +
                                        std::to_string((*joined)->rank()) + " of " +
                                        std::to_string((*joined)->size()) + ", its launcher for " +
                                        std::to_string(environment.rank) + " of " +
                                        std::to_string(environment.world_size));
}
#endif

}  // namespace

Made Join(const launch::RankEnvironment& environment, [[maybe_unused]] comm::Board* board) {
  if (environment.engine == "local") return JoinLocal(environment);
#ifdef RINGWARD_HAVE_GLOO
  if (environment.engine == "gloo") return JoinGloo(environment, board);
#endif
#ifdef RINGWARD_HAVE_MPI
  if (environment.engine == "mpi") return JoinMpi(environment, board);
#endif
  return Error(Code::kInvalidInput, std::string(launch::variable::kEngine) + "=" +
                                        environment.engine + ": no engine of this build");
}

}  // namespace ringward::rank
