#include <gtest/gtest.h>

#include <string>

#include "io/byte_source.h"
#include "io/csv_scanner.h"
#include "io/test_folder.h"
#include "learn/data/dataset.h"
#include "learn/data/file_reader.h"
#include "learn/data/reader.h"
#include "learn/data/table.h"

namespace ringward::learn {
namespace {

/// Reads `text` as a file called t.csv: "a=1 b=x|..." or the error.
std::string ReadBack(const std::string& text, DataOptions options = {}) {
  const io::TestFolder folder;
  options.paths = {folder.Write("t.csv", text)};
  const auto table = LoadTable(options, Purpose::kTrain);
  if (!table) return folder.Hide(table.error().what());
  std::string out;
  for (const Block& block : table->blocks) {
    for (std::size_t r = 0; r < block.rows; ++r) {
      for (const Column& column : table->schema.columns) {
        if (column.slot == kNoSlot) continue;
        out += column.name + "=" + block.Text(r, column.slot) + " ";
      }
      out.back() = '|';
    }
  }
  return out;
}

TEST(CsvTest, ReadsWhatPeopleWrite) {
  const struct {
    const char* what;
    std::string text;
    std::string expected;
  } kCases[] = {
      {"a header", "a,b\n1,x\n2,y\n", "a=1 b=x|a=2 b=y|"},
      {"no header", "1,x\n2,y\n", "1=1 2=x|1=2 2=y|"},
      {"no last line end", "a,b\n1,2", "a=1 b=2|"},
      {"CR LF", "a,b\r\n1,x\r\n", "a=1 b=x|"},
      {"a byte-order mark",
       "\xef\xbb\xbf"
       "a,b\n1,2\n",
       "a=1 b=2|"},
      {"empty lines", "a,b\n\n1,2\n\r\n3,4\n\n", "a=1 b=2|a=3 b=4|"},
      {"an empty first line", "\r\n\na;b\n1;2\n", "a=1 b=2|"},
      {"tabs", "a\tb\n1,5\tx\n", "a=1,5 b=x|"},
      {"semicolons", "a;b,c\n1;2\n", "a=1 b,c=2|"},
      {"pipes", "a|b\n1|2\n", "a=1 b=2|"},
      {"quotes", "a,b\n\"x,\"\"y\"\"\",2\n", "a=x,\"y\" b=2|"},
      {"a line end in quotes", "a,b\n\"x\ny\",2\n", "a=x\ny b=2|"},
      {"a quote inside a field", "a,b\n5\" pipe,2\n", "a=5\" pipe b=2|"},
      {"missing markers", "a,b,c,d,e,f\nNA,,?,-,None,nan\n", "a= b= c= d= e= f=|"},
      {"blanks around fields", "a, b\n 1 , x \n", "a=1 b=x|"},
      {"all text", "name,kind\nx,y\nx,z\n", "name=x kind=y|name=x kind=z|"},
      {"all text without a header", "x,y\nx,z\n", "1=x 2=y|1=x 2=z|"},
      {"exponents and signs", "a,b,c\n+1e3,-.5,5.\n", "a=1000 b=-0.5 c=5|"},
      {"one column", "v\n1\n2\n", "v=1|v=2|"},
      {"an index without a name", ",a\n0,5\n", "1=0 a=5|"},
  };
  for (const auto& c : kCases) EXPECT_EQ(ReadBack(c.text), c.expected) << c.what;
}

TEST(CsvTest, NamesFileLineAndColumnOfBadInput) {
  const struct {
    const char* what;
    std::string text;
    std::string expected;
  } kCases[] = {
      {"empty", "", "t.csv: is empty"},
      {"only a header", "a,b\n", "t.csv: has no rows"},
      {"ragged", "a,b\n1,2\n3\n", "t.csv:3: 1 fields where 2 are expected"},
      {"ragged behind a quoted line end", "a,b\n\"1\n1\",2\n3\n",
       "t.csv:4: 1 fields where 2 are expected"},
      {"double name", "a,b,a\n1,2,3\n",
       "t.csv:1: column name \"a\" is used twice (columns 1 and 3)"},
      {"open quote", "a,b\n1,\"x\n2,y\n", "t.csv:2: field 2: a quote is opened and never closed"},
      {"text behind a quote", "a,b\n\"1\"x,2\n", "t.csv:2: field 1: text behind a closing quote"},
      {"lines that end in CR", "a,b\r1,2\r2,3\r",
       "t.csv: its lines end in CR only; save it with LF or CR LF at their ends"},
      {"UTF-16",
       "\xff\xfe"
       "a",
       "t.csv: is UTF-16 text; save it as UTF-8"},
  };
  for (const auto& c : kCases) EXPECT_EQ(ReadBack(c.text), c.expected) << c.what;
}

TEST(CsvTest, HoldsTheLimitOfARecordExactly) {
  constexpr std::size_t kMax = io::CsvScanner::kRecordMax;
  const std::string too_long =
      "t.csv:2: a record longer than 16 MiB (an open quote, or not a text file?)";
  const auto record = [](std::size_t bytes, bool quoted) {
    const std::string edge = quoted ? "\"" : "";
    return edge + std::string(bytes - 2 * edge.size() - 2, 'x') + edge + ",1";
  };
  for (const bool quoted : {false, true}) {
    for (const char* const end : {"", "\n", "\n2,3\n"}) {
      for (const auto& [bytes, fits] : {std::pair{kMax, true}, std::pair{kMax + 1, false}}) {
        const std::string read = ReadBack("a,b\n" + record(bytes, quoted) + end);
        EXPECT_EQ(fits ? read.substr(0, 2) : read, fits ? "a=" : too_long)
            << bytes << (quoted ? " quoted" : "") << end;
      }
    }
  }
}

}  // namespace
}  // namespace ringward::learn
