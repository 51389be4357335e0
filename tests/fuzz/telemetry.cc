// Any words anywhere in a recorder's segment, and a file of any length: the reader ends in values
// or in an error line. The first byte chooses how much of the file stands, the rest is patches: two
// bytes of position (in words), a byte that says in which part, eight bytes of value.
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "telemetry/segment_folder.h"
#include "telemetry/segment_reader.h"
#include "telemetry/test_folder.h"

using namespace ringward;
using namespace ringward::telemetry;

namespace {

constexpr std::size_t kPatchBytes = 11;

/// A copy of the segment of a recorder that has seen a few steps, to be spoilt and mended.
class Sample {
 public:
  Sample() {
    {
      const TestRecorder recorder(folder_.options());
      const std::int32_t operation = recorder->RegisterOperation("allreduce");
      for (std::uint64_t step = 0; step < 20; ++step) {
        recorder->BeginStep(step);
        recorder->EnterCollective(operation, step, 8, false);
        recorder->ExitCollective(step, true);
        recorder->RecordMetric(kLocalLoss, 1);
        recorder->EndStep();
      }
      std::filesystem::copy_file(recorder->path(), path());
    }
    fd_ = Fd(open(path().c_str(), O_RDWR | O_CLOEXEC));
    RINGWARD_CHECK(fd_);
    sound_.resize(kSegmentBytes);
    RINGWARD_CHECK(pread(fd_.get(), sound_.data(), sound_.size(), 0) ==
                   static_cast<ssize_t>(sound_.size()));
  }
  std::string path() const { return folder_.path() + "/sample"; }
  void Patch(std::size_t at, const std::uint8_t* value) {
    RINGWARD_CHECK(pwrite(fd_.get(), value, 8, static_cast<off_t>(at)) == 8);
    patched_.push_back(at);
  }
  void Cut(std::size_t bytes) {
    RINGWARD_CHECK(ftruncate(fd_.get(), static_cast<off_t>(bytes)) == 0);
    cut_ = true;
  }
  void Mend() {
    if (cut_) {
      RINGWARD_CHECK(pwrite(fd_.get(), sound_.data(), sound_.size(), 0) ==
                     static_cast<ssize_t>(sound_.size()));
    }
    for (const std::size_t at : patched_) {
      RINGWARD_CHECK(pwrite(fd_.get(), &sound_[at], 8, static_cast<off_t>(at)) == 8);
    }
    patched_.clear();
    cut_ = false;
  }

 private:
  TestFolder folder_;
  Fd fd_;
  std::string sound_;
  std::vector<std::size_t> patched_;
  bool cut_ = false;
};

void CheckLine(const Error& error) {
  RINGWARD_CHECK(!error.what().empty() && error.what().find('\n') == std::string::npos);
}

void ReadAll(const std::string& path) {
  auto reader = SegmentReader::Open(path);
  if (!reader) return CheckLine(reader.error());
  const auto state = reader->State();
  if (!state) CheckLine(state.error());
  for (int i = 0; i < 2; ++i) {
    const auto batch = reader->Read();
    if (!batch) return CheckLine(batch.error());
    for (const MetricRecord& r : batch->metrics) {
      RINGWARD_CHECK(!reader->MetricName(r.metric).empty());
    }
    for (const CollectiveRecord& r : batch->collectives) {
      RINGWARD_CHECK(!reader->OperationName(r.operation).empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Sample sample;
  if (size == 0) return 0;
  static constexpr std::size_t kParts[] = {0, kStepsAt, kMetricsAt, kCollectivesAt};
  for (std::size_t i = 1; i + kPatchBytes <= size; i += kPatchBytes) {
    std::uint16_t word = 0;
    std::memcpy(&word, data + i, sizeof(word));
    const std::size_t at = kParts[data[i + 2] % 4] + std::size_t{word} * 8;
    if (at + 8 <= kSegmentBytes) sample.Patch(at, data + i + 3);
  }
  if (data[0] != 0) sample.Cut(kSegmentBytes * data[0] / 256);
  ReadAll(sample.path());
  sample.Mend();
  return 0;
}
