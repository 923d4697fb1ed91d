#pragma once
#include <Eigen/Core>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

/// What a results file says about its run.
struct RunMetadata {
  std::string version;
  std::string scene;                  ///< the text of the scene file
  std::vector<std::string> arguments; ///< of the command line
};

/// What a series is: unit, meaning, and the frame in which its components are given ("inertial", "body", "section"; empty for scalars).
struct SeriesInfo {
  std::string unit = "1";
  std::string description;
  std::string frame;
};

/// Writes the results of a run to an HDF5 file, one row per step.
///
///   /             attributes version, format
///   /rows         the number of complete rows; a killed run may have begun more
///   /scene, /arguments          texts
///   /time         (rows)            s
///   /states/NAME  (rows, columns)   q, v, lambda, ...
///   /steps/NAME   (rows, 1)         of the last step before each row: step_size, iterations, residual, with contacts contact_residual,
///                                   sweeps, contact_newton_steps, penetration; at the row: kinetic_, elastic_, gravitational_ and
///                                   total_energy; since the start: work, dissipated
///   /outputs/NAME (rows, columns)   or (n) for a final array; attributes unit, description, frame
///   /NAME/end     (rows)            of a list with any number of lines per step: the lines up to and with each step
///   /NAME/COLUMN  (lines, columns)  its lines
///
/// Datasets are chunked and extendable, double precision. Use: declare the series, then per step set() each and endStep(time); a series
/// that was not set in a step holds NaN in that row. Rows are buffered (no allocation per step) and written when the buffer is full or
/// `flushInterval` has passed. A block's room on the disk is reserved before HDF5 sees it, so that a full disk leaves the file as it was
/// after the last block. From its first block on the file is in HDF5's single-writer, multiple-reader mode: whenever the run is killed, and
/// while it goes on, what was flushed can be read (by other programs too, which must ask for that mode: h5py.File(name, swmr=True)).
///
/// Failures of the disk throw MachineFailure with the path and the number of rows kept. (A process that wants the message rather than
/// SIGXFSZ when it exceeds its file size limit ignores that signal.)
class ResultWriter {
 public:
  using Series = int;

  ResultWriter(const std::filesystem::path& file, const RunMetadata& metadata,
               std::chrono::duration<double> flushInterval = std::chrono::seconds(2));
  /// Continues a file after `rows` rows (those of the checkpoint); later rows are discarded. Series are declared again with the same
  /// shapes.
  static ResultWriter resume(const std::filesystem::path& file, std::size_t rows,
                             std::chrono::duration<double> flushInterval = std::chrono::seconds(2));
  ResultWriter(ResultWriter&&) noexcept;
  ResultWriter& operator=(ResultWriter&&) noexcept;
  /// Closes without throwing; call close() to learn of failures.
  ~ResultWriter();

  Series addState(const std::string& name, int columns, const SeriesInfo& info = {});
  Series addOutput(const std::string& name, int columns, const SeriesInfo& info);
  /// A number that belongs to the steps themselves.
  Series addStep(const std::string& name, const SeriesInfo& info);
  /// A list with any number of lines per step (contacts), and its columns.
  struct ListColumn {
    std::string name;
    int columns = 1;
    SeriesInfo info;
  };
  using List = int;
  List addList(const std::string& name, const std::vector<ListColumn>& columns);
  /// Appends a line to a list in the present step: the numbers of all of its columns one after the other.
  void append(List list, std::span<const double> line);

  void set(Series series, std::span<const double> row);
  void set(Series series, double value) { set(series, std::span(&value, 1)); }
  void endStep(double time);
  /// An output that is one array for the whole run (e.g. the impact times), written at once.
  void writeArray(const std::string& name, std::span<const double> values, const SeriesInfo& info);

  void flush();
  void close();
  /// Rows given so far, and those that are safe on the disk.
  std::size_t rows() const;
  std::size_t rowsOnDisk() const;

 private:
  struct Impl;
  explicit ResultWriter(std::unique_ptr<Impl> implementation);
  std::unique_ptr<Impl> impl;
};

/// Reads a results file, also one of a run that is still writing or was killed. Throws InputError if the file is missing or damaged.
class ResultReader {
 public:
  using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  explicit ResultReader(const std::filesystem::path& file);
  ResultReader(ResultReader&&) noexcept;
  ResultReader& operator=(ResultReader&&) noexcept;
  ~ResultReader();

  const RunMetadata& metadata() const;
  std::vector<std::string> states() const;
  std::vector<std::string> outputs() const;
  std::vector<std::string> steps() const;
  /// Rows that every series has.
  std::size_t rows() const;
  Eigen::VectorXd time() const;
  /// All rows of a series; a final array comes as one column.
  RowMatrix state(const std::string& name) const;
  RowMatrix output(const std::string& name) const;
  RowMatrix step(const std::string& name) const;
  /// One row of a state, e.g. to render or restart from it.
  Eigen::VectorXd stateRow(const std::string& name, std::size_t row) const;
  /// The same, into memory that is there already: the rows of large models take longer to find a place than to be read.
  void readStateRow(const std::string& name, std::size_t row, Eigen::VectorXd& values) const;
  SeriesInfo stateInfo(const std::string& name) const;
  SeriesInfo outputInfo(const std::string& name) const;
  SeriesInfo stepInfo(const std::string& name) const;
  bool hasList(const std::string& name) const;
  /// The lines of a column of a list that belong to a row.
  RowMatrix list(const std::string& name, const std::string& column, std::size_t row) const;
  /// Whether an output is a series over the steps (else a final array).
  bool isSeries(const std::string& output) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

}
