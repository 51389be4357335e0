#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text for HTML pages. All functions are pure.
namespace ringward::report {

/// Makes any bytes safe as element content and as an attribute value in double quotes. Control
/// characters other than tab and newline become U+FFFD; invalid UTF-8 does too.
std::string EscapeHtml(std::string_view text);

/// Makes a JSON document safe inside <script>: `<`, `>`, `&`, U+2028 and U+2029 become \uXXXX,
/// which JSON allows inside strings, the only place where valid JSON holds them.
std::string EscapeJsonForScript(std::string_view json);

/// A number for people, with `digits` significant digits (1 .. 17): 0.9312, 12,400, 3.1e-7.
/// NaN is "–", infinities are "∞" and "−∞"; a minus is U+2212.
std::string FormatNumber(double value, int digits = 4);

/// A count with thousands separators: 1,234,567.
std::string FormatCount(std::size_t count);

/// A share as a percentage: 0.0123 is "1.23 %".
std::string FormatPercent(double share);

/// A duration in fitting units: "840 ms", "12.3 s", "4 min 05 s", "2 h 03 min".
std::string FormatSeconds(double seconds);

}  // namespace ringward::report
