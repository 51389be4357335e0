#include <algorithm>
#include <utility>

#include "io/zip_reader.h"
#include "learn/data/file_reader.h"
#include "learn/data/npy.h"

namespace ringward::learn {
namespace {

/// Rows of one array, with the values of a label array beside them where there is one.
class ArrayReader final : public FileReader {
 public:
  ArrayReader(std::unique_ptr<NpyArray> rows, std::unique_ptr<NpyArray> labels,
              std::string label_name)
      : rows_(std::move(rows)), labels_(std::move(labels)) {
    columns_.names = NumberedNames(rows_->header().cols);
    if (labels_) columns_.extra_label = std::move(label_name);
  }

  const FileColumns& columns() const override { return columns_; }

  Result<bool> Next(const Schema& schema, Block& block) override {
    const std::size_t cols = rows_->header().cols;
    const std::size_t width = cols + (labels_ ? 1 : 0);
    const std::size_t n = std::min(rows_->rows_left(), BlockRowsMax(width));
    if (n == 0) return false;
    block.first_file_row = rows_->header().rows - rows_->rows_left();
    cells_.resize(n * width);
    RINGWARD_TRY(rows_->ReadRows(n, width, cells_, rounded_));
    KeepDigits(schema, 0, block);
    if (labels_) {
      RINGWARD_TRY(labels_->ReadRows(n, width, std::span(cells_).subspan(cols), rounded_));
      KeepDigits(schema, cols, block);
    }
    block.rows = n;
    block.numbers.resize(n * schema.slots);
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t slot = schema.columns[i].slot;
      if (slot == kNoSlot) continue;
      for (std::size_t r = 0; r < n; ++r) {
        block.numbers[r * schema.slots + slot] = cells_[r * width + i];
      }
    }
    return true;
  }

 private:
  /// As in text files: integers that share a double differ as labels, levels and ids.
  void KeepDigits(const Schema& schema, std::size_t first_column, Block& block) const {
    for (const LongInteger& integer : rounded_) {
      const std::size_t slot = schema.columns[first_column + integer.col].slot;
      if (slot != kNoSlot) block.SetText(integer.row, slot, integer.digits);
    }
  }

  std::unique_ptr<NpyArray> rows_;
  std::unique_ptr<NpyArray> labels_;  ///< null when there is none
  FileColumns columns_;
  std::vector<double> cells_;
  std::vector<LongInteger> rounded_;  ///< of the array read last
};

const io::ZipMember* FindArray(const io::ZipReader& zip, const std::string& key) {
  const io::ZipMember* member = zip.Find(key + ".npy");
  return member != nullptr ? member : zip.Find(key);
}

/// Which arrays hold the rows and their labels; see Purpose.
struct Choice {
  const io::ZipMember* rows = nullptr;
  const io::ZipMember* labels = nullptr;
  std::string label_name;
};

Choice ChooseArrays(const io::ZipReader& zip, Purpose purpose) {
  Choice choice;
  choice.rows = FindArray(zip, purpose == Purpose::kTrain ? "train" : "test");
  if (choice.rows != nullptr) {
    if (purpose == Purpose::kScore) choice.labels = FindArray(zip, "test_label");
    choice.label_name = "test_label";
    return choice;
  }
  choice.rows = FindArray(zip, "X");
  if (choice.rows != nullptr) {
    choice.labels = FindArray(zip, "y");
    choice.label_name = "y";
  } else if (zip.members().size() == 1) {
    choice.rows = &zip.members().front();
  }
  return choice;
}

Error NoRows(const io::ZipReader& zip, const std::string& file, Purpose purpose) {
  constexpr std::size_t kNamesMax = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(zip.members().size(), kNamesMax); ++i) {
    names += (i == 0 ? "" : ", ") + Quoted(zip.members()[i].name);
  }
  return {Code::kInvalidInput, file + ": no array X or " +
                                   (purpose == Purpose::kTrain ? "train" : "test") +
                                   " in it; it holds " + (names.empty() ? "nothing" : names)};
}

Result<std::unique_ptr<NpyArray>> OpenArray(const io::ZipReader& zip, const io::ZipMember& member,
                                            const std::string& file) {
  RINGWARD_ASSIGN(auto source, zip.OpenMember(member));
  return NpyArray::Open(std::move(source), file + ": array " + Quoted(member.name));
}

Status CheckColumns(const NpyArray& array) {
  if (array.header().cols <= kColumnsMax) return Ok();
  return Error(Code::kInvalidInput, array.where() + " has more than 1,000,000 columns");
}

}  // namespace

Result<std::unique_ptr<FileReader>> OpenNpy(std::unique_ptr<io::ByteSource> source) {
  const std::string where = source->name() + ": array";
  RINGWARD_ASSIGN(auto rows, NpyArray::Open(std::move(source), where));
  RINGWARD_TRY(CheckColumns(*rows));
  return std::unique_ptr<FileReader>(
      std::make_unique<ArrayReader>(std::move(rows), nullptr, std::string()));
}

Result<std::unique_ptr<FileReader>> OpenNpz(std::shared_ptr<const io::RandomAccess> file,
                                            Purpose purpose) {
  const std::string name = file->name();
  RINGWARD_ASSIGN(const auto zip, io::ZipReader::Open(std::move(file)));
  const Choice choice = ChooseArrays(zip, purpose);
  if (choice.rows == nullptr) return NoRows(zip, name, purpose);
  RINGWARD_ASSIGN(auto rows, OpenArray(zip, *choice.rows, name));
  RINGWARD_TRY(CheckColumns(*rows));
  std::unique_ptr<NpyArray> labels;
  if (choice.labels != nullptr) {
    RINGWARD_ASSIGN(labels, OpenArray(zip, *choice.labels, name));
    if (labels->header().cols != 1 || labels->header().rows != rows->header().rows) {
      return Error(Code::kInvalidInput,
                   labels->where() + " has the shape (" + std::to_string(labels->header().rows) +
                       ", " + std::to_string(labels->header().cols) +
                       ") where one label for each "
                       "of " +
                       std::to_string(rows->header().rows) + " rows is expected");
    }
  }
  return std::unique_ptr<FileReader>(
      std::make_unique<ArrayReader>(std::move(rows), std::move(labels), choice.label_name));
}

}  // namespace ringward::learn
