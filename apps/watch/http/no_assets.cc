// What a build without the page links; one with it has a source made by web/build.mjs.
#include "watch/http/assets.h"

namespace ringward::watch {

std::span<const Asset> WebAssets() { return {}; }

}  // namespace ringward::watch
