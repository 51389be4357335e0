// Any bytes as an archive of arrays, as one array, and as a stream of either compression.
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz_table.h"
#include "io/byte_source.h"
#include "io/random_access.h"
#include "learn/data/file_reader.h"

using namespace ringward;
using namespace ringward::learn;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto purpose = (data[0] & 1U) != 0 ? Purpose::kTrain : Purpose::kScore;
  if ((data[0] & 2U) != 0) {
    UseTable(OpenNpy(io::FromMemory(bytes, "fuzz.npy")), DataOptions());
  } else {
    UseTable(OpenNpz(io::RandomAccessFromMemory(bytes, "fuzz.npz"), purpose), DataOptions());
  }
  return 0;
}
