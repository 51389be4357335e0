#include "learn/score/expectation.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "base/check.h"
#include "learn/data/missing.h"

namespace ringward::learn {
namespace {

/// Members of each level of noise, the noisiest first; members without noise only where there are
/// no others, because they take a value for what it is.
std::vector<std::vector<std::size_t>> LevelsOf(const NetSpec& net) {
  std::map<float, std::vector<std::size_t>, std::greater<>> by_noise;
  for (std::size_t m = 0; m < static_cast<std::size_t>(net.members); ++m) {
    by_noise[net.input_noise.empty() ? 0.0F : net.input_noise[m]].push_back(m);
  }
  if (by_noise.size() > 1) by_noise.erase(0.0F);
  std::vector<std::vector<std::size_t>> levels;
  levels.reserve(by_noise.size());
  for (auto& [noise, members] : by_noise) levels.push_back(std::move(members));
  return levels;
}

}  // namespace

Expectation::Expectation(Plan& plan, std::size_t batch_max)
    : plan_(plan),
      batch_max_(batch_max),
      inputs_(static_cast<std::size_t>(plan.spec().inputs)),
      levels_(LevelsOf(plan.spec())) {
  RINGWARD_CHECK(batch_max >= 1);
}

void Expectation::Round(std::span<const std::vector<std::size_t>> unknown,
                        const std::vector<std::size_t>& members, std::span<float> rows) {
  outputs_.resize(static_cast<std::size_t>(plan_.spec().members) * batch_max_ * inputs_);
  for (std::size_t first = 0; first < unknown.size(); first += batch_max_) {
    const std::size_t count = std::min(batch_max_, unknown.size() - first);
    const std::size_t values = count * inputs_;
    const auto x = rows.subspan(first * inputs_, values);
    plan_.Infer(x, count,
                std::span(outputs_).first(static_cast<std::size_t>(plan_.spec().members) * values));
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::size_t j : unknown[first + i]) {
        double sum = 0.0;
        for (const std::size_t m : members) {
          sum += static_cast<double>(outputs_[m * values + i * inputs_ + j]);
        }
        x[i * inputs_ + j] = static_cast<float>(sum / static_cast<double>(members.size()));
      }
    }
  }
}

void Expectation::Replace(std::span<const std::vector<std::size_t>> unknown,
                          std::span<float> rows) {
  constexpr int kRounds = 3;
  RINGWARD_CHECK(rows.size() == unknown.size() * inputs_);
  for (int round = 0; round < kRounds; ++round) Round(unknown, levels_.front(), rows);
}

void Expectation::FillMissing(std::span<float> x, std::size_t rows) {
  constexpr int kRoundsOfLevel = 2;
  RINGWARD_CHECK(x.size() == rows * inputs_);
  // Rows with gaps are gathered, so that a few of them among many cost as little as a few.
  std::vector<std::size_t> places;
  InputLists missing;
  std::vector<float> gathered;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = x.subspan(i * inputs_, inputs_);
    if (!AnyMissing(row)) continue;
    places.push_back(i);
    auto& inputs = missing.emplace_back();
    for (std::size_t j = 0; j < inputs_; ++j) {
      if (IsMissingInput(row[j])) inputs.push_back(j);
    }
    gathered.insert(gathered.end(), row.begin(), row.end());
  }
  if (places.empty()) return;
  std::replace_if(gathered.begin(), gathered.end(), IsMissingInput, 0.0F);  // the training mean
  // Noisy members find the neighbourhood from far off, less noisy ones the place in it.
  for (const auto& level : levels_) {
    for (int round = 0; round < kRoundsOfLevel; ++round) Round(missing, level, gathered);
  }
  for (std::size_t k = 0; k < places.size(); ++k) {
    for (const std::size_t j : missing[k]) {
      x[places[k] * inputs_ + j] = gathered[k * inputs_ + j];
    }
  }
}

}  // namespace ringward::learn
