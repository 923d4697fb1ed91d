#pragma once
#include "tendril/control/first_path.h"
#include "tendril/control/solve_transcription.h"
#include "tendril/equations/analysis.h"
#include "tendril/solvers/interior_point.h"

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// What is asked of the end of a manoeuvre.
struct ManoeuvreEnd {
  std::optional<JointMotions> configuration{}; ///< the whole configuration; what is not named is as at the start
  /// Single coordinates: a marker on a plane, direction . x = value [m].
  struct Target {
    const Marker* marker = nullptr;
    Vector3 direction = Vector3::UnitX();
    double value = 0;
  };
  std::vector<Target> targets;
  /// Markers that have turned from their initial orientation by a rotation vector in the inertial frame [rad], less than half a turn.
  struct Orientation {
    const Marker* marker = nullptr;
    Vector3 rotation = Vector3::Zero();
  };
  std::vector<Orientation> orientations;
  bool isAtRest = true; ///< else its velocity is free
  /// The speed of a marker along a direction, as large as possible: the objective has -weight times it.
  struct Speed {
    const Marker* marker = nullptr;
    Vector3 direction = Vector3::UnitX();
    double weight = 1;
  };
  std::vector<Speed> fastest;
};

/// Within what a number of the configuration keeps at the nodes from `first` to `last`.
struct PathBound {
  std::string name;
  const Marker* marker = nullptr;
  std::optional<Vector3> direction{}; ///< of a marker: its coordinate along this [m]
  std::optional<Vector3> centre{};    ///< or its distance from this point, at least `lower` [m]
  std::string joint;                  ///< or the angle of a joint [rad]
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  int first = 0, last = 0;
};

/// The end of the path is its beginning again, moved and perhaps mirrored: configurations as seen from a marker each, velocities, controls.
/// With S the reflection at the plane, and a body-fixed axis that changes its sign, since a mirrored triad is left-handed,
///
///     x_0 - a_0 = S (x_N - a_N),      d_I,0 = s_I S d_I,N,      tau_0 = c tau_{N-1}.
struct Periodicity {
  std::optional<Vector3> mirror{};        ///< normal of the plane
  int axis = 1;                           ///< of bodies, 1 to 3, that changes its sign
  std::vector<int> endBlock;              ///< for every block the one that it is at the end; empty: itself
  std::array<const Marker*, 2> anchors{}; ///< a_0, a_N; without them places are those in space
  struct Control {
    int atBegin = 0, atEnd = 0;
    double factor = 1;
  };
  std::vector<Control> controls;
};

/// The cost is divided by how far one marker is from another along a direction at a node.
struct CostPerLength {
  const Marker *marker = nullptr, *from = nullptr;
  Vector3 direction = Vector3::UnitX();
  int node = 0;
};

struct OptimalControlOptions {
  TranscriptionMethod method = TranscriptionMethod::Dmocc;
  int intervals = 20;
  double duration = 1; ///< [s]; where it has bounds, the first guess
  std::optional<std::array<double, 2>> durationBounds{};
  Quadrature quadrature = Quadrature::Midpoint;
  std::vector<Actuator> actuators;
  std::vector<double> lower, upper;   ///< of the controls; empty: none
  std::vector<double> effort;         ///< weights w_k of h sum tau_k^2
  std::optional<double> effortNorm{}; ///< the integral of sqrt(sum w_k tau_k^2 + eps^2) instead: eps
  double durationWeight = 0;
  std::optional<CostPerLength> per{};
  bool beginIsFree = false; ///< configuration and velocity at the begin are looked for, too
  std::vector<PathContact> contacts;
  std::vector<PathBound> bounds;
  std::optional<Periodicity> periodic{};
  ManoeuvreEnd end;
  std::optional<double> largestTurn{}; ///< of a body in an interval [rad], less than a right angle
  /// Motions that the first guess passes; without any it goes straight to the end.
  std::vector<KeyMotions> guess;
  ProgramSolver programSolver = ProgramSolver::InteriorPoint;
  InteriorPointOptions solver;
  /// First guesses: the given one, and others whose key poses are disturbed at random, within +-spread; the best solution stays.
  int starts = 1;
  unsigned seed = 1;
  double spread = 1; ///< [rad]; of displacements in sizes of the model over pi
  /// How often the number of intervals is doubled, each time from the solution before.
  int refinements = 0;
};

/// A manoeuvre that begins in the initial state of the model, made a program by a method (Transcription), optimised and then shown
/// node by node, as any other analysis shows its steps. The start solves; a program that was not solved leaves its best iterate, which is
/// shown, and the last step throws NumericalFailure with the reason and the rows that are violated most.
///
/// monitor(): `control work` [J] of controls and muscles up to the node, `momentum jump` and `impact loss` (of contacts that land: the
/// largest change of linear momentum [N s], the energy lost up to the node [J]), `cost divisor`, `impulse NAME` of a contact at the node,
/// `costs of starts`, `share solved` of them and `costs of levels` of refinement, NaN where there is no solution, `cost`, `momentum defect`
/// (largest of a node: what momentum maps change by beyond controls, weight and the ground's share), `program variables`, `program
/// constraints`, `program iterations`, `final time`, `largest turn`, `closure`, `replay difference` (replayDifference; NaN with contacts,
/// muscles, free beginnings and where the integrator fails), energies and momenta of the node, and `control NAME` (of the interval that
/// begins at the node; at the last node that of the last interval).
class OptimalControl final : public Analysis {
 public:
  OptimalControl(const Model& model, OptimalControlOptions options);
  ~OptimalControl() override;

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  const State& state() const override;
  VectorX reactions() override;
  Energy energy(const Model& model) const override;
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override;
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

  const Transcription& path() const;
  /// Whether the program was solved; if not, the path is the best iterate.
  bool hasSolution() const;
  /// Of the program in natural units: masses, lengths and the duration of the problem; the objective in its own.
  const InteriorPointReport& report() const;
  /// The objective.
  double cost() const;
  /// What the momentum maps of the whole change by at a node beyond what controls and weight apply: (force impulse, moment about the
  /// origin) along the rigid motions that the ground leaves free; largest of all nodes.
  double momentumDefect() const;

 private:
  void conclude();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
