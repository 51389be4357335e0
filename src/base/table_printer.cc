#include "base/table_printer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/terminal.h"
#include "base/text_value.h"

namespace ringward {
namespace {

constexpr std::size_t kLongestCell = 4096;

}  // namespace

TablePrinter::TablePrinter(std::vector<Column> columns) : columns_(std::move(columns)) {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  rows_.push_back(std::move(titles));
}

void TablePrinter::AddRow(const std::vector<std::string>& cells) {
  RINGWARD_CHECK(cells.size() == columns_.size());
  std::vector<std::string> row;
  row.reserve(cells.size());
  for (const std::string& cell : cells) row.push_back(Printable(cell, kLongestCell));
  rows_.push_back(std::move(row));
}

std::string TablePrinter::ToString(std::size_t indent) const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], DisplayWidth(row[c]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) line += "  ";
      const std::string pad(widths[c] - DisplayWidth(row[c]), ' ');
      line += columns_[c].align == Align::kRight ? pad + row[c] : row[c] + pad;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace ringward
