#pragma once

#include <cstdlib>

namespace ringward::capi {

/// A name that all ranks of the job have in common and other jobs do not, of the environment;
/// `otherwise` where it has none. Valid until the environment changes.
inline const char* JobNameOr(const char* otherwise) {
  for (const char* const name : {"RINGWARD_JOB", "RINGWARD_JOB_ID", "PMIX_NAMESPACE", "PMI_JOBID",
                                 "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID"}) {
    const char* const value = std::getenv(name);
    // torchrun's own name, where it is given none, is every job's.
    if (value != nullptr && value[0] != '\0' && __builtin_strcmp(value, "none") != 0) return value;
  }
  return otherwise;
}

}  // namespace ringward::capi
