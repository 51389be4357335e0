// Any bytes as a table: sniffing, scanning, schema, fitting and transforming end in rows or in one
// error line. The first byte chooses options, so that forced headers and delimiters are met too.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "fuzz_table.h"
#include "io/byte_source.h"
#include "io/decompress.h"
#include "learn/data/file_reader.h"

using namespace ringward;
using namespace ringward::learn;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  DataOptions options;
  options.header = static_cast<HeaderMode>(data[0] % 3);
  options.delimiter = (data[0] & 4U) != 0 ? ';' : '\0';
  if ((data[0] & 8U) != 0) options.numeric = {"1"};
  if ((data[0] & 16U) != 0) options.categorical = {"2"};
  if ((data[0] & 32U) != 0) options.label = "1";
  auto source = io::Decompress(
      io::FromMemory(std::string(reinterpret_cast<const char*>(data) + 1, size - 1), "fuzz.csv"));
  if (!source) {
    CheckError(source.error());
    return 0;
  }
  UseTable(OpenCsv(*std::move(source), options, {}), options);
  return 0;
}
