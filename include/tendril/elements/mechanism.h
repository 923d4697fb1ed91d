#pragma once
#include "tendril/elements/beams.h"
#include "tendril/elements/curve.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/loads.h"
#include "tendril/elements/rigid_bodies.h"
#include "tendril/elements/springs.h"
#include "tendril/model/model.h"
#include "tendril/model/shape.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tendril {

class MechanismBuilder;

/// A beam by name: its nodes (pose blocks), its elements (numbers in the term Beams), its reference shape. A rod of strains is one, too:
/// its first node is a pose block, the others follow its strains, and its elements are those of a rod of the term SuperHelices.
struct BeamPart {
  std::string name;
  std::vector<int> nodes;
  std::vector<double> arclength; ///< of the nodes, in the reference shape
  int firstElement = 0;
  int rod = -1; ///< number among the SuperHelices; -1: a beam
  SectionProperties section;
  BeamInterpolation interpolation = BeamInterpolation::Helicoidal; ///< whose strains measures, files and pictures show

  int elements() const { return int(nodes.size()) - 1; }
  double length() const { return arclength.back(); }
};

/// A rigid body by name.
struct BodyPart {
  std::string name;
  int block = 0;
  MassProperties mass;
  std::vector<Shape> shapes;
};

/// A model together with the names of what it was built from: what measures, files and pictures need beyond the equations.
struct Mechanism {
  std::unique_ptr<const Model> model;
  std::vector<BeamPart> beams;
  std::vector<BodyPart> bodies;

  /// By name; throws InputError that lists the known names.
  const BeamPart& beam(const std::string& name) const;
  const BodyPart& body(const std::string& name) const;
};

struct BeamOptions {
  int elements = 10;
  BeamModel model = BeamModel::SimoReissner;
  BeamInterpolation interpolation = BeamInterpolation::Helicoidal; ///< of the analysis to come: what measures show; no element changes
  /// Motion of the whole beam as a rigid body at the start: velocity of the frame of its first node's origin, angular velocity about it,
  /// both in the inertial frame.
  Vector3 velocity = Vector3::Zero();
  Vector3 angularVelocity = Vector3::Zero();
  /// Shape in which the beam starts, if it is not the unstrained one; arclengths are scaled to its length.
  std::optional<Curve> initial{};
};

struct RodOptions {
  double length = 1; ///< [m]
  int elements = 20;
  Pose begin{}; ///< its first frame, d1 along the rod
  /// Strains (torsion, curvature about d2, about d3) without load, and at the start, at an arclength; empty: straight, and as without load.
  std::function<Vector3(double)> natural{}, initial{};
  /// Motion of the whole rod as a rigid body at the start, as in BeamOptions.
  Vector3 velocity = Vector3::Zero();
  Vector3 angularVelocity = Vector3::Zero();
};

/// Builds a mechanism in the words of a scene:
///
///     MechanismBuilder b;
///     b.gravity({0, 0, -9.81});
///     const BeamHandle cable = b.beam("cable", Curve::straight({0, 0, 0}, {1, 0, 0}), rubber, {.elements = 100});
///     b.joint(JointKind::Revolute, "pin", b.ground({R, {0, 0, 0}}), cable.start());
///     const Mechanism m = b.build();
///
/// Lengths, stiffnesses and masses are checked at once; what does not fit together is refused by build(), with the names concerned.
class MechanismBuilder {
 public:
  /// Where markers on a part come from. A handle stays valid as long as its builder.
  class BeamHandle {
   public:
    /// The section frame at a node or at an arclength of the reference shape, with a constant offset.
    const Marker& start(const Pose& offset = {}) const { return node(0, offset); }
    const Marker& end(const Pose& offset = {}) const;
    const Marker& node(int i, const Pose& offset = {}, const std::string& name = "") const;
    const Marker& at(double arclength, const Pose& offset = {}, const std::string& name = "") const;
    const BeamPart& part() const;

   private:
    friend class MechanismBuilder;
    BeamHandle(MechanismBuilder& builder, int index) : builder_(&builder), index_(index) {}
    MechanismBuilder* builder_;
    int index_;
  };
  class BodyHandle {
   public:
    const Marker& at(const Pose& offset = {}, const std::string& name = "") const;
    int block() const;

   private:
    friend class MechanismBuilder;
    BodyHandle(MechanismBuilder& builder, int index) : builder_(&builder), index_(index) {}
    MechanismBuilder* builder_;
    int index_;
  };

  void gravity(const Vector3& g, TimeFunction factor = TimeFunction::constant()) { model_.setGravity({g, std::move(factor)}); }
  BeamHandle beam(const std::string& name, const Curve& reference, const SectionProperties& section, const BeamOptions& options = {});
  /// An inextensible rod whose coordinates are its strains (SuperHelices). It floats until a joint holds a frame of it; markers on it are
  /// those of a beam.
  BeamHandle rod(const std::string& name, const SectionProperties& section, const RodOptions& options);
  /// The velocity is that of the body's frame: (of its origin, angular), both in the inertial frame.
  BodyHandle body(const std::string& name, const MassProperties& mass, const Pose& pose, const Vector3& velocity = Vector3::Zero(),
                  const Vector3& angularVelocity = Vector3::Zero(), std::vector<Shape> shapes = {});

  const Marker& ground(const Pose& frame = {}, const std::string& name = "") { return model_.groundMarker(name, frame); }
  const Marker& movingGround(const Pose& frame, GroundMotion motion, const std::string& name = "") {
    return model_.movingMarker(name, frame, std::move(motion));
  }

  void joint(JointKind kind, const std::string& name, const Marker& first, const Marker& second, JointParameters parameters = {});
  /// Holds a marker where and as it is in the initial configuration.
  void clamp(const std::string& name, const Marker& marker);
  void force(const std::string& name, const Marker& marker, const Vector3& force, LoadDirection direction = LoadDirection::Dead,
             TimeFunction factor = TimeFunction::constant());
  void moment(const std::string& name, const Marker& marker, const Vector3& moment, LoadDirection direction = LoadDirection::Dead,
              TimeFunction factor = TimeFunction::constant());
  /// Force per length [N/m] and moment per length [N] along a whole beam.
  void distributed(const BeamHandle& beam, const Vector6& perLength, LoadDirection direction,
                   const TimeFunction& factor = TimeFunction::constant());

  /// The builder beneath, for springs, point masses and anything without a word of its own.
  ModelBuilder& model() { return model_; }
  const std::vector<BeamPart>& beams() const { return beams_; }
  const std::vector<BodyPart>& bodies() const { return bodies_; }
  BeamHandle beam(const std::string& name);
  BodyHandle body(const std::string& name);

  /// Freezes everything. The builder is empty afterwards.
  Mechanism build();

 private:
  void claim(const std::string& name);
  ModelBuilder model_;
  std::vector<BeamPart> beams_;
  std::vector<BodyPart> bodies_;
  std::vector<std::string> names_;
};

}
