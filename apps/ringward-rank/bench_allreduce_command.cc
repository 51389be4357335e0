// The rank's side of `ringward bench allreduce`: rank 0 prints the lines, or one JSON document.

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "ringward-rank/bench_allreduce.h"
#include "ringward-rank/rank_context.h"
#include "ringward/cli/common_options.h"
#include "ringward/cli/output.h"
#ifdef RINGWARD_HAVE_GLOO
#include "comm/gloo/gloo_communicator.h"
#endif
#ifdef RINGWARD_HAVE_MPI
#include "comm/mpi/mpi_communicator.h"
#endif

namespace ringward::rank {
namespace {

using cli::Json;

comm::RawAllReduce RawOf([[maybe_unused]] comm::Communicator& communicator,
                         [[maybe_unused]] const AllReduceBenchOptions& options) {
  const std::string engine = communicator.engine();
#ifdef RINGWARD_HAVE_MPI
  if (engine == "mpi") return comm::RawMpiAllReduce(options.dtype, options.op);
#endif
#ifdef RINGWARD_HAVE_GLOO
  if (engine == "gloo") return comm::RawGlooAllReduce(communicator, options.dtype, options.op);
#endif
  return nullptr;
}

void PrintHead(const comm::Communicator& communicator, const AllReduceBenchOptions& options,
               cli::Output& out) {
  constexpr const char* kColumns =
      "#{:>11} {:>11} {:>8} {:>6} {:>11} {:>11} {:>8} {:>8} {:>7} {:>11} {:>7}\n";
  out.Print(
      "# allreduce, engine {}, {} ranks; {} alternating blocks of {} ms or more; "
      "times are of one call\n",
      communicator.engine(), communicator.size(), options.blocks, options.block_ms);
  out.Print(kColumns, "size", "count", "type", "redop", "time", "min", "algbw", "busbw", "#wrong",
            "raw time", "ratio");
  out.Print(kColumns, "(B)", "(elements)", "", "", "(us)", "(us)", "(GB/s)", "(GB/s)", "", "(us)",
            "");
  out.Flush();
}

void PrintLine(const AllReduceBenchLine& line, const AllReduceBenchOptions& options, int ranks,
               cli::Output& out) {
  const bool compared = line.ratio > 0;
  out.Print(" {:>11} {:>11} {:>8} {:>6} {:>11.2f} {:>11.2f} {:>8.3f} {:>8.3f} {:>7} {:>11} {:>7}\n",
            line.bytes, line.count, comm::NameOf(options.dtype), comm::NameOf(options.op),
            line.us_median, line.us_min, AlgorithmBandwidth(line), BusBandwidth(line, ranks),
            line.wrong, compared ? fmt::format("{:.2f}", line.raw_us_median) : "-",
            compared ? fmt::format("{:.3f}", line.ratio) : "-");
  out.Flush();  // a size may take long
}

Json ToJson(const AllReduceBenchLine& line, int ranks) {
  const auto or_null = [&](double value) { return line.ratio > 0 ? Json(value) : Json(nullptr); };
  return {{"bytes", line.bytes},
          {"count", line.count},
          {"us_median", line.us_median},
          {"us_min", line.us_min},
          {"algbw_gb_s", AlgorithmBandwidth(line)},
          {"busbw_gb_s", BusBandwidth(line, ranks)},
          {"wrong", line.wrong},
          {"raw_us_median", or_null(line.raw_us_median)},
          {"raw_us_min", or_null(line.raw_us_min)},
          {"ratio", or_null(line.ratio)}};
}

}  // namespace

Result<int> RunBenchAllReduceCommand(RankContext& context) {
  AllReduceBenchOptions options;
  cli::CommonOptions common;
  OptionTable table;
  AddAllReduceBenchOptions(table, options);
  cli::AddCommonOptions(table, common);
  RINGWARD_TRY(table.ParseArgs(context.arguments));
  comm::Communicator& communicator = *context.communicator;
  const int ranks = communicator.size();
  const bool prints = communicator.rank() == 0;
  cli::Output out(STDOUT_FILENO);
  if (prints && !common.json) PrintHead(communicator, options, out);
  std::int64_t wrong = 0;
  Json results = Json::array();
  const auto report = [&](const AllReduceBenchLine& line) {
    wrong += line.wrong;
    if (common.json) {
      results.push_back(ToJson(line, ranks));
    } else {
      PrintLine(line, options, ranks, out);
    }
  };
  RINGWARD_TRY(RunBenchAllReduce(communicator, options, RawOf(communicator, options), report));
  if (prints && common.json) {
    out.WriteJson({{"engine", communicator.engine()},
                   {"ranks", ranks},
                   {"type", comm::NameOf(options.dtype)},
                   {"op", comm::NameOf(options.op)},
                   {"results", results},
                   {"wrong", wrong}});
  }
  RINGWARD_TRY(out.Finish());
  if (wrong == 0) return kExitFine;
  return Error(Code::kCorrupt, std::to_string(wrong) + " elements were wrong");
}

}  // namespace ringward::rank
