#include "io/zip_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "io/test_zip.h"

namespace ringward::io {
namespace {

Result<ZipReader> OpenBytes(const std::string& bytes) {
  return ZipReader::Open(RandomAccessFromMemory(bytes, "t.zip"));
}

/// The member's bytes, or the error of whatever failed.
std::string ReadMember(const std::string& archive, const std::string& name) {
  const auto zip = OpenBytes(archive);
  if (!zip) return zip.error().what();
  const ZipMember* const member = zip->Find(name);
  if (member == nullptr) return "not found";
  auto source = zip->OpenMember(*member);
  if (!source) return source.error().what();
  const auto bytes = ReadAll(**source, 1 << 24);
  return bytes ? *bytes : bytes.error().what();
}

TEST(ZipReaderTest, ReadsEveryKindOfMember) {
  const std::string text(100'000, 'x');
  const std::string archive = ZipBytes({{"a", "hello"},
                                        {"b", text, true},
                                        {"c", "", true},
                                        {"d", "", false},
                                        {"e", "far away", false, true},
                                        {"f", text, true, true}});
  for (const auto& [name, expected] : std::vector<std::pair<std::string, std::string>>{
           {"a", "hello"}, {"b", text}, {"c", ""}, {"d", ""}, {"e", "far away"}, {"f", text}}) {
    EXPECT_EQ(ReadMember(archive, name), expected) << name;
  }
  EXPECT_EQ(ReadMember(archive, "g"), "not found");
}

TEST(ZipReaderTest, RefusesDamage) {
  const std::string good = ZipBytes({{"a", "hello"}, {"b", std::string(1000, 'x'), true}});
  EXPECT_EQ(ReadMember(ZipBytes({{"a", "hello", false, false, 1}}), "a"),
            "t.zip: zip member data fails its checksum");
  EXPECT_EQ(ReadMember(ZipBytes({{"a", "hello", true, false, 1}}), "a"),
            "t.zip: zip member data fails its checksum");
  EXPECT_EQ(ReadMember("", "a"), "t.zip: zip directory not found (truncated?)");
  EXPECT_EQ(ReadMember(good.substr(0, good.size() - 30), "a"),
            "t.zip: zip directory not found (truncated?)");
}

/// Every single-byte change and every truncation gives a member, an error, never a crash, and
/// never a member that differs without an error.
TEST(ZipReaderTest, SurvivesEveryByteChange) {
  const std::string body = "some text, some text, some text";
  const std::string good = ZipBytes({{"a", body, true, true}, {"b", body}});
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0xff);
    for (const char* name : {"a", "b"}) {
      const std::string got = ReadMember(bad, name);
      EXPECT_TRUE(got == body || got == "not found" || got.starts_with("t.zip: ")) << i << got;
    }
    EXPECT_NE(ReadMember(good.substr(0, i), "a"), body) << i;
  }
}

TEST(ZipReaderTest, AllocatesNothingForClaimedSizes) {
  std::string archive = ZipBytes({{"a", "hello", true}});
  const std::size_t entry = archive.find("PK\x01\x02");
  archive.replace(entry + 24, 4, LittleEndian(0xfffffff0U, 4));  // uncompressed size
  EXPECT_EQ(ReadMember(archive, "a"), "t.zip: zip member data fails its checksum");
}

}  // namespace
}  // namespace ringward::io
