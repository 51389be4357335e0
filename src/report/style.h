#pragma once

namespace ringward::report {

extern const char* const kStyleSheet;  ///< CSS of every page; colours for light and dark
extern const char* const kScript;      ///< hover tips; the page is whole without it

}  // namespace ringward::report
