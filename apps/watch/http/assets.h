#pragma once

#include <span>
#include <string_view>

namespace ringward::watch {

/// A file of the page.
struct Asset {
  std::string_view path;  ///< "/index.html"; that one is served as "/" too
  std::string_view content_type;
  std::string_view body;
};

/// The page's files as this build has them; none where it was built without the page. They are
/// served to anybody, so nothing in them may be secret.
std::span<const Asset> WebAssets();

}  // namespace ringward::watch
