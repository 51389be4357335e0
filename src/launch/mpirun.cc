#include "launch/mpirun.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace ringward::launch {

std::vector<std::string> MpirunArguments(const MpirunOptions& options) {
  std::vector<std::string> arguments = {options.mpirun};
  if (options.root) arguments.emplace_back("--allow-run-as-root");
  const std::string ranks = std::to_string(options.ranks);
  for (const std::string& word :
       {std::string("-np"), ranks, std::string("--host"), "localhost:" + ranks,
        std::string("--oversubscribe"), std::string("--bind-to"), std::string("none")}) {
    arguments.push_back(word);
  }
  std::vector<std::pair<std::string, std::string>> settings = {
      {"pml", "ob1"},
      {"btl", "self,vader"},
      {"plm", "isolated"},
      {"oob_tcp_if_include", "lo"},
      {"oob_tcp_disable_ipv6_family", "1"},
      {"orte_tmpdir_base", options.folder},
      {"btl_vader_backing_directory", options.folder},
      {"shmem_mmap_backing_file_base_dir", options.folder},
      {"mpi_yield_when_idle", options.yield ? "1" : "0"},
      {"opal_signal", ""},  // else a rank that is killed by SIGSEGV prints a stack trace
  };
  if (!options.single_copy) settings.emplace_back("btl_vader_single_copy_mechanism", "none");
  for (const auto& [name, value] : settings) {
    arguments.insert(arguments.end(), {"--mca", name, value});
  }
  return arguments;
}

void ForgetOuterLauncher(Environment& environment) {
  constexpr std::array<std::string_view, 12> kForeign = {
      "OMPI_COMM_", "OMPI_UNIVERSE_", "OMPI_MCA_ess", "OMPI_MCA_orte", "PMIX_", "PMI_",
      "ORTE_",      "PRTE_",          "SLURM_",       "PBS_",          "LSB_",  "RINGWARD_"};
  // What the user says to the libraries in the ranks.
  constexpr std::array<std::string_view, 4> kOfUser = {"RINGWARD_JOB", "RINGWARD_MPI",
                                                       "RINGWARD_NCCL", "RINGWARD_GUEST_LIBRARY"};
  std::erase_if(environment, [&](const auto& entry) {
    if (std::find(kOfUser.begin(), kOfUser.end(), entry.first) != kOfUser.end()) return false;
    return std::any_of(kForeign.begin(), kForeign.end(),
                       [&](std::string_view prefix) { return entry.first.starts_with(prefix); });
  });
}

bool SingleCopyWorks() {
  char from = 'x';
  char to = 0;
  const iovec source{&from, 1};
  const iovec target{&to, 1};
  return process_vm_readv(getpid(), &target, 1, &source, 1, 0) == 1;
}

}  // namespace ringward::launch
