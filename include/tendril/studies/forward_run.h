#pragma once
#include "tendril/documents/document.h"
#include "tendril/io/summary.h"

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

/// How a forward run ended. The first four say something of the scene and its values, and say the same each time.
enum class RunEnd {
  Success,
  WrongInput,  ///< the values are refused
  Failed,      ///< the numerics failed
  Interrupted, ///< on request
  Error        ///< the machine failed
};

/// "success", "wrong input", "failed", "interrupted", "error"
std::string_view nameOf(RunEnd end);

struct ForwardResult {
  RunEnd end = RunEnd::Success;
  std::string message; ///< why the run did not succeed
  /// Results by name, those that `tendril run` writes into its summary. Empty unless the run succeeded: the last values of a run that broke
  /// off are not its results.
  std::map<std::string, Summary::Output> outputs;
  long steps = 0;

  bool isSuccess() const { return end == RunEnd::Success; }
  /// The number of an output, or element `index` of an array; NaN if there is none.
  double value(const std::string& output, std::size_t index = 0) const;
};

/// A scene as a function: values of parameters go in, outputs come out. The file is read once; a run writes nothing and leaves nothing.
///
///     const ForwardRun run = ForwardRun::fromFile("scenes/contact/block-slide.yaml");
///     const double distance = run({{ForwardRun::assign("mu", 0.3)}}).value("distance");
///
/// The outputs are those of `tendril run` with the same values, bit for bit. A run that does not succeed says so in its result and throws
/// nothing. Constant, and safe to call from several threads at once; ends of one run do not touch another.
class ForwardRun {
 public:
  /// `common` are overrides that all runs share, as those of Document. Throws InputError if the file cannot be read or is no YAML; what
  /// else is wrong with the scene, each run tells.
  static ForwardRun fromFile(const std::filesystem::path& file, std::vector<std::string> common = {});
  static ForwardRun fromText(std::string_view text, std::string_view name = "scene", std::vector<std::string> common = {});

  /// One run with further overrides, NAME=VALUE or path.to.key=VALUE. `stop` is asked after each step.
  ForwardResult operator()(std::span<const std::string> overrides = {}, const std::function<bool()>& stop = {}) const;
  ForwardResult operator()(std::initializer_list<std::string> overrides) const { return (*this)(std::span(overrides)); }

  /// The override that gives a name exactly this number.
  static std::string assign(std::string_view name, double value);
  /// Throws InputError if the scene with these overrides is refused before it runs, or if one of all of them is lost to a later one.
  void check(std::span<const std::string> overrides = {}) const;

  const DocumentSource& source() const { return source_; }
  const std::vector<std::string>& common() const { return common_; }

 private:
  ForwardRun(DocumentSource source, std::vector<std::string> common) : source_(std::move(source)), common_(std::move(common)) {}
  std::vector<std::string> all(std::span<const std::string> overrides) const;

  DocumentSource source_;
  std::vector<std::string> common_;
};

}
