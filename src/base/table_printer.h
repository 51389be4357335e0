#pragma once

#include <string>
#include <vector>

namespace ringward {

enum class Align { kLeft, kRight };

/// A table for people: columns as wide as their widest cell, two blanks between them, a header
/// line.
///
///   TablePrinter table({{"set"}, {"AUROC", Align::kRight}});
///   table.AddRow({"cardio", "0.951"});
///   out.Write(table.ToString());
class TablePrinter {
 public:
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit TablePrinter(std::vector<Column> columns);

  /// One cell a column (checked). Control characters are escaped.
  void AddRow(const std::vector<std::string>& cells);
  /// All lines, each ending in a newline and in no blank. `indent` blanks go before each.
  std::string ToString(std::size_t indent = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ringward
