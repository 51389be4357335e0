#include "watch/http/heat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace ringward::watch {
namespace {

constexpr double kLogarithmicFrom = 16.0;

using Columns = std::span<const std::shared_ptr<const RankColumn>>;

void FindRange(Columns columns, RankMetric metric, HeatTile& tile) {
  float low = std::numeric_limits<float>::infinity();
  float high = -low;
  for (const auto& column : columns) {
    for (const float value : column->of(metric)) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (low > high) return;
  tile.low = low;
  tile.high = high;
  tile.logarithmic = low > 0.0F && tile.high > kLogarithmicFrom * tile.low;
}

/// A number's byte; std::log only on the logarithmic scale.
class Scale {
 public:
  explicit Scale(const HeatTile& tile) : logarithmic_(tile.logarithmic) {
    low_ = static_cast<float>(logarithmic_ ? std::log(tile.low) : tile.low);
    const auto high = static_cast<float>(logarithmic_ ? std::log(tile.high) : tile.high);
    factor_ = high > low_ ? static_cast<float>(kHeatMax) / (high - low_) : 0.0F;
  }
  std::uint8_t ByteOf(float value) const {
    if (signal::IsMissing(value)) return kHeatMissing;
    if (!std::isfinite(value)) return kHeatNotFinite;
    const float at = ((logarithmic_ ? std::log(value) : value) - low_) * factor_;
    return static_cast<std::uint8_t>(std::clamp(at + 0.5F, 0.0F, static_cast<float>(kHeatMax)));
  }

 private:
  bool logarithmic_;
  float low_;
  float factor_;
};

}  // namespace

HeatTile MakeHeatTile(const JobSnapshot& job, RankMetric metric, std::size_t columns) {
  HeatTile tile{.ranks = job.ranks.size(), .columns = std::min(columns, job.columns.size())};
  const Columns shown = Columns(job.columns).last(tile.columns);
  FindRange(shown, metric, tile);
  const Scale scale(tile);
  tile.bytes.assign(tile.ranks * tile.columns, static_cast<char>(kHeatMissing));
  // Ranks in blocks, so that the lines of the tile that are written stay in the cache.
  constexpr std::size_t kBlock = 256;
  for (std::size_t begin = 0; begin < tile.ranks; begin += kBlock) {
    for (std::size_t c = 0; c < tile.columns; ++c) {
      const std::vector<float>& values = shown[c]->of(metric);
      const std::size_t end = std::min(begin + kBlock, values.size());
      for (std::size_t rank = begin; rank < end; ++rank)
        tile.bytes[rank * tile.columns + c] = static_cast<char>(scale.ByteOf(values[rank]));
    }
  }
  return tile;
}

void AppendBase64(std::string& text, std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t at) -> std::uint32_t {
    return at < bytes.size() ? static_cast<std::uint8_t>(bytes[at]) : 0U;
  };
  const std::size_t begin = text.size();
  text.resize(begin + (bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data() + begin;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::uint32_t word = byte(at) << 16U | byte(at + 1) << 8U | byte(at + 2);
    *out++ = kDigits[word >> 18U];
    *out++ = kDigits[word >> 12U & 63U];
    if (at + 1 < bytes.size()) *out++ = kDigits[word >> 6U & 63U];
    if (at + 2 < bytes.size()) *out++ = kDigits[word & 63U];
  }
}

}  // namespace ringward::watch
