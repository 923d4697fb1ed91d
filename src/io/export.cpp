#include "tendril/io/export.h"
#include "io/export_source.h"
#include "tendril/documents/split.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace tendril {

namespace {

namespace fs = std::filesystem;

std::size_t toRow(const std::string& text, const std::string& whole, std::size_t count) {
  std::size_t row = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), row);
  if (status != std::errc() || end != text.data() + text.size())
    throw InputError("--steps " + whole + ": expected 'last', FROM:TO, FROM:TO:STRIDE, or rows separated by commas");
  if (row >= count) throw InputError(fmt::format("--steps {}: there is no row {}; the results have rows 0 to {}", whole, row, count - 1));
  return row;
}

std::vector<std::size_t> selectRows(const std::string& steps, std::size_t count) {
  if (count == 0) throw InputError("the results have no rows: the run failed before its first state");
  std::vector<std::size_t> rows;
  if (steps == "last") return {count - 1};
  const std::vector<std::string> range = split(steps, ':');
  if (steps.empty() || range.size() == 2 || range.size() == 3) {
    const std::size_t from = steps.empty() ? 0 : toRow(range[0], steps, count),
                      to = steps.empty() ? count - 1 : toRow(range[1], steps, count);
    // A stride may exceed the number of rows.
    const std::size_t stride = range.size() == 3 ? toRow(range[2], steps, std::size_t(-1)) : 1;
    if (stride == 0 || to < from) throw InputError("--steps " + steps + ": the range is empty");
    for (std::size_t row = from; row <= to; row += stride) rows.push_back(row);
    return rows;
  }
  for (const std::string& row : split(steps, ',')) rows.push_back(toRow(row, steps, count));
  return rows;
}

fs::path folderOf(const ExportOptions& options) {
  if (!options.folder.empty()) return options.folder;
  return options.results / (options.format == ExportFormat::Vtk ? "vtk" : "csv");
}

}

ExportSource::ExportSource(const ExportOptions& options)
    : results_(options.results), rows_(selectRows(options.steps, results_.rows())), folder_(folderOf(options)) {
  std::error_code status;
  fs::create_directories(folder_, status);
  if (status) throw MachineFailure("cannot create the folder " + folder_.string() + ": " + status.message() + "; choose another with -o");
}

ExportFile::ExportFile(fs::path file) : path_(std::move(file)), stream_(path_, std::ios::binary | std::ios::trunc) {
  if (!stream_) fail();
}

void ExportFile::close() {
  stream_.close();
  if (!stream_) fail();
}

void ExportFile::fail() const {
  throw MachineFailure("cannot write " + path_.string() + ": " + std::strerror(errno) +
                       "; free space, check the permissions, or choose another folder with -o");
}

std::vector<fs::path> exportResults(const ExportOptions& options) {
  const ExportSource source(options);
  return options.format == ExportFormat::Vtk ? exportVtk(source, options) : exportCsv(source);
}

}
