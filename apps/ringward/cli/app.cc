#include "ringward/cli/app.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "base/caught.h"
#include "base/interrupt.h"
#include "base/nearest_name.h"
#include "base/terminal.h"
#include "base/text_value.h"
#include "ringward/cli/help.h"

namespace ringward::cli {
namespace {

int Fail(const std::string& who, const Error& error) {
  WriteStderrLine(who + ": " + error.what());
  return ExitCodeOf(error.code());
}

bool AsksForHelp(const std::string& word) { return word == "--help" || word == "-h"; }

/// What the first words of a command line name.
struct Target {
  const Registry::Entry* entry = nullptr;
  std::string family;     // set instead of entry where only the family was named
  std::size_t words = 0;  // how many arguments the name took
};

Error Unknown(const std::string& typed, const std::string& kind,
              const std::vector<std::string>& known, const std::string& prefix) {
  return {Code::kInvalidInput, fmt::format("unknown {} '{}'{}", kind, Printable(typed),
                                           DidYouMean(typed, known, prefix))};
}

Result<Target> Resolve(const Registry& registry, std::span<const std::string> args) {
  const std::string& first = args[0];
  if (!registry.IsFamily(first)) {
    const auto* entry = registry.Find(first);
    if (entry != nullptr) return Target{.entry = entry, .family = "", .words = 1};
    if (first.starts_with('-')) {
      return Unknown(first, "option", {"--help", "--version"}, "");
    }
    return Unknown(first, "subcommand", registry.FirstWords(), "");
  }
  if (args.size() == 1 || AsksForHelp(args[1]))
    return Target{.entry = nullptr, .family = first, .words = 1};
  const auto* entry = registry.Find(first + " " + args[1]);
  if (entry == nullptr) {
    return Unknown(args[1], first + " subcommand", registry.SecondWords(first), first + " ");
  }
  return Target{.entry = entry, .family = "", .words = 2};
}

int RunSubcommand(const Registry& registry, const Registry::Entry& entry,
                  std::span<const std::string> args, Output& out) {
  const std::string who = "ringward " + entry.info.path;
  const auto bound = Bind(registry, entry);
  if (auto parsed = bound->options.ParseArgs(args); !parsed) return Fail(who, parsed.error());
  if (bound->options.help_requested()) {
    out.Write(SubcommandHelp(*bound, TerminalWidth(STDOUT_FILENO)));
    return kExitFine;
  }
  if (auto log = ConfigureLogFrom(bound->common, bound->options); !log)
    return Fail(who, log.error());
  Context context{
      .out = out, .common = bound->common, .options = bound->options, .registry = registry};
  const auto code = bound->subcommand->Run(context);
  ClearTransientLine();
  // Once the reader has left, an error about it is the expected end, not news.
  if (!code && out.reader_left()) return kExitFine;
  // Nor after another failed write: RunApp says what it was.
  if (!code && out.failed()) return ExitCodeOf(code.error().code());
  return code ? *code : Fail(who, code.error());
}

int Dispatch(const Registry& registry, std::span<const std::string> args, Output& out) {
  if (args.empty()) {
    return Fail("ringward",
                Error(Code::kInvalidInput, "no subcommand given (`ringward --help` lists them)"));
  }
  if (args[0] == "--version") {
    out.Write(VersionText() + "\n");
    return kExitFine;
  }
  if (AsksForHelp(args[0]) || (args[0] == "help" && args.size() == 1)) {
    out.Write(ProgramHelp(registry));
    return kExitFine;
  }
  if (args[0] == "help") {  // `ringward help train` is `ringward train --help`
    std::vector<std::string> rest(args.begin() + 1, args.end());
    rest.emplace_back("--help");
    return Dispatch(registry, rest, out);
  }
  auto target = Resolve(registry, args);
  if (!target) return Fail("ringward", target.error());
  if (target->entry != nullptr) {
    return RunSubcommand(registry, *target->entry, args.subspan(target->words), out);
  }
  if (args.size() == 1) {
    const std::string known =
        fmt::format("{}", fmt::join(registry.SecondWords(target->family), ", "));
    return Fail("ringward " + target->family,
                Error(Code::kInvalidInput, "needs a subcommand: " + known));
  }
  out.Write(FamilyHelp(registry, target->family));
  return kExitFine;
}

/// A file opened later must not become descriptor 0, 1 or 2 by accident. Opened the wrong way
/// round, so that a program started with `>&-` gets an error from its first write.
void KeepStandardDescriptorsTaken() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    const int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (::open("/dev/null", mode) < 0) std::abort();
  }
}

[[noreturn]] void DieByBrokenPipe() {
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
  ::_exit(kExitCouldNotRun);
}

}  // namespace

int RunApp(const Registry& registry, std::span<const std::string> args, Output& out) {
  int code = kExitCouldNotRun;
  try {
    code = Dispatch(registry, args, out);
  } catch (...) {
    ClearTransientLine();
    return Fail("ringward", CaughtError());
  }
  if (auto written = out.Finish(); !written && !out.reader_left()) {
    const int failed = Fail("ringward", written.error());
    return code == kExitFine || code == kExitFound ? failed : code;
  }
  return code;
}

int Main(const Registry& registry, int argc, char** argv) {
  KeepStandardDescriptorsTaken();
  // Sockets of peers that died must give errors, not a signal; Output handles standard output.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond `ulimit -f` is an error of write()
  InstallInterruptHandling();
  const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
  Output out(STDOUT_FILENO);
  const int code = RunApp(registry, args, out);
  if (out.reader_left()) DieByBrokenPipe();
  return code;
}

}  // namespace ringward::cli
