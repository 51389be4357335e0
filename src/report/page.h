#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

/// The parts of a page around its charts. Every text field may hold any bytes; it is escaped.
namespace ringward::report {

/// One of the few figures a reader came for.
struct Tile {
  std::string label;
  std::string value;
  std::string note;  ///< smaller, below: interval, what chance would give
};
std::string TileRow(const std::vector<Tile>& tiles);

struct Column {
  std::string header;
  bool numeric = false;  ///< right-aligned
};
struct Table {
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`
};
std::string Draw(const Table& table);

/// Names and values, e.g. the options of a run.
struct Fact {
  std::string name;
  std::string value;
};
std::string FactList(const std::vector<Fact>& facts);

enum class Severity { kInfo, kWarning };
struct Note {
  Severity severity = Severity::kInfo;
  std::string text;
};
/// Warnings first. Empty where there are no notes.
std::string NoteList(const std::vector<Note>& notes);

/// A headed part of the page. `content` is HTML; an empty one gives an empty string.
std::string Section(std::string_view heading, std::string_view content);

/// Figures side by side where the window has room. `figures` are HTML.
std::string Columns(const std::vector<std::string>& figures);

struct Page {
  std::string title;
  std::string subtitle;
  std::string body;  ///< HTML made by the functions above
  std::string json;  ///< the command's --json document, readable by id "ringward-data"
};

/// A complete document that loads nothing from anywhere (a content security policy says so),
/// follows the reader's dark or light preference, and needs no script.
std::string Render(const Page& page);

}  // namespace ringward::report
