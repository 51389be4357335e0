#pragma once

#include <string>

#include "base/result.h"

namespace ringward::io {

/// The folder that holds `path`; "." for a bare name.
std::string ParentFolder(const std::string& path);

/// A fresh hidden name beside `path`: `.NAME.tmp-PID-COUNT`. Unique among living processes of this
/// machine. Thread-safe.
std::string HiddenSibling(const std::string& path);

/// What the names of all hidden siblings of `path` begin with, whichever process made them: up to
/// PID.
std::string HiddenPrefix(const std::string& path);

/// Flushes a folder's entries to the disk.
Status SyncFolder(const std::string& path);

/// Flushes every file and folder below `path`, and itself.
Status SyncTree(const std::string& path);

}  // namespace ringward::io
