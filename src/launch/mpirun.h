#pragma once

#include <string>
#include <vector>

#include "launch/process.h"

namespace ringward::launch {

struct MpirunOptions {
  std::string mpirun;
  int ranks = 1;
  std::string folder;  ///< session folder and shared-memory segments go here
  bool yield = false;
  bool root = false;        ///< this process runs as root
  bool single_copy = true;  ///< ranks may read each other's memory (CMA)
};

/// The arguments of Open MPI 4's mpirun for ranks of this machine, up to the program. They ask for
/// shared memory between ranks and the loopback interface for mpirun itself, and for nothing that
/// needs a network, a resolver, a resource manager or a host file.
std::vector<std::string> MpirunArguments(const MpirunOptions& options);

/// Removes what a surrounding launcher (mpirun, srun, another job of ours) said about its ranks, so
/// that a job started inside does not take itself for a part of it. Settings made by the user
/// (OMPI_MCA_...) stay.
void ForgetOuterLauncher(Environment& environment);

/// Whether this process may call process_vm_readv(); container profiles often forbid it, and Open
/// MPI then complains at every large message.
bool SingleCopyWorks();

}  // namespace ringward::launch
