#include "ingest/horovod_timeline/object_cutter.h"

namespace ringward::ingest {
namespace {

bool IsBetween(char byte) {
  return byte == '[' || byte == ']' || byte == ',' || byte == ' ' || byte == '\t' || byte == '\r' ||
         byte == '\n';
}

}  // namespace

void ObjectCutter::Drop() {
  if (garbage_++ == 0) garbage_line_ = line_;
  held_.clear();
  depth_ = 0;
  in_string_ = escaped_ = false;
}

bool ObjectCutter::TakeInString(char byte) {
  if (byte == '\n') {
    Drop();
  } else if (escaped_) {
    escaped_ = false;
  } else if (byte == '\\') {
    escaped_ = true;
  } else if (byte == '"') {
    in_string_ = false;
  }
  return false;
}

bool ObjectCutter::Take(char byte) {
  if (depth_ == 0 && byte != '{') {
    const bool between = IsBetween(byte);
    if (!between && !in_garbage_) Drop();
    in_garbage_ = !between;
    return false;
  }
  in_garbage_ = false;
  const bool misplaced =
      byte == '{' && depth_ > 0 && !in_string_ && last_ != ':' && last_ != '[' && last_ != ',';
  if (misplaced) Drop();
  if (byte != ' ' && byte != '\n') last_ = byte;
  held_ += byte;
  if (in_string_) return TakeInString(byte);
  if (byte == '"') in_string_ = true;
  if (byte == '{') ++depth_;
  if (byte == '}') return --depth_ == 0;
  return false;
}

std::optional<std::string_view> ObjectCutter::Next(std::string_view& bytes) {
  if (depth_ == 0) held_.clear();
  while (!bytes.empty()) {
    const char byte = bytes.front();
    bytes.remove_prefix(1);
    const bool whole = Take(byte);
    if (byte == '\n') ++line_;
    if (whole) return held_;
    if (held_.size() >= kObjectMost || depth_ > kDepthMost) Drop();
  }
  return std::nullopt;
}

void ObjectCutter::Restart() {
  held_.clear();
  depth_ = 0;
  in_string_ = escaped_ = in_garbage_ = false;
  line_ = 1;
}

}  // namespace ringward::ingest
