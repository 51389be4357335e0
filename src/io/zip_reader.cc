#include "io/zip_reader.h"

#include <algorithm>
#include <utility>

#include "io/decompress.h"

namespace ringward::io {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kDirectoryEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kCommentMax = 65535;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kLocalBytes = 30;
/// An .npz has a handful of members; a directory above this is not one we can want.
constexpr std::uint64_t kDirectoryMax = std::uint64_t{64} << 20;

/// Little-endian number of sizeof(T) bytes at `at`. REQUIRES: they are inside `bytes`.
template <typename T>
T Get(std::string_view bytes, std::size_t at) {
  RINGWARD_CHECK(at + sizeof(T) <= bytes.size());
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    value = static_cast<T>(static_cast<std::uint64_t>(value) << 8 |
                           static_cast<unsigned char>(bytes[at + i]));
  }
  return value;
}

Result<std::string> ReadText(const RandomAccess& file, std::uint64_t offset, std::uint64_t size) {
  if (offset > file.size() || file.size() - offset < size) {
    return Error(Code::kCorrupt, file.name() + ": zip directory points outside the file");
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  RINGWARD_TRY(file.ReadAt(offset, bytes));
  return bytes;
}

/// Where the central directory is.
struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Reads the zip64 end record that the locator just before `end_offset` points to.
Result<Directory> FindDirectory64(const RandomAccess& file, std::uint64_t end_offset) {
  const Error bad(Code::kCorrupt, file.name() + ": zip64 directory is damaged");
  if (end_offset < 20) return bad;
  RINGWARD_ASSIGN(const std::string locator, ReadText(file, end_offset - 20, 20));
  if (Get<std::uint32_t>(locator, 0) != kLocator64) return bad;
  RINGWARD_ASSIGN(const std::string end, ReadText(file, Get<std::uint64_t>(locator, 8), 56));
  if (Get<std::uint32_t>(end, 0) != kDirectoryEnd64) return bad;
  return Directory{Get<std::uint64_t>(end, 48), Get<std::uint64_t>(end, 40)};
}

Result<Directory> FindDirectory(const RandomAccess& file) {
  const std::uint64_t tail = std::min<std::uint64_t>(file.size(), kEndBytes + kCommentMax);
  RINGWARD_ASSIGN(const std::string bytes, ReadText(file, file.size() - tail, tail));
  for (std::size_t at = bytes.size() - std::min(bytes.size(), kEndBytes - 1); at-- > 0;) {
    if (Get<std::uint32_t>(bytes, at) != kDirectoryEnd) continue;
    const Directory found{Get<std::uint32_t>(bytes, at + 16), Get<std::uint32_t>(bytes, at + 12)};
    const bool is64 = found.offset == UINT32_MAX || found.size == UINT32_MAX ||
                      Get<std::uint16_t>(bytes, at + 10) == UINT16_MAX;
    return is64 ? FindDirectory64(file, file.size() - tail + at) : Result<Directory>(found);
  }
  return Error(Code::kCorrupt, file.name() + ": zip directory not found (truncated?)");
}

/// Takes the 64-bit values of extra field 1 in the order of the fields that are full.
bool ApplyZip64(std::string_view extra, ZipMember& member) {
  while (extra.size() >= 4) {
    const auto id = Get<std::uint16_t>(extra, 0);
    const std::size_t length = Get<std::uint16_t>(extra, 2);
    if (extra.size() < 4 + length) return false;
    if (id == 1) {
      std::string_view values = extra.substr(4, length);
      for (std::uint64_t* field : {&member.size, &member.compressed, &member.offset}) {
        if (*field != UINT32_MAX) continue;
        if (values.size() < 8) return false;
        *field = Get<std::uint64_t>(values, 0);
        values.remove_prefix(8);
      }
    }
    extra.remove_prefix(4 + length);
  }
  return true;
}

/// Parses the entry at the front of `entries` and removes it; false when it is damaged.
bool TakeEntry(std::string_view& entries, ZipMember& member) {
  if (entries.size() < kEntryBytes || Get<std::uint32_t>(entries, 0) != kDirectoryEntry)
    return false;
  const std::size_t name = Get<std::uint16_t>(entries, 28);
  const std::size_t extra = Get<std::uint16_t>(entries, 30);
  const std::size_t comment = Get<std::uint16_t>(entries, 32);
  if (entries.size() - kEntryBytes < name + extra + comment) return false;
  const bool encrypted = (Get<std::uint16_t>(entries, 8) & 1U) != 0;
  member.method = encrypted ? UINT16_MAX : Get<std::uint16_t>(entries, 10);
  member.crc = Get<std::uint32_t>(entries, 16);
  member.compressed = Get<std::uint32_t>(entries, 20);
  member.size = Get<std::uint32_t>(entries, 24);
  member.offset = Get<std::uint32_t>(entries, 42);
  member.name = entries.substr(kEntryBytes, name);
  if (!ApplyZip64(entries.substr(kEntryBytes + name, extra), member)) return false;
  entries.remove_prefix(kEntryBytes + name + extra + comment);
  return true;
}

}  // namespace

Result<ZipReader> ZipReader::Open(std::shared_ptr<const RandomAccess> file) {
  RINGWARD_ASSIGN(const Directory directory, FindDirectory(*file));
  if (directory.size > kDirectoryMax) {
    return Error(Code::kCorrupt, file->name() + ": zip directory is larger than 64 MiB");
  }
  RINGWARD_ASSIGN(const std::string bytes, ReadText(*file, directory.offset, directory.size));
  ZipReader reader(file);
  std::string_view entries = bytes;
  while (!entries.empty()) {
    ZipMember member;
    if (!TakeEntry(entries, member) || member.offset > file->size() ||
        member.compressed > file->size() - member.offset) {
      return Error(Code::kCorrupt, file->name() + ": zip directory is damaged");
    }
    reader.members_.push_back(std::move(member));
  }
  return reader;
}

const ZipMember* ZipReader::Find(std::string_view name) const {
  const auto it = std::find_if(members_.begin(), members_.end(),
                               [&](const ZipMember& member) { return member.name == name; });
  return it == members_.end() ? nullptr : &*it;
}

Result<std::unique_ptr<ByteSource>> ZipReader::OpenMember(const ZipMember& member) const {
  RINGWARD_ASSIGN(const std::string local, ReadText(*file_, member.offset, kLocalBytes));
  if (Get<std::uint32_t>(local, 0) != kLocalHeader) {
    return Error(Code::kCorrupt, file_->name() + ": zip member has no header");
  }
  const std::uint64_t start =
      member.offset + kLocalBytes + Get<std::uint16_t>(local, 26) + Get<std::uint16_t>(local, 28);
  if (start > file_->size() || member.compressed > file_->size() - start) {
    return Error(Code::kCorrupt, file_->name() + ": zip member is cut off");
  }
  auto bytes = Section(file_, start, member.compressed);
  if (member.method == 0) return CheckStored(std::move(bytes), member.size, member.crc);
  if (member.method == 8) return InflateRaw(std::move(bytes), member.size, member.crc);
  return Error(Code::kInvalidInput,
               file_->name() +
                   ": zip member is encrypted or compressed by another method than "
                   "deflate");
}

}  // namespace ringward::io
