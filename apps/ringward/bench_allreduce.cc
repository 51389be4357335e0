#include "ringward/bench_allreduce.h"

#include "launch/memory.h"

namespace ringward::cli {

SubcommandInfo BenchAllReduceCommand::Info() const {
  return {.path = "bench allreduce",
          .group = "Tools",
          .summary = "time the all-reduce of an engine beside the library's own",
          .details =
              "One line per size, as nccl-tests print them. 'time' is the median over blocks, "
              "'ratio' the median of ours over the library's in neighbouring blocks, '#wrong' the "
              "elements that were not the reduction, over all ranks.",
          .example = "ringward bench allreduce -np 2 --engine mpi -b 8 -e 64M -f 4",
          .exit_codes = {{2, "bad usage, or a result was wrong"}}};
}

void BenchAllReduceCommand::AddOptions(OptionTable& table) {
  rank::AddAllReduceBenchOptions(table, options_);
  AddRankJobOptions(table, ranks_, "reduce");
}

Result<int> BenchAllReduceCommand::Run(Context& context) {
  if (options_.begin > options_.end) {
    return Error(Code::kInvalidInput, "--begin is larger than --end");
  }
  RINGWARD_TRY(launch::CheckMemory(ranks_.ranks, static_cast<double>(options_.end),
                                   launch::AvailableMemory(), "buffers of --end"));
  return RunRankJob(context, ranks_, {.command = "bench-allreduce"});
}

}  // namespace ringward::cli
