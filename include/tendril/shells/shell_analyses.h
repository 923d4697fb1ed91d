#pragma once
#include "tendril/equations/analysis.h"
#include "tendril/shells/patch_motion.h"
#include "tendril/shells/sheet_shape.h"

#include <vector>

namespace tendril {

/// A uniform patch on the blocks of a model that is used for nothing else: a pose block, at which s = 0 is held, and a vector block of the
/// three curvatures.
struct ShownPatch {
  PatchProperties properties;
  ShellPart part;
  Vector3 curvatures = Vector3::Zero(), rates = Vector3::Zero(); ///< at the start
  AirDrag air{};                                                 ///< in motion
};

/// What the analyses of uniform patches share. monitor(), of the first patch: `curvatures` (b11, b22, b12), `kappa`, `phi` [rad], `corner`
/// (position of the point farthest along both sides), `mass matrix` (of the curvatures over the mass per area, row by row), `height
/// integral` (of the third component of positions over the patch), `constraint` (q0 q1 - q2^2), `frequencies` of small motions about the
/// present shape if forces balance there.
class ShellAnalysis : public Analysis {
 public:
  const State& state() const override { return state_; }
  VectorX reactions() override { return state_.lambda; }
  bool monitor(std::string_view name, const Marker* on, double* values) override;

 protected:
  ShellAnalysis(const Model& model, std::vector<ShownPatch> patches, const Vector3& gravity);

  std::size_t size() const { return patches_.size(); }
  const UniformPatch& patch(std::size_t i) const { return patches_[i]; }
  const ShownPatch& shown(std::size_t i) const { return shown_[i]; }
  Matrix3 base(std::size_t i) const;
  Vector3 localGravity(std::size_t i) const { return base(i).transpose() * gravity_; }
  void show(std::size_t i, const Vector3& q, const Vector3& v);
  Vector3 curvatures(std::size_t i) const { return state_.q.segment<3>(places_[i].q); }
  Vector3 rates(std::size_t i) const { return state_.v.segment<3>(places_[i].v); }
  /// Energy of the weight of a patch, put at its held point.
  double heldWeight(std::size_t i) const;

  Vector3 gravity_;
  State state_;
  StepReport step_;

 private:
  const Model* model_;
  std::vector<ShownPatch> shown_;
  std::vector<UniformPatch> patches_;
  std::vector<Block> places_;
};

/// Shells at rest, found in one step.
class StillShells : public ShellAnalysis {
 public:
  StillShells(const Model& model, std::vector<ShownPatch> patches, const Vector3& gravity)
      : ShellAnalysis(model, std::move(patches), gravity) {}

  void start() override {}
  bool finished() const override { return step_.step > 0; }
  Energy energy(const Model& model) const override;
  double progress() const override { return double(step_.step); }
  Snapshot save() override { return {{"step", {double(step_.step)}}}; }
  void restore(const Snapshot& snapshot) override;
};

/// Shows given curvatures; nothing is solved.
class ShellShape final : public StillShells {
 public:
  using StillShells::StillShells;
  const StepReport& advance() override;
};

/// The stable equilibrium of each patch under its weight (patchEquilibrium) from its curvatures at the start, in one step.
class ShellStatics final : public StillShells {
 public:
  using StillShells::StillShells;
  const StepReport& advance() override;
};

struct ShellMotionOptions {
  PatchMotionOptions motion; ///< its frame and air are those of each patch
  double duration = 1;       ///< [s]
  /// Largest change of the energy without damping, over the energies that meet, beyond which the motion is given up.
  double alarm = 1e-3;
};

/// The motion of patches held at s = 0 (PatchMotion). The total energy is watched: where nothing takes it, a change beyond the alarm ends
/// in a NumericalFailure. monitor() knows besides: `energy drift` (largest change of the energy since the start, less the work of damping,
/// over the energies that meet), `constraint drift` (largest |q0 q1 - q2^2| so far), `flat passage` (0 none, 1 on a ray, 2 deflected).
class ShellMotion final : public ShellAnalysis {
 public:
  ShellMotion(const Model& model, std::vector<ShownPatch> patches, const ShellMotionOptions& options);

  void start() override;
  bool finished() const override { return step_.step >= steps_; }
  const StepReport& advance() override;
  Energy energy(const Model& model) const override;
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return double(step_.step) / double(steps_); }
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

 private:
  void watch();

  ShellMotionOptions options_;
  long steps_;
  std::vector<PatchMotion> motions_;
  std::vector<Energy> energies_;     ///< of the present state, about the held points
  std::vector<double> first_;        ///< total energy at the start, of each patch
  std::vector<double> work_, power_; ///< of damping, by the trapezoidal rule
  std::vector<double> meeting_;      ///< largest energy that took part
  double drift_ = 0, constraintDrift_ = 0;
};

}
