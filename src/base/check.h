#pragma once

#include <cstdio>
#include <cstdlib>

/// Stops the process when a programmer's assumption is false, in every build type.
/// Never for input: files, flags and peers yield an Error (base/result.h).
#define RINGWARD_CHECK(cond)                                                        \
  do {                                                                              \
    if (!(cond)) [[unlikely]] {                                                     \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #cond); \
      std::abort();                                                                 \
    }                                                                               \
  } while (false)
