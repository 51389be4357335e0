#pragma once

#include "io/test_folder.h"

namespace ringward::learn {

/// The temporary folder of a test, under the name that tests of learning use.
using io::TestFolder;

}  // namespace ringward::learn
