#include "learn/data/reader.h"

#include <algorithm>
#include <utility>

#include "io/buffered_source.h"
#include "io/decompress.h"
#include "io/expand.h"
#include "learn/data/file_reader.h"
#include "learn/data/table.h"

namespace ringward::learn {
namespace {

/// An archive that is not a plain file (standard input, compressed once more) is held in memory.
constexpr std::size_t kArchiveInMemoryMax = std::size_t{4} << 30;

/// Blocks of a table are joined up to this many rows.
constexpr std::size_t kJoinedRowsMax = 1024;

bool IsZip(std::string_view start) {
  return start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06");
}

Result<std::unique_ptr<FileReader>> OpenFile(const std::string& path, const DataOptions& options,
                                             Purpose purpose,
                                             const std::vector<std::string>& expected) {
  RINGWARD_ASSIGN(auto raw, io::OpenRawInput(path));
  auto head = std::make_unique<io::BufferedSource>(std::move(raw));
  RINGWARD_ASSIGN(const std::string_view raw_start, head->Peek(6));
  if (path != "-" && IsZip(raw_start)) {
    if (auto file = io::OpenRandomAccess(path)) return OpenNpz(*std::move(file), purpose);
  }
  RINGWARD_ASSIGN(auto plain, io::Decompress(std::move(head)));
  auto source = std::make_unique<io::BufferedSource>(std::move(plain));
  RINGWARD_ASSIGN(const std::string_view start, source->Peek(6));
  if (IsZip(start)) {
    const std::string name = source->name();
    RINGWARD_ASSIGN(auto bytes, io::ReadAll(*source, kArchiveInMemoryMax));
    return OpenNpz(io::RandomAccessFromMemory(std::move(bytes), name), purpose);
  }
  if (start.starts_with("\x93NUMPY")) return OpenNpy(std::move(source));
  return OpenCsv(std::move(source), options, expected);
}

class FilesReader final : public RowReader {
 public:
  FilesReader(DataOptions options, Purpose purpose, std::vector<std::string> expected)
      : options_(std::move(options)), purpose_(purpose), expected_(std::move(expected)) {}

  Status OpenFirst() {
    RINGWARD_TRY(Validate(options_));
    RINGWARD_ASSIGN(paths_, io::ExpandInputs(options_.paths));
    RINGWARD_ASSIGN(file_, OpenFile(paths_[0], options_, purpose_, expected_));
    const FileColumns& columns = file_->columns();
    RINGWARD_ASSIGN(
        schema_, MakeSchema(columns.names, columns.named, Name(0), options_, columns.extra_label));
    if (columns.named) expected_ = columns.names;
    // A model knows the label it was trained with; training has only what it is told.
    const bool unlabelled = schema_.WithRole(Role::kLabel) == nullptr;
    if (purpose_ == Purpose::kTrain && unlabelled && !options_.normal.empty()) {
      return Error(Code::kInvalidInput,
                   "--normal needs --label: " + Name(0) + " does not say which column it is");
    }
    return Ok();
  }

  const Schema& schema() const override { return schema_; }

  Result<bool> Next(Block& block) override {
    while (file_) {
      block = Block();
      block.slots = schema_.slots;
      block.texts.resize(schema_.slots);
      block.first_row = rows_;
      block.file_index = index_;
      block.file = Name(index_);
      RINGWARD_ASSIGN(const bool any, file_->Next(schema_, block));
      if (any) {
        rows_ += block.rows;
        file_has_rows_ = true;
        return true;
      }
      if (!file_has_rows_) {
        return Error(Code::kInvalidInput, Name(index_) + ": has no rows");
      }
      RINGWARD_TRY(OpenNext());
    }
    return false;
  }

 private:
  std::string Name(std::size_t index) const {
    return paths_[index] == "-" ? "<stdin>" : paths_[index];
  }

  Status OpenNext() {
    file_.reset();
    if (++index_ == paths_.size()) return Ok();
    RINGWARD_ASSIGN(file_, OpenFile(paths_[index_], options_, purpose_, expected_));
    file_has_rows_ = false;
    const FileColumns& columns = file_->columns();
    RINGWARD_TRY(CheckSameColumns(schema_, columns.names, columns.named, Name(index_)));
    const bool has_label = columns.extra_label.has_value();
    if (has_label != (schema_.columns.size() > schema_.file_columns)) {
      return Error(Code::kInvalidInput, Name(index_) + ": has " + (has_label ? "a" : "no") +
                                            " label array where " + schema_.file + " has " +
                                            (has_label ? "none" : "one"));
    }
    return Ok();
  }

  DataOptions options_;
  Purpose purpose_;
  std::vector<std::string> expected_;
  std::vector<std::string> paths_;
  std::size_t index_ = 0;
  std::unique_ptr<FileReader> file_;  ///< null at the end
  bool file_has_rows_ = false;
  std::uint64_t rows_ = 0;
  Schema schema_;
};

}  // namespace

std::vector<std::string> NumberedNames(std::size_t count) {
  std::vector<std::string> names(count);
  for (std::size_t i = 0; i < count; ++i) names[i] = std::to_string(i + 1);
  return names;
}

std::size_t BlockRowsMax(std::size_t slots) {
  return std::max<std::size_t>(1, kBlockCells / std::max<std::size_t>(1, slots));
}

Result<std::unique_ptr<RowReader>> RowReader::Open(const DataOptions& options, Purpose purpose,
                                                   const std::vector<std::string>& expected) {
  auto reader = std::make_unique<FilesReader>(options, purpose, expected);
  RINGWARD_TRY(reader->OpenFirst());
  return std::unique_ptr<RowReader>(std::move(reader));
}

Result<Table> LoadTable(const DataOptions& options, Purpose purpose) {
  RINGWARD_ASSIGN(auto reader, RowReader::Open(options, purpose));
  Table table;
  table.schema = reader->schema();
  while (true) {
    Block block;
    RINGWARD_ASSIGN(const bool any, reader->Next(block));
    if (!any) return table;
    table.rows += block.rows;
    Block* const last = table.blocks.empty() ? nullptr : &table.blocks.back();
    // A slow pipe gives many tiny blocks; each costs memory for all columns.
    const bool join = last != nullptr && last->file_index == block.file_index &&
                      last->rows + block.rows <= kJoinedRowsMax;
    if (join) {
      last->Append(block);
    } else {
      block.numbers.shrink_to_fit();
      table.blocks.push_back(std::move(block));
    }
  }
}

}  // namespace ringward::learn
