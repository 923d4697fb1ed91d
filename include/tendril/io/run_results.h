#pragma once
#include "tendril/io/results.h"
#include "tendril/scenes/scene.h"

#include <filesystem>

namespace tendril {

/// The results of a run together with the mechanism that they belong to, which is built anew from the scene that results.h5 holds. The run
/// may have ended, be going on or have been broken off.
class RunResults {
 public:
  /// Throws InputError if the folder holds no results, results of another format, or results that do not fit the scene as this version
  /// builds it.
  explicit RunResults(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const Scene& scene() const { return scene_; }
  const ResultReader& reader() const { return reader_; }
  /// Rows that were complete when the results were opened.
  std::size_t rows() const { return std::size_t(times_.size()); }
  /// Time [s] or load parameter of a row.
  double time(std::size_t row) const { return times_[Eigen::Index(row)]; }
  /// The accelerations are not recorded; they are zero here.
  State state(std::size_t row) const;
  /// The same, into the memory of a state.
  void readState(std::size_t row, State& state) const;

 private:
  std::filesystem::path folder_;
  ResultReader reader_;
  Scene scene_;
  Eigen::VectorXd times_;
};

}
