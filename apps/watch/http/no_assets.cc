// What a build without the page links; one with it names its own source in RINGWARD_WEB_ASSETS.
#include "watch/http/assets.h"

namespace ringward::watch {

std::span<const Asset> WebAssets() { return {}; }

}  // namespace ringward::watch
