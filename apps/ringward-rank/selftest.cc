// Steps of nothing but a sleep and an all-reduce whose result is checked: shows that ranks, engine
// and launcher work on a machine, and gives the tests of failures a job to hurt.

#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/exit_code.h"
#include "ringward-rank/rank_context.h"

namespace ringward::rank {
namespace {

struct Options {
  int steps = 100;
  int sleep_ms = 0;     ///< of each step, on every rank
  int load_ms = 0;      ///< before the first collective, on rank 0 alone
  int elements = 1024;  ///< of the all-reduce
  int fail_rank = -1;   ///< the rank that fails at step fail_step
  int fail_step = 0;
};

Result<Options> Parse(const std::vector<std::string>& arguments) {
  Options options;
  const std::map<std::string, int*> flags = {
      {"--steps", &options.steps},         {"--sleep-ms", &options.sleep_ms},
      {"--load-ms", &options.load_ms},     {"--elements", &options.elements},
      {"--fail-rank", &options.fail_rank}, {"--fail-step", &options.fail_step},
  };
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const auto flag = flags.find(arguments[i]);
    if (flag == flags.end() || i + 1 == arguments.size()) {
      return Error(Code::kInvalidInput, "selftest: '" + arguments[i] + "' is no flag with a value");
    }
    const std::string& text = arguments[i + 1];
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, *flag->second);
    if (error != std::errc() || rest != end || *flag->second < 0) {
      return Error(Code::kInvalidInput,
                   "selftest: " + arguments[i] + " " + text + ": not a number from 0");
    }
  }
  return options;
}

Status Step(RankContext& context, const Options& options, int step) {
  comm::Communicator& communicator = *context.communicator;
  context.SetStep(static_cast<std::uint64_t>(step));
  std::this_thread::sleep_for(std::chrono::milliseconds(options.sleep_ms));
  if (communicator.rank() == options.fail_rank && step == options.fail_step) {
    return Error(Code::kResource, "selftest: told to fail at step " + std::to_string(step));
  }
  std::vector<float> values(static_cast<std::size_t>(options.elements),
                            static_cast<float>(communicator.rank() + step));
  RINGWARD_TRY(communicator.AllReduce(comm::AsBuffer(values), comm::ReduceOp::kSum,
                                      {.step = static_cast<std::uint64_t>(step)}));
  const int size = communicator.size();
  const auto expected = static_cast<float>(size * (size - 1) / 2 + size * step);
  for (const float value : values) {
    if (value == expected) continue;
    return Error(Code::kCorrupt, "selftest: wrong sum at step " + std::to_string(step) + ": " +
                                     std::to_string(value) + ", not " + std::to_string(expected));
  }
  return Ok();
}

}  // namespace

Result<int> RunSelftest(RankContext& context) {
  RINGWARD_ASSIGN(const Options options, Parse(context.arguments));
  comm::Communicator& communicator = *context.communicator;
  if (communicator.rank() == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(options.load_ms));
  }
  RINGWARD_TRY(communicator.Barrier(context.Patient()));
  for (int step = 0; step < options.steps; ++step) RINGWARD_TRY(Step(context, options, step));
  RINGWARD_TRY(communicator.Barrier());
  if (communicator.rank() == 0) {
    std::printf("selftest: %d steps on %d ranks of engine %s, every sum right\n", options.steps,
                communicator.size(), communicator.engine());
  }
  return kExitFine;
}

}  // namespace ringward::rank
