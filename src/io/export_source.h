#pragma once
#include "tendril/io/export.h"
#include "tendril/io/results.h"
#include "tendril/io/scene.h"

#include <fstream>

namespace tendril {

/// The results of a run together with the mechanism that they belong to, and the rows that are wanted.
class ExportSource {
 public:
  explicit ExportSource(const ExportOptions& options);

  const Scene& scene() const { return scene_; }
  const ResultReader& reader() const { return reader_; }
  const std::vector<std::size_t>& rows() const { return rows_; }
  double time(std::size_t row) const { return times_[Eigen::Index(row)]; }
  State state(std::size_t row) const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  ResultReader reader_;
  Scene scene_;
  Eigen::VectorXd times_;
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
