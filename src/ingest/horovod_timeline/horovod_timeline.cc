#include "ingest/horovod_timeline/horovod_timeline.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace ringward::ingest {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kTimeMost = std::int64_t{1} << 53;  // microseconds: 285 years
/// Records are written in order, but for moments; a clock that goes back further was set anew.
constexpr TimelineTime kBackMost{1'000'000};
constexpr int kDepthMost = 64;
constexpr std::int64_t kRoundsKept = 8;

const Json* Field(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at == object.end() ? nullptr : &*at;
}

std::string_view Text(const Json* value) {
  const auto* const text = value == nullptr ? nullptr : value->get_ptr<const std::string*>();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::optional<std::int64_t> Integer(const Json* value) {
  if (value == nullptr || !value->is_number()) return std::nullopt;
  if (value->is_number_float()) {
    const auto number = value->get<double>();
    if (!(number >= 0.0 && number <= static_cast<double>(kTimeMost))) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{kTimeMost})
    return std::nullopt;
  const auto number = value->get<std::int64_t>();
  return number >= 0 ? std::optional(number) : std::nullopt;
}

/// "allreduce.noname.12": another number at each call.
bool IsPassing(std::string_view name) { return name.find(".noname.") != std::string_view::npos; }

}  // namespace

struct HorovodTimeline::Record {
  const Json& object;
  std::string_view phase;
  std::string_view name;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> ts;
};

void HorovodTimeline::Malformed(std::uint64_t line, const std::string& what) {
  if (counts_.malformed++ == 0) counts_.first_malformed = std::to_string(line) + ": " + what;
}

void HorovodTimeline::Feed(std::string_view bytes) {
  while (const auto object = cutter_.Next(bytes)) TakeObject(*object);
  for (; garbage_told_ < cutter_.garbage(); ++garbage_told_)
    Malformed(cutter_.garbage_line(), "no JSON object");
}

void HorovodTimeline::Restart() {
  cutter_.Restart();
  rounds_ = {};
  tensors_.clear();
  under_way_.clear();
  passing_round_ = -1;
  named_rounds_ = any_time_ = false;
  ticks_held_ = 0;
  world_ = 0;
  highest_tick_ = -1;
  began_.reset();
  newest_ = {};
}

/// False where the record's time is none.
bool HorovodTimeline::MoveTime(std::int64_t ts) {
  if (ts > kTimeMost) return false;
  const TimelineTime now{ts};
  if (any_time_ && newest_ - now > kBackMost) rounds_.Skip(now);
  newest_ = now;
  any_time_ = true;
  return true;
}

void HorovodTimeline::TakeObject(std::string_view text) {
  const Json object = Json::parse(text, nullptr, false);
  if (object.is_discarded()) return Malformed(cutter_.line(), "no JSON object");
  const Record record{object, Text(Field(object, "ph")), Text(Field(object, "name")),
                      Integer(Field(object, "pid")), Integer(Field(object, "ts"))};
  if (record.phase.empty()) return Malformed(cutter_.line(), "a record without \"ph\"");
  if (record.phase == "M") return OnName(record);
  if (!record.ts || !MoveTime(*record.ts))
    return Malformed(cutter_.line(), "a record without a time in \"ts\"");
  const bool marks = record.phase == "B" || record.phase == "E" || record.phase == "X";
  if (!marks) {
    ++counts_.other;  // cycle marks, and what other programs write
    return;
  }
  if (!record.pid) return Malformed(cutter_.line(), "a record without \"pid\"");
  if (record.phase == "B") return OnBegin(record);
  if (record.phase == "E") return OnEnd(record);
  OnTick(record);
}

void HorovodTimeline::OnName(const Record& record) {
  const Json* const arguments = Field(record.object, "args");
  if (!record.pid || arguments == nullptr) {
    ++counts_.other;
    return;
  }
  ++counts_.used;
  if (const auto began = Integer(Field(*arguments, "start_time_since_epoch_in_micros")))
    began_ = std::chrono::microseconds(*began);
  if (*record.pid == 0 || record.name != "process_name") return;
  Tensor* const tensor = Find(*record.pid);
  if (tensor != nullptr) tensor->passing = IsPassing(Text(Field(*arguments, "name")));
}

HorovodTimeline::Tensor* HorovodTimeline::Find(std::int64_t pid) {
  const auto known = tensors_.find(pid);
  if (known != tensors_.end()) return &known->second;
  if (tensors_.size() >= kTensorsMost) ForgetOld();
  if (tensors_.size() >= kTensorsMost) {
    ++counts_.tensors_lost;
    return nullptr;
  }
  return &tensors_[pid];
}

/// Those whose names do not come again.
void HorovodTimeline::ForgetOld() {
  std::erase_if(tensors_, [this](const auto& entry) {
    return entry.second.stage == Stage::kIdle &&
           entry.second.round < rounds_.number() - kRoundsKept;
  });
}

/// The tensor becomes part of the round, or begins the next.
void HorovodTimeline::Enter(std::int64_t pid, Tensor& tensor) {
  const bool again = tensor.passing ? !named_rounds_ && passing_round_ == rounds_.number()
                                    : tensor.round == rounds_.number();
  if (again) {
    named_rounds_ = named_rounds_ || !tensor.passing;
    rounds_.End(newest_, under_way_.empty());
  }
  tensor.round = rounds_.number();
  if (tensor.passing) passing_round_ = tensor.round;
  under_way_.insert(pid);
}

void HorovodTimeline::OnBegin(const Record& record) {
  Tensor* const tensor = Find(*record.pid);
  if (tensor == nullptr) return;
  ++counts_.used;
  constexpr std::string_view kNegotiate = "NEGOTIATE_";
  if (record.name.starts_with(kNegotiate)) {
    if (tensor->stage != Stage::kIdle) Complete(*record.pid, *tensor);  // its end is lost
    Tensor& fresh = *Find(*record.pid);
    Enter(*record.pid, fresh);
    fresh.stage = Stage::kNegotiating;
    fresh.only_meets = record.name.substr(kNegotiate.size()) == "BARRIER";
    return;
  }
  if (tensor->stage == Stage::kRunning) {
    tensor->depth = std::min(tensor->depth + 1, kDepthMost);
    return;
  }
  // Without a negotiation (JOIN), or in one whose end is lost.
  if (tensor->stage == Stage::kIdle) Enter(*record.pid, *tensor);
  tensor->stage = Stage::kRunning;
  tensor->depth = 1;
}

void HorovodTimeline::AllCame(Tensor& tensor) {
  if (!tensor.came.empty()) world_ = std::max(world_, highest_tick_ + 1);
  if (!tensor.came.empty()) tensor.usual = tensor.came.size();
  ticks_held_ -= tensor.came.size();
  tensor.came = {};
  rounds_.AllCame(newest_);
}

void HorovodTimeline::OnEnd(const Record& record) {
  const auto known = tensors_.find(*record.pid);
  if (known == tensors_.end() || known->second.stage == Stage::kIdle ||
      known->second.stage == Stage::kReady) {
    ++counts_.other;
    return;
  }
  ++counts_.used;
  Tensor& tensor = known->second;
  if (tensor.stage == Stage::kNegotiating) {
    AllCame(tensor);
    tensor.stage = Stage::kReady;
    if (tensor.only_meets) Complete(*record.pid, tensor);
  } else if (--tensor.depth == 0) {
    Complete(*record.pid, tensor);
  }
}

void HorovodTimeline::Complete(std::int64_t pid, Tensor& tensor) {
  ticks_held_ -= tensor.came.size();
  tensor.came = {};
  tensor.stage = Stage::kIdle;
  tensor.depth = 0;
  const bool passing = tensor.passing;
  under_way_.erase(pid);
  if (under_way_.empty()) rounds_.Quiet(newest_);
  if (passing) tensors_.erase(pid);
}

void HorovodTimeline::OnTick(const Record& record) {
  std::int32_t rank = -1;
  const char* const end = record.name.data() + record.name.size();
  const auto read = std::from_chars(record.name.data(), end, rank);
  const bool is_rank = read.ec == std::errc() && read.ptr == end && rank >= 0 && rank < kRanksMost;
  if (!is_rank) return Malformed(cutter_.line(), "a tick of no rank");
  const auto known = tensors_.find(*record.pid);
  const bool counts = known != tensors_.end() && known->second.stage == Stage::kNegotiating &&
                      ticks_held_ < kTicksMost;
  if (!counts) {
    ++counts_.other;
    return;
  }
  ++counts_.used;
  highest_tick_ = std::max(highest_tick_, rank);
  known->second.came.push_back(rank);
  ++ticks_held_;
  rounds_.RankCame(rank, newest_);
}

std::vector<HorovodTimeline::Place> HorovodTimeline::Standing() const {
  std::vector<Place> places(world(), Place::kUnknown);
  std::vector<char> came(world());
  for (const std::int64_t pid : under_way_) {
    const Tensor& tensor = tensors_.at(pid);
    const bool all = tensor.stage != Stage::kNegotiating;
    if (!all && tensor.came.empty()) continue;  // nobody knows who has come
    if (tensor.usual > 0 && tensor.usual < world()) continue;
    std::fill(came.begin(), came.end(), all ? 1 : 0);
    for (const std::int32_t rank : tensor.came) {
      if (static_cast<std::size_t>(rank) < came.size()) came[static_cast<std::size_t>(rank)] = 1;
    }
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
      if (came[rank] == 0) places[rank] = Place::kOutside;
      if (came[rank] != 0 && places[rank] == Place::kUnknown) places[rank] = Place::kInside;
    }
  }
  return places;
}

}  // namespace ringward::ingest
