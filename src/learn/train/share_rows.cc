#include "learn/train/share_rows.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "base/check.h"

namespace ringward::learn {
namespace {

/// Values of one broadcast: small enough for every engine's counters and for a deadline per call.
constexpr std::size_t kValuesAtOnce = std::size_t{16} << 20;

template <typename T>
Status BroadcastAll(comm::Communicator& comm, std::vector<T>& values,
                    const comm::CallOptions& options = {}) {
  for (std::size_t first = 0; first < values.size(); first += kValuesAtOnce) {
    const auto part =
        std::span(values).subspan(first, std::min(kValuesAtOnce, values.size() - first));
    RINGWARD_TRY(comm.Broadcast(comm::AsBuffer(part), 0, options));
  }
  return Ok();
}

/// Sizes that the other ranks need before they can receive.
enum Header : std::size_t { kRows, kCols, kWindow, kStarts, kTrain, kIndicators, kHeaderSize };

Result<std::vector<Indicator>> ShareIndicators(comm::Communicator& comm,
                                               std::vector<Indicator> indicators) {
  std::vector<double> numbers;
  for (const auto& [input, off, on] : indicators) {
    numbers.insert(numbers.end(), {static_cast<double>(input), off, on});
  }
  RINGWARD_TRY(BroadcastAll(comm, numbers));
  for (std::size_t i = 0; i < indicators.size(); ++i) {
    indicators[i] = {.input = static_cast<std::size_t>(numbers[3 * i]),
                     .off = numbers[3 * i + 1],
                     .on = numbers[3 * i + 2]};
  }
  return indicators;
}

}  // namespace

Result<SharedRows> ShareRows(comm::Communicator& comm, const TrainingSet* set,
                             const comm::CallOptions& first) {
  RINGWARD_CHECK((set != nullptr) == (comm.rank() == 0));
  std::vector<std::int64_t> header(kHeaderSize, 0);
  std::vector<Indicator> indicators;
  if (set != nullptr) {
    const Matrix& base = set->data.base();
    if (base.rows > std::numeric_limits<std::uint32_t>::max()) {
      return Error(Code::kInvalidInput,
                   "more than 4,294,967,295 rows cannot be trained on in memory");
    }
    indicators = IndicatorsOf(set->preprocessor);
    header = {static_cast<std::int64_t>(base.rows),
              static_cast<std::int64_t>(base.cols),
              static_cast<std::int64_t>(set->data.window()),
              static_cast<std::int64_t>(set->data.file_starts().size()),
              static_cast<std::int64_t>(set->rows.size()),
              static_cast<std::int64_t>(indicators.size())};
  }
  RINGWARD_TRY(BroadcastAll(comm, header, first));
  const auto size = [&](Header field) { return static_cast<std::size_t>(header[field]); };
  Matrix base(size(kRows), size(kCols));
  std::vector<std::int64_t> starts(size(kStarts));
  std::vector<std::int64_t> train(size(kTrain));
  if (set != nullptr) {
    base.values = set->data.base().values;
    std::copy(set->data.file_starts().begin(), set->data.file_starts().end(), starts.begin());
    std::copy(set->rows.begin(), set->rows.end(), train.begin());
  }
  RINGWARD_TRY(BroadcastAll(comm, base.values));
  RINGWARD_TRY(BroadcastAll(comm, starts));
  RINGWARD_TRY(BroadcastAll(comm, train));
  indicators.resize(size(kIndicators));
  RINGWARD_ASSIGN(indicators, ShareIndicators(comm, std::move(indicators)));
  return SharedRows{WindowedRows(std::move(base), static_cast<int>(header[kWindow]),
                                 std::vector<std::size_t>(starts.begin(), starts.end())),
                    std::vector<std::uint32_t>(train.begin(), train.end()), std::move(indicators)};
}

}  // namespace ringward::learn
