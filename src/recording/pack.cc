#include "recording/pack.h"

#include <zstd.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

namespace ringward::recording {
namespace {

static_assert(std::endian::native == std::endian::little,
              "planes are written as memory holds them");

constexpr std::byte kPlain{0};
constexpr std::byte kZstd{1};
/// Higher levels gain under 1 % on noisy numbers and take three times as long.
constexpr int kLevel = 1;

/// One Progress as numbers: the differences to the event before, so that ranks in order, equal
/// steps and equal counts become zeros.
constexpr std::size_t kFields = 4;
constexpr std::size_t kProgressBytes = kFields * sizeof(std::uint64_t) + 1;
constexpr unsigned kInCollective = 0x80U;
constexpr unsigned kIdle = 0x40U;

template <typename T>
void ToPlanes(std::span<const T> values, std::byte* planes) {
  if (values.empty()) return;  // without memory to point into
  for (std::size_t plane = 0; plane < sizeof(T); ++plane) {
    const auto* from = reinterpret_cast<const std::byte*>(values.data()) + plane;
    std::byte* to = planes + plane * values.size();
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = from[i * sizeof(T)];
  }
}

template <typename T>
void FromPlanes(const std::byte* planes, std::span<T> values) {
  if (values.empty()) return;
  for (std::size_t plane = 0; plane < sizeof(T); ++plane) {
    const std::byte* from = planes + plane * values.size();
    auto* to = reinterpret_cast<std::byte*>(values.data()) + plane;
    for (std::size_t i = 0; i < values.size(); ++i) to[i * sizeof(T)] = from[i];
  }
}

std::uint64_t FieldOf(const signal::Event& event, std::size_t field) {
  const auto& progress = std::get<signal::Progress>(event.what);
  switch (field) {
    case 0:
      return static_cast<std::uint64_t>(event.received.count());
    case 1:
      return static_cast<std::uint64_t>(progress.rank);
    case 2:
      return static_cast<std::uint64_t>(progress.step);
    default:
      return progress.sequence;
  }
}

/// False where `value` fits no field of that kind.
bool SetField(signal::Event& event, std::size_t field, std::uint64_t value) {
  auto& progress = std::get<signal::Progress>(event.what);
  const auto number = static_cast<std::int64_t>(value);
  switch (field) {
    case 0:
      event.received = signal::Time(number);
      return true;
    case 1:
      progress.rank = static_cast<std::int32_t>(number);
      return number >= 0 && number <= std::numeric_limits<std::int32_t>::max();
    case 2:
      progress.step = number;
      return number >= -1;
    default:
      progress.sequence = value;
      return true;
  }
}

}  // namespace

struct Packer::Buffers {
  std::vector<std::byte> plain;
  std::vector<std::byte> blob;
  std::vector<std::uint64_t> field;
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context{ZSTD_createCCtx(),
                                                                  &ZSTD_freeCCtx};
};

Packer::Packer() : buffers_(std::make_unique<Buffers>()) {}
Packer::~Packer() = default;
Packer::Packer(Packer&&) noexcept = default;
Packer& Packer::operator=(Packer&&) noexcept = default;

Result<std::span<const std::byte>> Packer::Pack(std::span<const float> values) {
  buffers_->plain.resize(values.size_bytes());
  ToPlanes(values, buffers_->plain.data());
  return Compress();
}

Result<std::span<const std::byte>> Packer::Pack(std::span<const signal::Event> progress) {
  const std::size_t count = progress.size();
  auto& plain = buffers_->plain;
  plain.resize(count * kProgressBytes);
  buffers_->field.resize(count);
  for (std::size_t field = 0; field < kFields; ++field) {
    // The row holds the first time; 0 stands for it here.
    std::uint64_t before = field == 0 ? FieldOf(progress[0], 0) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t value = FieldOf(progress[i], field);
      buffers_->field[i] = value - before;
      before = value;
    }
    ToPlanes(std::span<const std::uint64_t>(buffers_->field),
             plain.data() + field * count * sizeof(std::uint64_t));
  }
  std::byte* flags = plain.data() + kFields * count * sizeof(std::uint64_t);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& what = std::get<signal::Progress>(progress[i].what);
    flags[i] = static_cast<std::byte>(static_cast<unsigned>(what.phase) |
                                      (what.in_collective ? kInCollective : 0U) |
                                      (what.idle ? kIdle : 0U));
  }
  return Compress();
}

Result<std::span<const std::byte>> Packer::Compress() {
  const auto& plain = buffers_->plain;
  auto& blob = buffers_->blob;
  blob.resize(1 + std::max(plain.size(), ZSTD_compressBound(plain.size())));
  std::size_t size = 0;
  if (buffers_->context != nullptr) {
    size = ZSTD_compressCCtx(buffers_->context.get(), blob.data() + 1, blob.size() - 1,
                             plain.data(), plain.size(), kLevel);
  }
  if (buffers_->context == nullptr || ZSTD_isError(size) != 0U) {
    return Error(Code::kResource, "no memory to compress samples");
  }
  blob[0] = kZstd;
  if (size >= plain.size()) {
    blob[0] = kPlain;
    size = plain.size();
    if (size > 0) std::memcpy(blob.data() + 1, plain.data(), size);
  }
  return std::span<const std::byte>(blob).first(1 + size);
}

struct Unpacker::Buffers {
  std::vector<std::byte> plain;
  std::vector<std::uint64_t> field;
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context{ZSTD_createDCtx(),
                                                                  &ZSTD_freeDCtx};
};

Unpacker::Unpacker() : buffers_(std::make_unique<Buffers>()) {}
Unpacker::~Unpacker() = default;
Unpacker::Unpacker(Unpacker&&) noexcept = default;
Unpacker& Unpacker::operator=(Unpacker&&) noexcept = default;

bool Unpacker::Decompress(std::span<const std::byte> blob, std::size_t size) {
  if (blob.empty() || (blob[0] != kPlain && blob[0] != kZstd)) return false;
  const auto bytes = blob.subspan(1);
  auto& plain = buffers_->plain;
  if (blob[0] == kPlain) {
    plain.assign(bytes.begin(), bytes.end());
    return plain.size() == size;
  }
  // One frame, nothing after it, and of the size it must have, before anything is decompressed.
  if (ZSTD_findFrameCompressedSize(bytes.data(), bytes.size()) != bytes.size() ||
      ZSTD_getFrameContentSize(bytes.data(), bytes.size()) != size ||
      buffers_->context == nullptr) {
    return false;
  }
  plain.resize(size);
  return ZSTD_decompressDCtx(buffers_->context.get(), plain.data(), plain.size(), bytes.data(),
                             bytes.size()) == size;
}

bool Unpacker::Unpack(std::span<const std::byte> blob, std::span<float> values) {
  if (!Decompress(blob, values.size_bytes())) return false;
  FromPlanes(buffers_->plain.data(), values);
  return true;
}

bool Unpacker::Unpack(std::span<const std::byte> blob, signal::Time first,
                      std::span<signal::Event> events) {
  const std::size_t count = events.size();
  if (!Decompress(blob, count * kProgressBytes)) return false;
  for (signal::Event& event : events) event.what = signal::Progress();
  buffers_->field.resize(count);
  for (std::size_t field = 0; field < kFields; ++field) {
    FromPlanes(buffers_->plain.data() + field * count * sizeof(std::uint64_t),
               std::span(buffers_->field));
    std::uint64_t value = field == 0 ? static_cast<std::uint64_t>(first.count()) : 0;
    for (std::size_t i = 0; i < count; ++i) {
      value += buffers_->field[i];
      if (!SetField(events[i], field, value)) return false;
    }
  }
  const std::byte* flags = buffers_->plain.data() + kFields * count * sizeof(std::uint64_t);
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<unsigned>(flags[i]);
    auto& progress = std::get<signal::Progress>(events[i].what);
    progress.in_collective = (bits & kInCollective) != 0;
    progress.idle = (bits & kIdle) != 0;
    const unsigned phase = bits & ~(kInCollective | kIdle);
    if (phase >= signal::kPhases) return false;
    progress.phase = static_cast<signal::Phase>(phase);
    if (i > 0 && events[i].received < events[i - 1].received) return false;
  }
  return true;
}

}  // namespace ringward::recording
