#include "watch/hosts/wire.h"

#include <zstd.h>

#include <algorithm>
#include <utility>

#include "watch/hosts/wire_fields.h"

namespace ringward::watch {
namespace {

using namespace wire;  // how fields are read

// The numbers are the format. A new field takes a new one; none is used again.
enum class MessageField : protozero::pbf_tag_type {
  kProtocol = 1,
  kSoftware = 2,
  kHost = 3,
  kRun = 4,
  kSequence = 5,
  kSent = 6,
  kRound = 7,
  kLeaving = 8,
  kDropped = 9,
  kEcho = 10,
  kSights = 11,
};
enum class EchoField : protozero::pbf_tag_type {
  kAggregator = 1,
  kSent = 2,
  kReceived = 3,
  kAnswered = 4,
  kReturned = 5,
};
enum class AnswerField : protozero::pbf_tag_type {
  kAggregator = 1,
  kTaken = 2,
  kReceived = 3,
  kAnswered = 4,
};
constexpr int kLevel = 1;  // of zstd: messages are small and many
constexpr std::size_t kHostBytesMost = 253;
constexpr std::size_t kSoftwareBytesMost = 64;
ClockEcho ReadEcho(protozero::data_view view) {
  ClockEcho echo;
  protozero::pbf_message<EchoField> reader(view);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(EchoField::kAggregator):
        echo.aggregator = reader.get_uint64();
        break;
      case Varint(EchoField::kSent):
        echo.sent = TimeOf(reader.get_int64());
        break;
      case Varint(EchoField::kReceived):
        echo.received = TimeOf(reader.get_int64());
        break;
      case Varint(EchoField::kAnswered):
        echo.answered = TimeOf(reader.get_int64());
        break;
      case Varint(EchoField::kReturned):
        echo.returned = TimeOf(reader.get_int64());
        break;
      default:
        reader.skip();
    }
  }
  return echo;
}

void WriteEcho(std::string& out, const ClockEcho& echo) {
  protozero::pbf_builder<EchoField> writer(out);
  writer.add_uint64(EchoField::kAggregator, echo.aggregator);
  writer.add_int64(EchoField::kSent, echo.sent.count());
  writer.add_int64(EchoField::kReceived, echo.received.count());
  writer.add_int64(EchoField::kAnswered, echo.answered.count());
  writer.add_int64(EchoField::kReturned, echo.returned.count());
}

AgentHeader ReadHeader(std::string_view body, protozero::data_view& packed) {
  AgentHeader header{.protocol = 0};
  protozero::pbf_message<MessageField> reader(body.data(), body.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(MessageField::kProtocol):
        header.protocol = reader.get_uint32();
        break;
      case Bytes(MessageField::kSoftware):
        header.software = TextOf(reader.get_view(), kSoftwareBytesMost);
        break;
      case Bytes(MessageField::kHost):
        header.host = TextOf(reader.get_view(), kHostBytesMost);
        break;
      case Varint(MessageField::kRun):
        header.run = reader.get_uint64();
        break;
      case Varint(MessageField::kSequence):
        header.sequence = reader.get_uint64();
        break;
      case Varint(MessageField::kSent):
        header.sent = TimeOf(reader.get_int64());
        break;
      case Varint(MessageField::kRound):
        header.round = reader.get_bool();
        break;
      case Varint(MessageField::kLeaving):
        header.leaving = reader.get_bool();
        break;
      case Varint(MessageField::kDropped):
        header.dropped = reader.get_uint64();
        break;
      case Bytes(MessageField::kEcho):
        header.echo = ReadEcho(reader.get_view());
        break;
      case Bytes(MessageField::kSights):
        packed = reader.get_view();
        break;
      default:
        reader.skip();
    }
  }
  return header;
}

/// Runs what reads a peer's bytes; what the library throws becomes an error.
template <typename Read>
auto Reading(const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const protozero::exception& broken) {
    return Error(Code::kCorrupt, std::string("no such message: ") + broken.what());
  }
}

template <typename Record>
std::uint64_t Trim(std::vector<Record>& records, std::size_t most) {
  if (records.size() <= most) return 0;
  const std::size_t gone = records.size() - most;
  records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(gone));
  return gone;
}

template <typename Record>
void Append(std::vector<Record>& into, std::vector<Record>& later) {
  into.insert(into.end(), later.begin(), later.end());
}

}  // namespace

struct AgentCodec::Buffers {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> packer{ZSTD_createCCtx(), &ZSTD_freeCCtx};
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> unpacker{ZSTD_createDCtx(),
                                                                   &ZSTD_freeDCtx};
  std::string plain;

  Status Unpack(protozero::data_view packed);
};

AgentCodec::AgentCodec() : buffers_(std::make_unique<Buffers>()) {}
AgentCodec::~AgentCodec() = default;
AgentCodec::AgentCodec(AgentCodec&&) noexcept = default;
AgentCodec& AgentCodec::operator=(AgentCodec&&) noexcept = default;

Result<std::string> AgentCodec::Pack(std::span<const RankSight> sights) {
  std::string& plain = buffers_->plain;
  plain.clear();
  WriteSights(plain, sights);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      buffers_->packer == nullptr
          ? 0
          : ZSTD_compressCCtx(buffers_->packer.get(), packed.data(), packed.size(), plain.data(),
                              plain.size(), kLevel);
  if (size == 0 || ZSTD_isError(size) != 0U)
    return Error(Code::kResource, "no memory to compress a message");
  packed.resize(size);
  return packed;
}

std::string AgentCodec::Message(const AgentHeader& header, std::string_view packed) {
  std::string body;
  protozero::pbf_builder<MessageField> writer(body);
  writer.add_uint32(MessageField::kProtocol, header.protocol);
  writer.add_string(MessageField::kSoftware, header.software);
  writer.add_string(MessageField::kHost, header.host);
  writer.add_uint64(MessageField::kRun, header.run);
  writer.add_uint64(MessageField::kSequence, header.sequence);
  writer.add_int64(MessageField::kSent, header.sent.count());
  writer.add_bool(MessageField::kRound, header.round);
  writer.add_bool(MessageField::kLeaving, header.leaving);
  writer.add_uint64(MessageField::kDropped, header.dropped);
  if (header.echo) {
    std::string echo;
    WriteEcho(echo, *header.echo);
    writer.add_bytes(MessageField::kEcho, echo);
  }
  writer.add_bytes(MessageField::kSights, packed.data(), packed.size());
  return body;
}

Status AgentCodec::Buffers::Unpack(protozero::data_view packed) {
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kAgentPlainMost)
    return Error(Code::kCorrupt, "its sights are not packed as they should, or too many");
  plain.resize(static_cast<std::size_t>(size));
  const std::size_t got = unpacker == nullptr
                              ? 0
                              : ZSTD_decompressDCtx(unpacker.get(), plain.data(), plain.size(),
                                                    packed.data(), packed.size());
  if (ZSTD_isError(got) != 0U || got != plain.size())
    return Error(Code::kCorrupt, "its sights cannot be unpacked");
  return Ok();
}

Result<AgentMessage> AgentCodec::Read(std::string_view body) {
  return Reading([&]() -> Result<AgentMessage> {
    if (body.size() > kAgentBodyMost) return Error(Code::kCorrupt, "a message that is too long");
    protozero::data_view packed;
    AgentMessage message{.header = ReadHeader(body, packed)};
    // What another version packs there may be something else.
    if (message.header.protocol != kAgentProtocol) return message;
    RINGWARD_TRY(buffers_->Unpack(packed));
    RINGWARD_ASSIGN(message.sights, ReadSights(buffers_->plain));
    return message;
  });
}

std::string AgentCodec::Answer(const AgentAnswer& answer) {
  std::string body;
  protozero::pbf_builder<AnswerField> writer(body);
  writer.add_uint64(AnswerField::kAggregator, answer.aggregator);
  writer.add_uint64(AnswerField::kTaken, answer.taken);
  writer.add_int64(AnswerField::kReceived, answer.received.count());
  writer.add_int64(AnswerField::kAnswered, answer.answered.count());
  return body;
}

Result<AgentAnswer> AgentCodec::ReadAnswer(std::string_view body) {
  return Reading([&]() -> Result<AgentAnswer> {
    AgentAnswer answer;
    protozero::pbf_message<AnswerField> reader(body.data(), body.size());
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case Varint(AnswerField::kAggregator):
          answer.aggregator = reader.get_uint64();
          break;
        case Varint(AnswerField::kTaken):
          answer.taken = reader.get_uint64();
          break;
        case Varint(AnswerField::kReceived):
          answer.received = TimeOf(reader.get_int64());
          break;
        case Varint(AnswerField::kAnswered):
          answer.answered = TimeOf(reader.get_int64());
          break;
        default:
          reader.skip();
      }
    }
    return answer;
  });
}

std::uint64_t MergeSight(RankSight& into, RankSight&& later) {
  telemetry::SegmentBatch& batch = into.batch;
  Append(batch.steps, later.batch.steps);
  Append(batch.metrics, later.batch.metrics);
  const std::uint64_t dropped =
      Trim(batch.steps, kSightStepsMost) + Trim(batch.metrics, kSightMetricsMost);
  batch.overwritten += later.batch.overwritten + dropped;
  batch.malformed += later.batch.malformed;
  Append(into.machine, later.machine);
  Trim(into.machine, kSightValuesMost);
  later.batch = std::move(batch);
  later.machine = std::move(into.machine);
  later.ended = later.ended || into.ended;
  into = std::move(later);
  return dropped;
}

}  // namespace ringward::watch
