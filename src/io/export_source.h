#pragma once
#include "tendril/io/export.h"
#include "tendril/io/run_results.h"

#include <fstream>

namespace tendril {

/// The results of a run, the rows that are wanted, and where files shall lie.
class ExportSource {
 public:
  explicit ExportSource(const ExportOptions& options);

  const Scene& scene() const { return results_.scene(); }
  const ResultReader& reader() const { return results_.reader(); }
  const std::vector<std::size_t>& rows() const { return rows_; }
  double time(std::size_t row) const { return results_.time(row); }
  State state(std::size_t row) const { return results_.state(row); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  RunResults results_;
  std::vector<std::size_t> rows_;
  std::filesystem::path folder_;
};

/// A text file that reports the failures of the disk when it is closed.
class ExportFile {
 public:
  explicit ExportFile(std::filesystem::path file);
  std::ofstream& stream() { return stream_; }
  /// Throws MachineFailure naming the file if anything of it could not be written.
  void close();

 private:
  [[noreturn]] void fail() const;
  std::filesystem::path path_;
  std::ofstream stream_;
};

std::vector<std::filesystem::path> exportVtk(const ExportSource& source, const ExportOptions& options);
std::vector<std::filesystem::path> exportCsv(const ExportSource& source);

}
