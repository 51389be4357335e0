#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringward::learn {

/// The delimiter among `,` `;` tab and `|`: those that occur (outside quotes) as often in the
/// second line as in the first, else those that occur in the first; of several the most frequent,
/// of equals the first. `,` when there is none. `second` may be empty.
char SniffDelimiter(std::string_view first, std::string_view second);

/// Whether the first line alone leaves the choice open, so that the second is needed.
bool DelimiterIsOpen(std::string_view first);

/// What the first record says about being a header.
enum class HeaderGuess { kYes, kNo, kAskSecond };

/// kYes when it holds one of `expected`; kNo when it holds a number, a missing marker other than
/// an empty field; else the second record decides.
HeaderGuess GuessHeader(const std::vector<std::string>& first,
                        const std::vector<std::string>& expected);

/// The second record makes the first a header when it holds a number or a missing value, or when
/// none of its fields repeats the one above and the first has no name twice.
bool SecondMakesHeader(const std::vector<std::string>& first,
                       const std::vector<std::string>& second);

}  // namespace ringward::learn
