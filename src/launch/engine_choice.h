#pragma once

#include <string>

#include "base/result.h"
#include "launch/cores.h"

namespace ringward::launch {

/// What this installation and machine can do, found by ProbeCapabilities() or made up by a test.
struct Capabilities {
  std::string mpirun;  ///< path of a working Open MPI mpirun; empty = none, and `mpi_missing` why
  std::string mpi_missing;
  bool mpi = true;   ///< ringward-rank was built with the engine
  bool gloo = true;  ///< as above
  Cores cores;
  /// Ports that the system hands out, of which gloo's ranks take one for each of their peers; 0 =
  /// not known.
  int ports = 0;
};

struct EngineChoice {
  std::string engine;  ///< "local", "mpi" or "gloo"
  bool yield = false;  ///< waiting ranks give up the processor (mpi_yield_when_idle)
  std::string why;     ///< one sentence for the user: what was chosen and why
};

/// Which engine runs `ranks` ranks. `requested` is auto, local, mpi or gloo. auto: one rank needs
/// no engine (local); else mpi where it works (lowest latency), else gloo.
/// Errors: kInvalidInput (unknown name, local with several ranks, ranks out of range),
/// kUnavailable (the engine asked for cannot run here, and why).
Result<EngineChoice> ChooseEngine(const std::string& requested, int ranks,
                                  const Capabilities& capabilities);

/// Looks for mpirun in PATH, asks for its version (at most 10 s) and reads the cores.
Capabilities ProbeCapabilities();

}  // namespace ringward::launch
