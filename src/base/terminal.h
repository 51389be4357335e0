#pragma once

#include <cstddef>
#include <string_view>

namespace ringward {

/// True when the file descriptor is a terminal.
bool IsTerminal(int fd);
/// Columns of the terminal behind `fd`; $COLUMNS or `fallback` where it is none.
std::size_t TerminalWidth(int fd, std::size_t fallback = 100);
/// True when colour is welcome on `fd`: a terminal, TERM is not "dumb", NO_COLOR is unset or empty
/// (https://no-color.org).
bool WantsColor(int fd);

/// Says that standard error ends at a terminal of that many columns although it is a pipe: the
/// launcher of a rank carries its output there. Call before the first progress or log line.
void DeclareStderrTerminal(std::size_t columns);

/// Columns that UTF-8 text takes, counting every letter as one (wide and combining letters are not
/// told apart).
std::size_t DisplayWidth(std::string_view text);

// Standard error is shared by log lines and the progress bar: everything that prints there goes
// through these. Thread-safe; failures to write are ignored, since there is nowhere to report them.

/// Writes `line` and a newline, after erasing the transient line if one is shown.
void WriteStderrLine(std::string_view line);
/// Shows `line` (shorter than the terminal is wide) in place of the transient line before it. For
/// terminals only. The cursor is left at its beginning.
void ShowTransientLine(std::string_view line);
/// Erases the transient line, if one is shown.
void ClearTransientLine();

}  // namespace ringward
