#include "launch/engine_choice.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/system_error.h"
#include "comm/board.h"
#include "launch/process.h"

namespace ringward::launch {
namespace {

#ifdef RINGWARD_HAVE_MPI
constexpr bool kHaveMpi = true;
#else
constexpr bool kHaveMpi = false;
#endif
#ifdef RINGWARD_HAVE_GLOO
constexpr bool kHaveGloo = true;
#else
constexpr bool kHaveGloo = false;
#endif

std::string Ranks(int ranks) { return std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"); }

EngineChoice Local(const Cores& cores) {
  return {"local", false, "engine local: one rank needs no communication; " + cores.Describe()};
}

EngineChoice Mpi(int ranks, const Cores& cores, const std::string& reason) {
  const bool fit = cores.Fit(ranks);
  std::string why = "engine mpi: " + reason + "; " + Ranks(ranks) + " on " + cores.Describe();
  // Two jobs that both bind would share the first cores and leave the others idle, and unbound
  // ranks were no slower here; so ranks are never bound.
  if (ranks > cores.usable) {
    why += ", more ranks than cores";
  } else if (!fit) {
    why += ", " + std::to_string(cores.busy) + " other tasks want to run";
  }
  why += fit ? ": waiting ranks spin, no binding" : ": waiting ranks yield, no binding";
  return {"mpi", !fit, why};
}

/// Most ranks whose ports for one another fit into `ports`.
int GlooRanksMax(int ports) {
  int ranks = 1;
  while ((ranks + 1) * ranks <= ports) ++ranks;
  return ranks;
}

Result<EngineChoice> Gloo(int ranks, const Capabilities& can, const std::string& reason) {
  if (can.ports > 0 && ranks > GlooRanksMax(can.ports)) {
    return Error(Code::kUnavailable, "engine gloo: " + std::to_string(ranks) + " ranks take " +
                                         std::to_string(ranks * (ranks - 1)) +
                                         " ports for one another, of " + std::to_string(can.ports) +
                                         " there are (net.ipv4.ip_local_port_range): at most " +
                                         std::to_string(GlooRanksMax(can.ports)) +
                                         " ranks; engine mpi takes none");
  }
  return EngineChoice{"gloo", false,
                      "engine gloo: " + reason + "; " + Ranks(ranks) + " on " +
                          can.cores.Describe() + ": waiting ranks sleep, no binding"};
}

int SystemPorts() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  int first = 0;
  int last = 0;
  return file >> first >> last ? last - first + 1 : 0;
}

std::string WhyNoMpi(const Capabilities& can) {
  if (!can.mpi) return "this build has no mpi engine";
  return can.mpi_missing.empty() ? "mpirun was not found" : can.mpi_missing;
}

/// mpirun, unlike the other engines, enters the working folder by its name; empty = it can.
std::string WhyNotFromHere() {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  if (!error && access(here.c_str(), X_OK) == 0) return {};
  return "mpirun cannot enter the working folder: " + SystemMessage(error ? error.value() : errno);
}

}  // namespace

Result<EngineChoice> ChooseEngine(const std::string& requested, int ranks,
                                  const Capabilities& can) {
  if (ranks < 1 || ranks > comm::Board::kMaxRanks) {
    return Error(Code::kInvalidInput, "-np: " + std::to_string(ranks) + " is not in 1 to " +
                                          std::to_string(comm::Board::kMaxRanks));
  }
  const bool mpi = can.mpi && !can.mpirun.empty();
  if (requested == "local") {
    if (ranks == 1) return Local(can.cores);
    return Error(Code::kInvalidInput, "--engine local runs one rank, not " + std::to_string(ranks));
  }
  if (requested == "mpi") {
    if (mpi) return Mpi(ranks, can.cores, "asked for");
    return Error(Code::kUnavailable, "--engine mpi cannot run here: " + WhyNoMpi(can));
  }
  if (requested == "gloo") {
    if (can.gloo) return Gloo(ranks, can, "asked for");
    return Error(Code::kUnavailable, "--engine gloo: this build has no gloo engine");
  }
  if (requested != "auto") {
    return Error(Code::kInvalidInput,
                 "--engine: '" + requested + "' is not one of auto, mpi, gloo, local");
  }
  if (ranks == 1) return Local(can.cores);
  if (mpi) return Mpi(ranks, can.cores, "lowest latency for a fixed number of ranks");
  if (can.gloo) return Gloo(ranks, can, WhyNoMpi(can));
  return Error(Code::kUnavailable, "no engine can run " + Ranks(ranks) + ": " + WhyNoMpi(can) +
                                       ", and this build has no gloo engine");
}

Capabilities ProbeCapabilities() {
  Capabilities can;
  can.cores = UsableCores();
  can.mpi = kHaveMpi;
  can.gloo = kHaveGloo;
  can.ports = SystemPorts();
  const std::string mpirun = FindInPath("mpirun");
  if (mpirun.empty()) return can;
  const auto version = Capture({mpirun, "--version"}, std::chrono::seconds(10));
  if (!version) {
    can.mpi_missing = version.error().what();
  } else if (version->find("Open MPI") == std::string::npos) {
    can.mpi_missing = mpirun + " is not Open MPI's";
  } else {
    can.mpi_missing = WhyNotFromHere();
    if (can.mpi_missing.empty()) can.mpirun = mpirun;
  }
  return can;
}

}  // namespace ringward::launch
