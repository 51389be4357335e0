#include <algorithm>
#include <utility>

#include "io/csv_scanner.h"
#include "learn/data/csv_dialect.h"
#include "learn/data/file_reader.h"
#include "learn/data/number.h"

namespace ringward::learn {
namespace {

class CsvReader final : public FileReader {
 public:
  explicit CsvReader(std::unique_ptr<io::ByteSource> source) : scanner_(std::move(source)) {}

  Status Open(const DataOptions& options, const std::vector<std::string>& expected) {
    RINGWARD_TRY(ChooseDelimiter(options));
    RINGWARD_ASSIGN(const bool any, scanner_.Next(fields_));
    if (!any) return Error(Code::kInvalidInput, scanner_.name() + ": is empty");
    if (fields_.size() > kColumnsMax) {
      return Error(Code::kInvalidInput, scanner_.name() + ": more than 1,000,000 columns");
    }
    std::vector<std::string> first = Copy();
    RINGWARD_ASSIGN(columns_.named, HasHeader(options.header, first, expected));
    scanner_.Rewind();
    if (columns_.named) RINGWARD_TRY(scanner_.Next(fields_));
    scanner_.Commit();
    columns_.names = NumberedNames(first.size());
    for (std::size_t i = 0; columns_.named && i < first.size(); ++i) {
      if (!first[i].empty()) columns_.names[i] = std::move(first[i]);
    }
    return Ok();
  }

  const FileColumns& columns() const override { return columns_; }

  Result<bool> Next(const Schema& schema, Block& block) override {
    block.first_file_row = rows_;
    const std::size_t rows_max = BlockRowsMax(schema.slots);
    while (block.rows < rows_max) {
      RINGWARD_ASSIGN(const auto got, scanner_.TryNext(fields_));
      if (got == io::CsvScanner::Got::kEnd) break;
      if (got == io::CsvScanner::Got::kRecord) {
        RINGWARD_TRY(Append(schema, block));
        continue;
      }
      if (block.rows > 0) break;  // give what is here before waiting for more
      RINGWARD_TRY(scanner_.Fill());
    }
    rows_ += block.rows;
    return block.rows > 0;
  }

 private:
  Status ChooseDelimiter(const DataOptions& options) {
    RINGWARD_ASSIGN(const std::string first, scanner_.PeekLine(0));
    if (options.delimiter != '\0') {
      scanner_.SetDelimiter(options.delimiter);
      return Ok();
    }
    std::string second = first;
    if (DelimiterIsOpen(first)) {
      RINGWARD_ASSIGN(second, scanner_.PeekLine(1));
    }
    scanner_.SetDelimiter(SniffDelimiter(first, second));
    return Ok();
  }

  Result<bool> HasHeader(HeaderMode mode, const std::vector<std::string>& first,
                         const std::vector<std::string>& expected) {
    if (mode != HeaderMode::kAuto) return mode == HeaderMode::kYes;
    const HeaderGuess guess = GuessHeader(first, expected);
    if (guess != HeaderGuess::kAskSecond) return guess == HeaderGuess::kYes;
    RINGWARD_ASSIGN(const bool more, scanner_.Next(fields_));
    return !more || SecondMakesHeader(first, Copy());
  }

  std::vector<std::string> Copy() const {
    std::vector<std::string> copy;
    copy.reserve(fields_.size());
    for (const std::string_view field : fields_) copy.emplace_back(Trimmed(field));
    return copy;
  }

  Status Append(const Schema& schema, Block& block) {
    if (fields_.size() != schema.columns.size()) {
      return Error(Code::kInvalidInput,
                   scanner_.name() + ":" + std::to_string(scanner_.line()) + ": " +
                       std::to_string(fields_.size()) + " fields where " +
                       std::to_string(schema.columns.size()) + " are expected");
    }
    const std::size_t row = block.rows++;
    block.numbers.resize(block.rows * schema.slots);
    double* const cells = block.numbers.data() + row * schema.slots;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const Column& column = schema.columns[i];
      if (column.slot == kNoSlot) continue;
      const CellKind kind = ParseCell(fields_[i], cells[column.slot]);
      const std::string_view text = Trimmed(fields_[i]);
      if (kind == CellKind::kText || column.role != Role::kInput ||
          LosesDigits(text, cells[column.slot])) {
        block.SetText(row, column.slot, text);
      }
    }
    block.lines.push_back(scanner_.line());
    return Ok();
  }

  io::CsvScanner scanner_;
  FileColumns columns_;
  std::vector<std::string_view> fields_;
  std::uint64_t rows_ = 0;
};

}  // namespace

Result<std::unique_ptr<FileReader>> OpenCsv(std::unique_ptr<io::ByteSource> source,
                                            const DataOptions& options,
                                            const std::vector<std::string>& expected) {
  auto reader = std::make_unique<CsvReader>(std::move(source));
  RINGWARD_TRY(reader->Open(options, expected));
  return std::unique_ptr<FileReader>(std::move(reader));
}

}  // namespace ringward::learn
