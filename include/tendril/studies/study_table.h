#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// What a study has found, read from its folder, whether it is finished or goes on.
class StudyTable {
 public:
  struct Column {
    std::string name;
    std::string unit; ///< empty for pure numbers
    std::string output;
    int index = -1; ///< of an output that is an array: the element
    /// "NAME [unit]"
    std::string header() const { return unit.empty() ? name : name + " [" + unit + "]"; }
  };
  /// A run that is finished.
  struct Row {
    std::size_t run = 0; ///< from 0
    std::string status, message;
    std::vector<std::string> values; ///< of the inputs, as they were set
    /// By column: none where the run has no such output, NaN where it is not defined.
    std::vector<std::optional<double>> outputs;
  };

  /// Throws InputError if the folder holds no study.
  explicit StudyTable(const std::filesystem::path& folder);
  StudyTable(StudyTable&&) noexcept;
  StudyTable& operator=(StudyTable&&) noexcept;
  ~StudyTable();

  /// Points of the design, and those of them that are finished.
  std::size_t points() const;
  std::size_t finished() const;
  const std::vector<std::string>& inputs() const;
  /// Of all runs together; arrays have a column per element.
  const std::vector<Column>& outputs() const;
  /// Heads of sweep.csv: run, status, inputs, outputs, message. One that is taken says what it is: "status (output)".
  std::vector<std::string> heads() const;
  bool has(std::size_t run) const;
  Row row(std::size_t run) const;
  /// The number of a run as it is written: "0001" is the first.
  std::string label(std::size_t run) const;
  /// study.json as text.
  const std::string& description() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
