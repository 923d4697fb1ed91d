#pragma once
#include "tendril/control/controlled_path.h"

#include <memory>
#include <string_view>

namespace tendril {

/// How an optimal control problem becomes a program.
enum class TranscriptionMethod {
  Dmocc,         ///< nodes on the constraint manifold: ControlledPath
  Multipliers,   ///< nodes and forces of constraints: MultiplierPath
  Dmoc,          ///< the coordinates of joints, midpoint discrete Lagrangian: JointPath
  CollocationQp, ///< coordinates of joints and their momenta, midpoint rule
  CollocationQv, ///< coordinates of joints and their rates, midpoint rule
};
std::string_view nameOf(TranscriptionMethod method);

/// An optimal control problem as a nonlinear program, and what its point means: all that an analysis needs to know of a method.
class Transcription {
 public:
  using Units = ControlledPath::Units;

  virtual ~Transcription() = default;
  virtual NonlinearProgram& program() = 0;
  virtual const ProgramStructure& structure() const = 0;
  /// The program as one in R^n, or null where its points are those of a manifold.
  virtual VectorProgram* vectorProgram() { return nullptr; }
  virtual Units units() const = 0;

  virtual const ControlProblem& problem() const = 0;
  int intervals() const { return problem().intervals; }
  virtual double duration() const = 0;
  double step() const { return duration() / intervals(); }
  /// Redundant coordinates of a node.
  virtual const VectorX& node(int n) const = 0;
  virtual const MatrixX& controls() const = 0;
  virtual Eigen::Ref<const VectorX> control(int interval) const { return controls().col(interval); }
  /// The momenta, covectors on the redundant coordinates, with which an interval leaves its first node and arrives at its second, by the
  /// equations of the method, controls included and forces of constraints left out. What is left of their balance at a node, along the
  /// motions that constraints allow, is what the method loses.
  virtual void momenta(int interval, VectorX& left, VectorX& right) const = 0;
  virtual VectorX unbalanced(int n) const = 0; ///< of all momenta that meet at a node
  /// Rates of the redundant coordinates with which the path leaves a node, and arrives at it.
  virtual VectorX velocity(int n) const = 0;
  virtual VectorX velocityBefore(int n) const { return velocity(n); }
  // What not every method knows: see ControlledPath.
  virtual double costUnit() const { return 1; }
  virtual VectorX contactMomentum(int n) const { return VectorX::Zero(node(n).size()); }
  virtual Vector3 impulse(int /*contact*/, int /*n*/) const { return Vector3::Zero(); }
  /// Largest angle that a body turns by in one interval [rad].
  virtual double largestTurn() const = 0;
  /// Largest distance of a node from the constraint manifold.
  virtual double closure() const = 0;
};

/// Largest angle that a body turns by in one interval [rad].
double largestTurn(const Model& model, const Transcription& path);

/// The problem by a method, at the first guess of N + 1 configurations and, unless empty, of controls. InputError for what the method
/// cannot do.
std::unique_ptr<Transcription> transcribe(TranscriptionMethod method, const DirectorSystem& system, ControlProblem problem,
                                          const std::vector<VectorX>& guess, const MatrixX& controls = {});

}
