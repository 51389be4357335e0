#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// The bytes between StoreClient and StoreServer, version 1. Integers are little-endian.
//
//   hello    "RWST" version:u8=1 length:u16 job:bytes      the client's first message
//   request  op:u8 key_length:u16 value_length:u32 timeout_ms:u32 key value
//   reply    answer:u8 length:u32 bytes                    one to each, in order
//
// A client has one request under way. Whoever breaks a rule or a bound is answered kRefused with
// the reason, and cut off; the others do not notice.
namespace ringward::comm::store {

inline constexpr std::string_view kMagic = "RWST";
inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kHelloHead = 7;
inline constexpr std::size_t kRequestHead = 11;
inline constexpr std::size_t kReplyHead = 5;
inline constexpr std::size_t kMaxJob = 256;
inline constexpr std::size_t kMaxKey = 512;
inline constexpr std::size_t kMaxValue = 1U << 20;

enum class Op : std::uint8_t {
  kSet = 1,         ///< puts the value, over an older one
  kGet = 2,         ///< the value, as soon as there is one; kMissing at the timeout
  kSetIfAbsent = 3  ///< puts the value if there is none; answers with the one that stands
};

enum class Answer : std::uint8_t { kDone = 0, kMissing = 1, kRefused = 2 };

struct Request {
  Op op = Op::kGet;
  std::uint32_t timeout_ms = 0;
  std::string key;
  std::string value;
};

std::string EncodeHello(std::string_view job);
std::string EncodeRequest(const Request& request);
std::string EncodeReply(Answer answer, std::string_view bytes);

/// Takes a whole hello (its job) or request off the front of `input`; empty while bytes are still
/// missing. Checks lengths before it waits for what they announce. Errors: kCorrupt.
Result<std::optional<std::string>> TakeHello(std::string& input);
Result<std::optional<Request>> TakeRequest(std::string& input);

/// The answer and length in the kReplyHead bytes at `head`. Errors: kCorrupt.
struct ReplyHead {
  Answer answer = Answer::kDone;
  std::size_t length = 0;
};
Result<ReplyHead> DecodeReplyHead(std::string_view head);

}  // namespace ringward::comm::store
