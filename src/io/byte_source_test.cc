#include "io/byte_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/interrupt.h"
#include "io/buffered_source.h"
#include "io/decompress.h"
#include "io/expand.h"
#include "io/test_folder.h"

namespace ringward::io {
namespace {

std::string Gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string in = text;
  std::string out(deflateBound(&stream, in.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

/// Gives one byte a call, as the slowest pipe would.
class Drip final : public ByteSource {
 public:
  explicit Drip(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  Result<std::size_t> Read(std::span<char> out) override {
    return source_->Read(out.first(std::min<std::size_t>(out.size(), 1)));
  }
  const std::string& name() const override { return source_->name(); }

 private:
  std::unique_ptr<ByteSource> source_;
};

std::string Unpack(const std::string& bytes, bool drip) {
  auto source = FromMemory(bytes, "t");
  if (drip) source = std::make_unique<Drip>(std::move(source));
  auto plain = Decompress(std::move(source));
  if (!plain) return plain.error().what();
  const auto all = ReadAll(**plain, 1 << 24);
  return all ? *all : all.error().what();
}

std::string Numbers(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST(DecompressTest, UndoesWhatTheFirstBytesSay) {
  const std::string text = Numbers(30'000);
  const std::string skippable = std::string("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  const struct {
    const char* what;
    std::string bytes;
    std::string expected;
  } kCases[] = {
      {"plain", text, text},
      {"empty", "", ""},
      {"one byte", "\x1f", "\x1f"},
      {"gzip", Gzip(text), text},
      {"gzip members", Gzip("a\n") + Gzip("") + Gzip(text), "a\n" + text},
      {"gzip and padding", Gzip("a") + std::string(512, '\0'), "a"},
      {"empty gzip", Gzip(""), ""},
      {"zstd", Zstd(text), text},
      {"zstd frames", Zstd("a\n") + skippable + Zstd("") + Zstd(text), "a\n" + text},
      {"zstd that starts with a skippable frame", skippable + Zstd("a"), "a"},
      {"gzip cut off", Gzip(text).substr(0, 1000), "t: gzip data ends early"},
      {"gzip without its sum", Gzip("a").substr(0, 20), "t: gzip data ends early"},
      {"gzip and junk", Gzip("a") + "junk", "t: gzip data is damaged"},
      {"zstd cut off", Zstd(text).substr(0, 1000), "t: zstd data ends early"},
      {"zstd and junk", Zstd("a") + "junk", "t: zstd data is damaged"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Unpack(c.bytes, false), c.expected) << c.what;
    EXPECT_EQ(Unpack(c.bytes, true), c.expected) << c.what << ", byte by byte";
  }
}

TEST(DecompressTest, NoticesAFlippedBit) {
  std::string bytes = Gzip(Numbers(1000));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  EXPECT_EQ(Unpack(bytes, false), "t: gzip data is damaged");
}

TEST(BufferedSourceTest, PeeksWithoutLosing) {
  BufferedSource source(std::make_unique<Drip>(FromMemory("abcdef", "t")));
  EXPECT_EQ(*source.Peek(3), "abc");
  std::string two(2, ' ');
  ASSERT_TRUE(source.ReadExactly(two));
  EXPECT_EQ(two, "ab");
  EXPECT_EQ(*source.Peek(9), "cdef");
  std::string five(5, ' ');
  EXPECT_EQ(source.ReadExactly(five).error().what(), "t: ends early, 1 bytes are missing");
}

TEST(OpenInputTest, SaysWhyItCannot) {
  const TestFolder folder;
  const auto absent = OpenInput(folder.Path("absent"));
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code(), Code::kInvalidInput);
  EXPECT_EQ(folder.Hide(absent.error().what()), "absent: cannot open: No such file or directory");
  const auto directory = OpenInput(folder.Path(""));
  ASSERT_FALSE(directory);
  EXPECT_EQ(folder.Hide(directory.error().what()), ": is a folder, not a file");
}

/// Whether the thread sleeps in a system call, as /proc tells it behind the program's name.
bool Sleeps(pid_t thread) {
  std::ifstream stat("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(stat, line);
  const std::size_t name_end = line.rfind(") ");
  return name_end != std::string::npos && line[name_end + 2] == 'S';
}

/// Reads from a pipe that stays empty; the signal comes to another thread, so that it does not
/// interrupt the read: as one that comes between a look at the flag and the read.
void ReadUntilInterrupted() {
  alarm(60);  // ends the child if it waits for ever
  InstallInterruptHandling();
  const InterruptScope scope;
  int ends[2];
  if (pipe(ends) != 0) _exit(1);
  auto source = OpenRawInput("/dev/fd/" + std::to_string(ends[0]));
  const pid_t reader = gettid();
  std::thread signaller([reader] {
    while (!Sleeps(reader)) std::this_thread::yield();
    raise(SIGTERM);  // to this thread
  });
  char byte = 0;
  const auto read = (*source)->Read({&byte, 1});
  signaller.join();
  _exit(!read && read.error().code() == Code::kInterrupted ? 42 : 1);
}

TEST(OpenInputTest, ASignalBetweenLookAndReadEndsTheRead) {
  EXPECT_EXIT(ReadUntilInterrupted(), testing::ExitedWithCode(42), "");
}

TEST(ReadAllTest, KeepsToItsLimit) {
  EXPECT_EQ(ReadAll(*FromMemory("abc", "t"), 3)->size(), 3U);
  EXPECT_EQ(ReadAll(*FromMemory("abcd", "t"), 3).error().what(), "t: more than 3 bytes");
}

TEST(ExpandInputsTest, SortsMatchesAndNamesWhatIsNot) {
  const TestFolder folder;
  for (const char* name : {"b.csv", "a.csv", "c.txt", "x[1].csv"}) folder.Write(name, "1\n");
  const auto expand = [&](std::vector<std::string> names) {
    for (std::string& name : names) name = name == "-" ? name : folder.Path(name);
    const auto files = ExpandInputs(names);
    if (!files) return folder.Hide(files.error().what());
    std::string out;
    for (const std::string& file : *files) out += folder.Hide(file) + " ";
    return out;
  };
  EXPECT_EQ(expand({"c.txt", "[ab].csv"}), "c.txt a.csv b.csv ");
  EXPECT_EQ(expand({"x[1].csv", "-"}), "x[1].csv - ");
  EXPECT_EQ(expand({"a.csv", "*.npz"}), "*.npz: matches no file");
  EXPECT_EQ(expand({"d.csv"}), "d.csv: no such file");
  EXPECT_EQ(expand({""}), ": is a folder, not a file");
  EXPECT_EQ(expand({"-", "-"}), "-: standard input can be read only once");
}

}  // namespace
}  // namespace ringward::io
