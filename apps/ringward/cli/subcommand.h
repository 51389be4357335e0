#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/exit_code.h"
#include "base/options.h"
#include "base/result.h"
#include "ringward/cli/common_options.h"
#include "ringward/cli/output.h"

namespace ringward::cli {

class Registry;

/// What help, completion and the table of subcommands say about one of them.
struct SubcommandInfo {
  std::string path;     ///< "train", or "simulate table" inside the family `simulate`
  std::string group;    ///< heading it is listed under; kGroups in help.cc gives the order
  std::string summary;  ///< one line, lower case, no full stop
  std::string details;  ///< further lines for its own help; may be empty
  std::string example;  ///< one or more command lines
  /// Exit codes that mean something here beyond 0, 2, 3 and 130, e.g. {{1, "an alarm was found"}}.
  std::vector<std::pair<int, std::string>> exit_codes;
};

/// What the frame hands to a running subcommand. Everything outlives Run.
struct Context {
  Output& out;                  ///< standard output
  const CommonOptions& common;  ///< --json, --quiet, logging
  const OptionTable& options;   ///< to ask WasSet, ToToml, ToArgs
  const Registry& registry;     ///< all subcommands
};

/// One subcommand: its options are members, bound in AddOptions. A fresh object serves one run.
class Subcommand {
 public:
  virtual ~Subcommand() = default;
  virtual SubcommandInfo Info() const = 0;
  /// Called once, before Run. The frame adds --config, --json and so on afterwards.
  virtual void AddOptions(OptionTable& table) = 0;
  /// The exit code (ExitCode, or for `run` the program's status), or an error, which the frame
  /// prints as one line on standard error and turns into an exit code. Results go to context.out,
  /// progress and logs to standard error. With common.json, exactly one JSON document.
  virtual Result<int> Run(Context& context) = 0;
};

/// All subcommands of the program.
class Registry {
 public:
  using Factory = std::unique_ptr<Subcommand> (*)();

  struct Entry {
    SubcommandInfo info;
    Factory make;
  };

  template <typename T>
  void Add() {
    const Factory make = [] { return std::unique_ptr<Subcommand>(std::make_unique<T>()); };
    Insert({make()->Info(), make});
  }

  const std::vector<Entry>& entries() const { return entries_; }
  /// The entry with exactly this path, or null.
  const Entry* Find(const std::string& path) const;
  /// True where `word` begins the path of nested subcommands ("simulate").
  bool IsFamily(const std::string& word) const;
  /// First words of all paths, without repeats.
  std::vector<std::string> FirstWords() const;
  /// Second words of the paths that begin with `family`.
  std::vector<std::string> SecondWords(const std::string& family) const;

 private:
  void Insert(Entry entry);
  std::vector<Entry> entries_;
};

/// A subcommand with its complete option table, as the frame runs, documents and completes it.
struct BoundSubcommand {
  std::unique_ptr<Subcommand> subcommand;
  CommonOptions common;
  OptionTable options;
};

/// Never null. `registry` gives the sections of other subcommands that a shared file may hold.
std::unique_ptr<BoundSubcommand> Bind(const Registry& registry, const Registry::Entry& entry);

}  // namespace ringward::cli
