// ringward-keeper: the two small processes that a job needs beside its ranks. Started by
// `ringward`, never by hand.
//
//   ringward-keeper shim PROGRAM [ARGUMENT...]    the parent of one rank, see launch/shim.h
//   ringward-keeper janitor FOLDER JOB_ID         cleans up after a lost launcher, see
//                                                 launch/job_folder.h

#include <cstdio>
#include <string>
#include <vector>

#include "base/caught.h"
#include "base/exit_code.h"
#include "launch/job_folder.h"
#include "launch/shim.h"

namespace {

ringward::Result<int> Main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() >= 2 && arguments[0] == "shim") {
    return ringward::launch::RunShim({arguments.begin() + 1, arguments.end()});
  }
  if (arguments.size() == 3 && arguments[0] == "janitor") {
    return ringward::launch::RunJanitor(arguments[1], arguments[2]);
  }
  std::fputs("usage: ringward-keeper shim PROGRAM [ARGUMENT...] | janitor FOLDER JOB_ID\n", stderr);
  return ringward::kExitBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  return ringward::RunProgram("ringward-keeper", [&] { return Main(argc, argv); });
}
