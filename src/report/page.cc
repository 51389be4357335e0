#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "report/style.h"
#include "report/text.h"

namespace ringward::report {
namespace {

const char* NumberClass(bool numeric) { return numeric ? " class=\"number\"" : ""; }

}  // namespace

std::string TileRow(const std::vector<Tile>& tiles) {
  std::string out;
  for (const Tile& tile : tiles) {
    out += fmt::format(R"(<div class="card tile"><dt>{}</dt><dd class="value">{}</dd>)",
                       EscapeHtml(tile.label), EscapeHtml(tile.value));
    if (!tile.note.empty()) {
      out += fmt::format(R"(<dd class="note">{}</dd>)", EscapeHtml(tile.note));
    }
    out += "</div>\n";
  }
  return out.empty() ? out : fmt::format("<dl class=\"tiles\">\n{}</dl>\n", out);
}

std::string Draw(const Table& table) {
  std::string head;
  for (const Column& column : table.columns) {
    head += fmt::format("<th scope=\"col\"{}>{}</th>", NumberClass(column.numeric),
                        EscapeHtml(column.header));
  }
  std::string body;
  for (const auto& row : table.rows) {
    RINGWARD_CHECK(row.size() == table.columns.size());
    body += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      body +=
          fmt::format("<td{}>{}</td>", NumberClass(table.columns[i].numeric), EscapeHtml(row[i]));
    }
    body += "</tr>\n";
  }
  return fmt::format(
      R"(<div class="card scroll" tabindex="0" role="region" aria-label="{0}"><table>)"
      "<caption>{0}</caption><thead><tr>{1}</tr></thead><tbody>{2}</tbody></table></div>\n",
      EscapeHtml(table.caption), head, body);
}

std::string FactList(const std::vector<Fact>& facts) {
  std::string out;
  for (const Fact& fact : facts) {
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", EscapeHtml(fact.name),
                       EscapeHtml(fact.value));
  }
  return out.empty()
             ? out
             : fmt::format("<div class=\"card\"><dl class=\"facts\">\n{}</dl></div>\n", out);
}

std::string NoteList(const std::vector<Note>& notes) {
  std::string warnings;
  std::string infos;
  for (const Note& note : notes) {
    if (note.severity == Severity::kWarning) {
      warnings += fmt::format("<li class=\"warning\"><strong>Warning:</strong> {}</li>\n",
                              EscapeHtml(note.text));
    } else {
      infos += fmt::format("<li>{}</li>\n", EscapeHtml(note.text));
    }
  }
  if (notes.empty()) return {};
  return fmt::format("<ul class=\"notes\">\n{}{}</ul>\n", warnings, infos);
}

std::string Section(std::string_view heading, std::string_view content) {
  if (content.empty()) return {};
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", EscapeHtml(heading), content);
}

std::string Columns(const std::vector<std::string>& figures) {
  std::string out;
  for (const std::string& figure : figures) out += figure;
  return out.empty() ? out : fmt::format("<div class=\"columns\">\n{}</div>\n", out);
}

std::string Render(const Page& page) {
  const std::string title = EscapeHtml(page.title);
  return fmt::format(
      R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{} · Ringward</title>
<style>{}</style>
</head>
<body>
<main>
<header>
<h1>{}</h1>
<p>{}</p>
</header>
{}<footer>Made by Ringward. The numbers of this page as JSON are in the element with the id ringward-data.</footer>
</main>
<script type="application/json" id="ringward-data">{}</script>
<script>{}</script>
</body>
</html>
)html",
      title, kStyleSheet, title, EscapeHtml(page.subtitle), page.body,
      EscapeJsonForScript(page.json), kScript);
}

}  // namespace ringward::report
