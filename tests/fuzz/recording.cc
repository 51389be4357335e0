// Any bytes as a recording, as one column of samples, and as one row of progress. The first byte
// chooses; for arrays the second is the count that the row names.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "recording/pack.h"
#include "recording/test_same.h"
#include "recording/test_use.h"

using namespace ringward;
using namespace ringward::recording;

namespace {

void UseSamples(std::span<const std::byte> blob, std::size_t count) {
  std::vector<float> values(count);
  if (!Unpacker().Unpack(blob, values)) return;
  Packer packer;
  const auto again = packer.Pack(values);
  std::vector<float> same(count);
  RINGWARD_CHECK(again && Unpacker().Unpack(*again, same));
  for (std::size_t i = 0; i < count; ++i) RINGWARD_CHECK(Same(values[i], same[i]));
}

void UseProgress(std::span<const std::byte> blob, std::size_t count) {
  std::vector<signal::Event> events(count);
  if (count == 0 || !Unpacker().Unpack(blob, signal::Time(1), events)) return;
  Packer packer;
  const auto again = packer.Pack(std::span<const signal::Event>(events));
  std::vector<signal::Event> same(count);
  RINGWARD_CHECK(again && Unpacker().Unpack(*again, events[0].received, same));
  for (std::size_t i = 0; i < count; ++i) RINGWARD_CHECK(Same(events[i], same[i]));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto blob = std::as_bytes(std::span(data, size)).subspan(2);
  if (data[0] % 3 == 1) {
    UseSamples(blob, data[1]);
  } else if (data[0] % 3 == 2) {
    UseProgress(blob, data[1]);
  } else {
    auto reader = Reader::FromMemory(std::string(reinterpret_cast<const char*>(data) + 1, size - 1),
                                     "fuzz.rwrec");
    if (!reader) {
      CheckLine(reader.error());
    } else {
      (void)UseReader(*reader);
    }
  }
  return 0;
}
