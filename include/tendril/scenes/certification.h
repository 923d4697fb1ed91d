#pragma once
#include "tendril/analysis/concentration_control.h"
#include "tendril/equations/analysis.h"
#include "tendril/model/error.h"
#include "tendril/scenes/work_sharing.h"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tendril {

class Scene;

/// What a scene says of its uncertainty, and what is asked of it.
struct CertificationOptions {
  /// An uncertain number: of a parameter or any other value of the scene, or of a force that is independent in every interval.
  struct Input {
    std::string name;
    Distribution distribution;
    std::string path;           ///< NAME or path.to.key; empty: a force
    const Marker* on = nullptr; ///< of a force, with its direction in the inertial frame
    Vector3 direction = Vector3::Zero();
    std::optional<double> slope{}; ///< bound of the slope of the performance
    Location where{};
    std::string key;
  };
  std::vector<Input> inputs;

  /// The performance: the result of an output, or how far a marker is from a place at the end of a manoeuvre [m].
  std::string output;
  const Marker* miss = nullptr;
  Vector3 place = Vector3::Zero();

  CertificateOptions certificate; ///< threshold in the units of the outputs, or in m
  Location where{};               ///< of the threshold

  /// Whether and how better controls are looked for: parameters, or the actuators of a manoeuvre within a neighbourhood of the optimum.
  std::optional<ControlSearch> search{};
  struct Control {
    std::string path;
    double lower = 0, upper = 0;
  };
  std::vector<Control> controls;
  /// How far the controls of an actuator may move, relative to what they are, and at least so far; both zero for those that stay.
  struct Reach {
    double share = 0, least = 0;
  };
  std::vector<Reach> reaches; ///< one per actuator
  ConcentrationControlOptions control{};
};

/// A motion or equilibrium with its certificate: the analysis within, with the values of the scene as they are, is shown step by step; at
/// its start the scene is run at many values of its uncertain inputs, and what is known of the probability of failure is worked out
/// (certify), for given controls and, if asked for, for better ones (concentrate).
///
/// A forward run is a run of the scene with other values of parameters. In optimal control it is a run of the variational integrator under
/// the controls of the optimum, which stay as they are whatever the inputs: nothing is optimised again. Its gradients are those of
/// ForwardFunction.
///
/// Before anything runs, the scene is built at both ends of the range of every parameter: a distribution that reaches where the scene is
/// refused (negative lengths) is an InputError with the probability of that. InputError too where every sample fails.
///
/// monitor(): "certification QUANTITY begin" or "... best", of the given and of the best controls: bound, exact mean bound, confidence,
/// diameter, mean, deviation, margin, failures (share), failure interval, hoeffding bound, undefined (number), diameters (of the inputs),
/// quantile SHARE (value and interval); "certification runs", "certification gradients", "certification certified".
class Certification final : public Analysis {
 public:
  using SceneMaker = std::function<Scene(const std::vector<std::string>& overrides)>;

  Certification(std::unique_ptr<Analysis> nominal, CertificationOptions options, SceneMaker scenes);
  ~Certification() override;

  /// How points are shared out; by default onThreads().
  void share(WorkSharing sharing);
  const CertificationOptions& options() const;
  /// What workers evaluate with: all of it is in the scene.
  WorkerMaker worker() const;

  void start() override;
  bool finished() const override { return nominal_->finished(); }
  const StepReport& advance() override { return nominal_->advance(); }
  const State& state() const override { return nominal_->state(); }
  VectorX reactions() override { return nominal_->reactions(); }
  const ContactReport* contacts() const override { return nominal_->contacts(); }
  Energy energy(const Model& model) const override { return nominal_->energy(model); }
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return nominal_->progress(); }
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

  const UncertainInputs& inputs() const { return inputs_; }
  /// What monitor() tells, by the name without "certification"; and "values begin", "values best", the performances of the samples. NaN
  /// where there is none.
  std::vector<double> numbers(const std::string& quantity) const;
  /// The samples, for given controls and, where better ones were looked for, for these: a table of comma-separated
  /// values, inputs, then performances. Throws MachineFailure.
  void writeSamples(const std::filesystem::path& file) const;

 private:
  void checkRanges() const;
  VectorX givenControls() const;
  Box neighbourhood(const VectorX& given) const;
  Performance performance(const PointEvaluator& evaluator) const;
  void keep(const std::string& which, const Certificate& certificate);
  void describe(const Certificate& begin, const VectorX& controls);

  std::unique_ptr<Analysis> nominal_;
  CertificationOptions options_;
  SceneMaker scenes_;
  WorkSharing sharing_;
  UncertainInputs inputs_;
  std::map<std::string, std::vector<double>> numbers_; ///< by "QUANTITY begin" and the like
};

}
