#include "comm/store_client.h"

#include <algorithm>
#include <array>

namespace ringward::comm {
namespace {

// The server answers a waiting Get at its deadline; the answer itself needs time on a busy machine.
constexpr std::chrono::milliseconds kAnswerSlack{1000};
constexpr std::size_t kMaxOwnKey = 400;  // leaves room for the generation

}  // namespace

Result<StoreClient> StoreClient::Connect(const std::string& address, std::uint16_t port,
                                         const std::string& job, std::uint64_t generation,
                                         Deadline deadline) {
  if (job.size() > store::kMaxJob) {
    return Error(Code::kInvalidInput, "job name of " + std::to_string(job.size()) + " bytes");
  }
  RINGWARD_ASSIGN(Fd socket, ConnectTo(address, port, deadline));
  StoreClient client(std::move(socket), "generation/" + std::to_string(generation) + "/");
  auto hello = client.Exchange(store::EncodeHello(job), deadline);
  if (!hello) return std::move(hello).error().While("greeting the store");
  if (hello->answer != store::Answer::kDone) {
    return Error(Code::kInvalidInput, "the store refuses: " + hello->bytes);
  }
  return client;
}

Result<StoreClient::Reply> StoreClient::Exchange(std::string_view bytes, Deadline deadline) {
  if (over_) return Error(Code::kUnavailable, "the connection to the store is over");
  over_ = true;  // until the answer is whole
  RINGWARD_TRY(SendAll(socket_, bytes, deadline));
  std::array<char, store::kReplyHead> head;
  RINGWARD_TRY(ReceiveAll(socket_, head, deadline));
  RINGWARD_ASSIGN(const store::ReplyHead parsed,
                  store::DecodeReplyHead({head.data(), head.size()}));
  Reply reply{parsed.answer, std::string(parsed.length, '\0')};
  RINGWARD_TRY(ReceiveAll(socket_, reply.bytes, deadline));
  over_ = parsed.answer == store::Answer::kRefused;
  return reply;
}

Result<StoreClient::Reply> StoreClient::Ask(store::Op op, std::string_view key,
                                            std::string_view value, std::chrono::milliseconds wait,
                                            Deadline deadline) {
  if (key.empty() || key.size() > kMaxOwnKey || value.size() > store::kMaxValue) {
    return Error(Code::kInvalidInput, "key of " + std::to_string(key.size()) + " or value of " +
                                          std::to_string(value.size()) + " bytes");
  }
  const auto wait_ms = std::clamp<std::int64_t>(wait.count(), 0, UINT32_MAX);
  auto reply = Exchange(store::EncodeRequest({op, static_cast<std::uint32_t>(wait_ms),
                                              prefix_ + std::string(key), std::string(value)}),
                        deadline);
  if (!reply) return std::move(reply).error().While("asking the store for " + std::string(key));
  if (reply->answer == store::Answer::kRefused) {
    return Error(Code::kResource, "the store refuses: " + reply->bytes);
  }
  return reply;
}

Status StoreClient::Set(std::string_view key, std::string_view value, Deadline deadline) {
  RINGWARD_TRY(Ask(store::Op::kSet, key, value, {}, deadline));
  return Ok();
}

Result<std::string> StoreClient::Get(std::string_view key, Deadline deadline) {
  RINGWARD_ASSIGN(Reply reply,
                  Ask(store::Op::kGet, key, {}, Left(deadline), deadline + kAnswerSlack));
  if (reply.answer == store::Answer::kMissing) {
    return Error(Code::kTimeout, "nobody has set " + std::string(key) + " in the store in time");
  }
  return std::move(reply.bytes);
}

Result<std::optional<std::string>> StoreClient::TryGet(std::string_view key,
                                                       std::chrono::milliseconds wait) {
  return TryGet(key, wait, After(wait));
}

Result<std::optional<std::string>> StoreClient::TryGet(std::string_view key,
                                                       std::chrono::milliseconds wait,
                                                       Deadline deadline) {
  RINGWARD_ASSIGN(Reply reply, Ask(store::Op::kGet, key, {}, wait, deadline + kAnswerSlack));
  if (reply.answer == store::Answer::kMissing) return std::optional<std::string>();
  return std::optional(std::move(reply.bytes));
}

Result<std::string> StoreClient::SetIfAbsent(std::string_view key, std::string_view value,
                                             Deadline deadline) {
  RINGWARD_ASSIGN(Reply reply, Ask(store::Op::kSetIfAbsent, key, value, {}, deadline));
  return std::move(reply.bytes);
}

}  // namespace ringward::comm
