#include "comm/store_protocol.h"

namespace ringward::comm::store {
namespace {

void Put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>((value >> (8 * i)) & 0xFFU));
}

std::uint32_t Take(std::string_view in, std::size_t at, int bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(in[at + static_cast<std::size_t>(i)]);
    value |= static_cast<std::uint32_t>(byte) << (8 * i);
  }
  return value;
}

Error Bad(std::string what) { return {Code::kCorrupt, std::move(what)}; }

}  // namespace

std::string EncodeHello(std::string_view job) {
  std::string out(kMagic);
  Put(out, kVersion, 1);
  Put(out, job.size(), 2);
  return out.append(job);
}

std::string EncodeRequest(const Request& request) {
  std::string out;
  Put(out, static_cast<std::uint8_t>(request.op), 1);
  Put(out, request.key.size(), 2);
  Put(out, request.value.size(), 4);
  Put(out, request.timeout_ms, 4);
  return out.append(request.key).append(request.value);
}

std::string EncodeReply(Answer answer, std::string_view bytes) {
  std::string out;
  Put(out, static_cast<std::uint8_t>(answer), 1);
  Put(out, bytes.size(), 4);
  return out.append(bytes);
}

Result<std::optional<std::string>> TakeHello(std::string& input) {
  const std::size_t comparable = std::min(input.size(), kMagic.size());
  if (input.compare(0, comparable, kMagic, 0, comparable) != 0) return Bad("not a store client");
  if (input.size() < kHelloHead) return std::optional<std::string>();
  if (static_cast<std::uint8_t>(input[4]) != kVersion) {
    return Bad("store protocol version " + std::to_string(static_cast<unsigned char>(input[4])) +
               ", this server speaks " + std::to_string(kVersion));
  }
  const std::size_t length = Take(input, 5, 2);
  if (length > kMaxJob) return Bad("job name of " + std::to_string(length) + " bytes");
  if (input.size() < kHelloHead + length) return std::optional<std::string>();
  std::optional<std::string> job(input.substr(kHelloHead, length));
  input.erase(0, kHelloHead + length);
  return job;
}

Result<std::optional<Request>> TakeRequest(std::string& input) {
  if (input.empty()) return std::optional<Request>();
  const auto op = static_cast<std::uint8_t>(input[0]);
  if (op < 1 || op > 3) return Bad("unknown request " + std::to_string(op));
  if (input.size() < kRequestHead) return std::optional<Request>();
  const std::size_t key = Take(input, 1, 2);
  const std::size_t value = Take(input, 3, 4);
  if (key == 0 || key > kMaxKey) return Bad("key of " + std::to_string(key) + " bytes");
  if (value > kMaxValue) return Bad("value of " + std::to_string(value) + " bytes");
  if (input.size() < kRequestHead + key + value) return std::optional<Request>();
  Request request{static_cast<Op>(op), Take(input, 7, 4), input.substr(kRequestHead, key),
                  input.substr(kRequestHead + key, value)};
  input.erase(0, kRequestHead + key + value);
  return std::optional(std::move(request));
}

Result<ReplyHead> DecodeReplyHead(std::string_view head) {
  const auto answer = static_cast<std::uint8_t>(head[0]);
  const std::size_t length = Take(head, 1, 4);
  if (answer > 2) return Bad("unknown answer " + std::to_string(answer));
  if (length > kMaxValue) return Bad("answer of " + std::to_string(length) + " bytes");
  return ReplyHead{static_cast<Answer>(answer), length};
}

}  // namespace ringward::comm::store
