#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace ringward::watch {

/// Reads what is appended to a file that another process writes, by asking again and again; so it
/// works on network file systems. Where the file is replaced (rotated), what is left of the old one
/// comes first; where it was cut or written anew in place (its first bytes differ), it is read from
/// its beginning. A file that does not exist yet is waited for. Not safe for concurrent use.
class FileTail {
 public:
  explicit FileTail(std::string path) : path_(std::move(path)) {}

  struct Piece {
    std::string_view bytes;  ///< in the caller's buffer; empty: nothing new
    bool anew = false;       ///< they are the first of a file that was begun anew
  };
  /// At most buffer.size() bytes.
  Piece Read(std::span<char> buffer);

  const std::string& path() const { return path_; }
  bool is_open() const { return static_cast<bool>(fd_); }
  /// Why it cannot be read, though it exists; empty: it can, or does not exist.
  const std::string& trouble() const { return trouble_; }

 private:
  static constexpr std::size_t kHead = 256;  ///< bytes by which a file is known again

  bool Open();
  bool IsReplaced() const;
  bool IsWrittenAnew() const;
  void Remember(std::string_view bytes);

  std::string path_;
  Fd fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  off_t at_ = 0;
  std::string head_;
  bool anew_ = false;
  bool any_before_ = false;
  std::string trouble_;
};

}  // namespace ringward::watch
