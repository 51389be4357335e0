// A program over the same frame as `ringward`, with subcommands that misbehave on request, so that
// tests/cli/cases.py can check the frame's contract before and apart from the real subcommands.
#include <chrono>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/progress.h"
#include "ringward/cli/app.h"
#include "ringward/completion.h"

namespace ringward::cli {
namespace {

enum class Fruit { kApple, kPear };

/// `demo options`: one option of every kind; prints what it got.
class OptionsDemo final : public Subcommand {
 public:
  SubcommandInfo Info() const override {
    return {.path = "demo options",
            .group = "Tools",
            .summary = "echo the options",
            .details = "Prints the values in force as TOML.",
            .example = "ringward demo options --data a.csv",
            .exit_codes = {}};
  }
  void AddOptions(OptionTable& table) override {
    table.Group("Demo");
    table.Add("data", &data_, {.what = "files"}, "what to read").Complete(Completion::kFile);
    table.Add("out", &out_, {.what = "a folder", .allow_empty = true}, "where to write")
        .Complete(Completion::kFolder);
    table.Add("epochs", &epochs_, {.min = 1}, "passes over the data");
    table.Add("rate", &rate_, {.min = 0, .max = 1, .min_exclusive = true}, "step size");
    table.Add("wait", &wait_, {.min = std::chrono::milliseconds(0)}, "how long to wait");
    table.Add("hidden", &hidden_, {.min = 1}, "widths of the layers");
    table.Add("ranks", &ranks_, {.min = 1, .max = 4096}, "processes").Short("np");
    table.AddChoice("fruit", &fruit_, {{"apple", Fruit::kApple}, {"pear", Fruit::kPear}},
                    "a fruit");
    table.AddBytes("size", &size_, {}, "bytes");
    table.Add("shuffle", &shuffle_, "mix the rows");
  }
  Result<int> Run(Context& context) override {
    if (context.common.json) {
      context.out.WriteJson({{"rate", rate_},
                             {"nan", std::numeric_limits<double>::quiet_NaN()},
                             {"infinite", std::numeric_limits<double>::infinity()},
                             {"bytes", "\xff"}});
    } else {
      context.out.Write(context.options.ToToml());
    }
    return kExitFine;
  }

 private:
  std::vector<std::string> data_;
  std::string out_;
  int epochs_ = 10;
  double rate_ = 0.1;
  std::chrono::milliseconds wait_{500};
  std::vector<int> hidden_{128, 64};
  int ranks_ = 1;
  Fruit fruit_ = Fruit::kApple;
  std::uint64_t size_ = 65536;
  bool shuffle_ = true;
};

/// `demo end HOW`: ends in a chosen way.
class EndDemo final : public Subcommand {
 public:
  SubcommandInfo Info() const override {
    return {.path = "demo end",
            .group = "Tools",
            .summary = "end in a chosen way",
            .details = "",
            .example = "ringward demo end found",
            .exit_codes = {{1, "something was found"}}};
  }
  void AddOptions(OptionTable& table) override {
    table.AddPositional("how", &how_, {.what = "a way to end"}, "how to end").Required();
  }
  Result<int> Run(Context& context) override {
    if (how_ == "found") return kExitFound;
    if (how_ == "corrupt") return Error(Code::kCorrupt, "model.bin:7: checksum differs");
    if (how_ == "timeout") return Error(Code::kTimeout, "rank 3 is silent");
    if (how_ == "memory") throw std::bad_alloc();
    if (how_ == "throw") throw std::runtime_error("two\nlines");
    if (how_ == "endless") return Endless(context);
    if (how_ == "interrupt" || how_ == "stubborn") return WaitForInterrupt();
    if (how_ == "log") return LogSome();
    if (how_ == "progress") return ShowProgress(context);
    return Error(Code::kInvalidInput, "no such way");
  }

 private:
  static Result<int> Endless(Context& context) {
    while (!context.out.failed()) context.out.Write("0123456789\n");
    RINGWARD_TRY(context.out.Finish());
    return kExitFine;
  }
  Result<int> WaitForInterrupt() {
    const std::optional<InterruptScope> scope =
        how_ == "interrupt" ? std::optional<InterruptScope>(std::in_place) : std::nullopt;
    LogInfo("waiting");
    while (!InterruptRequested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return Error(Code::kInterrupted, "stopped in good order");
  }
  static Result<int> LogSome() {
    LogDebug("small");
    LogInfo("medium", {{"ranks", 4}, {"note", "two words"}});
    LogWarning("large");
    return kExitFine;
  }
  static Result<int> ShowProgress(Context& context) {
    Progress progress(context.common.progress_style(), SystemClock(), "demo", "rows", 1000);
    for (std::uint64_t i = 0; i <= 30; ++i) {
      progress.Update({.done = i * 30, .note = "epoch 1/3", .loss = 0.5});
      if (i == 15) LogInfo("halfway");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    progress.Finish();
    return kExitFine;
  }

  std::string how_;
};

}  // namespace
}  // namespace ringward::cli

int main(int argc, char** argv) {
  using namespace ringward::cli;
  Registry registry;
  registry.Add<OptionsDemo>();
  registry.Add<EndDemo>();
  registry.Add<CompletionCommand>();
  return Main(registry, argc, argv);
}
