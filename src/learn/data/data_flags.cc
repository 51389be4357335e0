#include "learn/data/data_flags.h"

#include <utility>

namespace ringward::learn {
namespace {

const std::vector<std::pair<std::string, char>>& Delimiters() {
  static const std::vector<std::pair<std::string, char>> names{{"auto", '\0'},     {"comma", ','},
                                                               {"semicolon", ';'}, {"tab", '\t'},
                                                               {"pipe", '|'},      {"space", ' '}};
  return names;
}

}  // namespace

void AddDataOptions(OptionTable& table, DataOptions& options, DataFlag data) {
  table.Group("Data");
  table
      .Add("data", &options.paths, {.what = "files, patterns or - for standard input"},
           "CSV, TSV, NPY or NPZ, plain or compressed with gzip or zstd")
      .Metavar("PATH")
      .Complete(Completion::kFile)
      .Required(data == DataFlag::kRequired);
  table
      .Add("label", &options.label, {.what = "a column"},
           "column that tells normal rows from anomalies; never an input")
      .Metavar("COL");
  table
      .Add("normal", &options.normal, {.what = "values of the label"},
           "label values of normal rows; none = 0, false and normal")
      .Metavar("VALUE");
  table.Add("id", &options.id, {.what = "columns"}, "columns copied to the output, never inputs")
      .Metavar("COL");
  table.AddChoice("delimiter", &options.delimiter, Delimiters(),
                  "what separates the columns of text files");
  table.AddChoice(
      "header", &options.header,
      {{"auto", HeaderMode::kAuto}, {"yes", HeaderMode::kYes}, {"no", HeaderMode::kNo}},
      "whether text files begin with column names; without, columns are numbered from 1");
}

void AddColumnOptions(OptionTable& table, DataOptions& options) {
  table.Add("drop", &options.drop, {.what = "columns"}, "columns that are not read").Metavar("COL");
  table
      .Add("categorical", &options.categorical, {.what = "columns"},
           "columns whose numbers are names")
      .Metavar("COL");
  table.Add("numeric", &options.numeric, {.what = "columns"}, "columns where any text is an error")
      .Metavar("COL");
  table
      .Add("time", &options.time, {.what = "a column"},
           "number or ISO 8601 time that orders the rows; never an input")
      .Metavar("COL");
  table.Add("window", &options.window, {.min = 1, .max = 100'000},
            "consecutive rows that make one input");
}

}  // namespace ringward::learn
