#pragma once
#include "tendril/model/attached_frames.h"
#include "tendril/model/model.h"
#include "tendril/model/term.h"
#include "tendril/shells/air_drag.h"
#include "tendril/shells/sheet_shape.h"

#include <memory>
#include <string>
#include <vector>

namespace tendril {

/// A developable patch in a model.
struct ShellPatch {
  std::string name; ///< what messages call it: "shell 'leaf'"
  int frame = -1;   ///< pose block of the point s = 0, free or held by joints
  int coordinates = -1;
  PatchProperties properties; ///< its natural curvatures are not looked at
  std::shared_ptr<const SheetShape> shape;
  VectorX natural; ///< coordinates without load: curvatures may vary over the sheet
  AirDrag air;
};

/// Developable patches whose coordinates are those of their shapes (SheetShape), carried by a frame H = (R, x) that may float: a material
/// point r(q) moves with the velocity y = v + w x r + J q' and the acceleration
///
///     alpha = v' + w x v + w' x r + w x (w x r) + 2 w x J q' + J q'' + J' q',
///
/// in the axes of H, and with B = [I, -S(r), J] the equations of the patch are
///
///     int B^T (rho h (alpha - R^T g) - f) dA,      and in the rows of q   int (dk/dq)^T K (k - k0 + tau k') dA,
///
/// k the curvatures, f the drag of the air. Integrals are products of Gauss-Legendre rules, as many points as the patch turns. Derivatives
/// by q, up to the third that the tangent takes, are those of Taylor polynomials: the tangent is exact. Where its coordinates are singular
/// (a flat circular cylinder, a cone at its apex) a patch refuses the configuration.
class ShellPatches final : public Term {
 public:
  int add(ShellPatch patch);
  int size() const { return int(patches_.size()); }
  const ShellPatch& patch(int i) const { return patches_[std::size_t(i)]; }

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  void addMomentum(const State& state, Momentum& momentum) const override;
  /// InputError: coordinates of sheets are no linear function of directors.
  void embed(DirectorSystem& system) const override;

 private:
  struct Place {
    int poseQ = 0, poseV = 0, q = 0, v = 0;
    int couplings[4]{}; ///< (pose, pose), (pose, q), (q, pose), (q, q)
  };
  template <int Order> void evaluate(const ShellPatch& patch, const Place& place, const State& state, Assembly& assembly) const;

  std::vector<ShellPatch> patches_;
  std::vector<Place> places_;
  const Gravity* gravity_ = nullptr;
};

/// The frame of a patch at a material point s, with an offset in it.
class SheetFrame final : public FrameField {
 public:
  SheetFrame(const ModelBuilder& builder, int frame, int coordinates, std::shared_ptr<const SheetShape> shape, const Vector2& s,
             const Pose& offset = {});

  void kinematics(const State& state, FieldKinematics& k) const override;
  void addHessian(const State& state, const Vector6& wrench, FieldHessian& H) const override;

 private:
  struct Motion;
  Motion motion(const State& state) const;

  std::shared_ptr<const SheetShape> shape_;
  Vector2 s_;
  Pose offset_;
  Matrix6 toFrame_;
};

struct ShellOptions {
  PatchProperties properties;
  std::shared_ptr<const SheetShape> shape = std::make_shared<CircularSheet>();
  VectorX natural, initial, rates; ///< coordinates without load, at the start (empty: those), and their rates (empty: none)
  Pose frame{};                    ///< of s = 0
  Vector6 twist = Vector6::Zero(); ///< its velocity at the start, in its own axes
  double thickness = 1e-3;         ///< in pictures
  AirDrag air{};
};
/// Adds a patch that floats; joints on a body marker of its frame hold it. InputError for coordinates that the shape cannot have.
ShellPart addShell(ModelBuilder& builder, const std::string& name, const ShellOptions& options);
/// A block that follows a material point, for markers: joints, loads, contacts and outputs.
int attachToShell(ModelBuilder& builder, const ShellPart& shell, const Vector2& s, const std::string& owner);

}
