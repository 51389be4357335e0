#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "io/atomic_directory.h"
#include "io/atomic_file.h"
#include "io/test_folder.h"

namespace ringward::io {
namespace {

namespace fs = std::filesystem;

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t Entries(const std::string& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(AtomicFileTest, AppearsOnlyWhole) {
  const TestFolder folder;
  const std::string path = folder.Write("out", "old");
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  {
    auto file = AtomicFile::Create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->Write("new"));
    EXPECT_EQ(Content(path), "old");
  }
  EXPECT_EQ(Content(path), "old");
  EXPECT_EQ(Entries(folder.Path("")), 1U) << "an abandoned file leaves nothing behind";
  ASSERT_TRUE(WriteFileAtomically(path, "new"));
  EXPECT_EQ(Content(path), "new");
  EXPECT_EQ(Entries(folder.Path("")), 1U);
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0640U) << "permissions are kept";
}

TEST(AtomicFileTest, KeepsASymbolicLink) {
  const TestFolder folder;
  folder.Write("target", "old");
  fs::create_symlink(folder.Path("target"), folder.Path("link"));
  ASSERT_TRUE(WriteFileAtomically(folder.Path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(folder.Path("link")));
  EXPECT_EQ(Content(folder.Path("target")), "new");
}

TEST(AtomicFileTest, WritesDevicesDirectlyAndReportsAFullDisk) {
  ASSERT_TRUE(WriteFileAtomically("/dev/null", "x"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  ASSERT_TRUE(fs::exists("/dev/full")) << "every Linux has one";
  const auto full = WriteFileAtomically("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code(), Code::kResource);
  EXPECT_EQ(full.error().what(), "/dev/full: cannot write: No space left on device");
}

TEST(AtomicFileTest, RefusesFoldersAndMissingOnes) {
  const TestFolder folder;
  const auto is_folder = WriteFileAtomically(folder.Path(""), "x");
  ASSERT_FALSE(is_folder);
  EXPECT_EQ(is_folder.error().code(), Code::kInvalidInput);
  const auto absent = WriteFileAtomically(folder.Path("no/out"), "x");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code(), Code::kInvalidInput);
  EXPECT_EQ(folder.Hide(absent.error().what()), "no/out: cannot create: No such file or directory");
}

bool LooksLikeOurs(const std::string& path) { return fs::exists(path + "/ours"); }

/// Writes one file into a new folder at `path` and commits or not.
Status Publish(const std::string& path, const std::string& text, bool commit = true) {
  RINGWARD_ASSIGN(auto made, AtomicDirectory::Create(path, LooksLikeOurs));
  RINGWARD_TRY(WriteFileAtomically(made.folder() + "/ours", text));
  return commit ? made.Commit() : Ok();
}

TEST(AtomicDirectoryTest, AppearsOnlyWholeAndReplacesItsOwn) {
  const TestFolder folder;
  const std::string path = folder.Path("model");
  ASSERT_TRUE(Publish(path + "/", "1", false));
  EXPECT_EQ(Entries(folder.Path("")), 0U);
  ASSERT_TRUE(Publish(path + "/", "1"));
  EXPECT_EQ(Content(path + "/ours"), "1");
  ASSERT_TRUE(Publish(path, "2"));
  EXPECT_EQ(Content(path + "/ours"), "2");
  ASSERT_TRUE(Publish(path, "3", false));
  EXPECT_EQ(Content(path + "/ours"), "2");
  EXPECT_EQ(Entries(folder.Path("")), 1U) << "neither the old folder nor a temporary one is left";
}

TEST(AtomicDirectoryTest, LeavesOthersAlone) {
  const TestFolder folder;
  fs::create_directory(folder.Path("empty"));
  EXPECT_TRUE(Publish(folder.Path("empty"), "1"));
  fs::create_directory(folder.Path("theirs"));
  folder.Write("theirs/thesis", "x");
  folder.Write("file", "x");
  for (const auto& [name, expected] : std::vector<std::pair<std::string, std::string>>{
           {"theirs", "theirs: exists and holds other files; choose another name"},
           {"file", "file: exists and is not a folder"},
           {"no/model", "no/model: cannot create: No such file or directory"}}) {
    const auto refused = Publish(folder.Path(name), "1");
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code(), Code::kInvalidInput);
    EXPECT_EQ(folder.Hide(refused.error().what()), expected);
  }
  EXPECT_EQ(Content(folder.Path("theirs/thesis")), "x");
}

TEST(AtomicDirectoryTest, AsksAgainBeforeItReplaces) {
  const TestFolder folder;
  auto made = AtomicDirectory::Create(folder.Path("model"), LooksLikeOurs);
  ASSERT_TRUE(made);
  fs::create_directory(folder.Path("model"));
  folder.Write("model/thesis", "x");
  EXPECT_FALSE(made->Commit());
  EXPECT_EQ(Content(folder.Path("model/thesis")), "x");
}

}  // namespace
}  // namespace ringward::io
