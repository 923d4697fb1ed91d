#pragma once
#include "tendril/model/assembly.h"
#include "tendril/model/model.h"

#include <vector>

namespace tendril {

/// Free motion of a model, of which some pose blocks have an inertia of their own: rigid bodies. Their centres of mass move on straight
/// lines, and Euler's equation is integrated by the midpoint rule,
///
///     J (w' - w) = h J(w + w')/2 x (w + w')/2,
///
/// which keeps the energy and the length of the angular momentum to round-off (both are quadratic). A step in the local frame would lose
/// both: there even the velocity of a body that spins in free flight changes from instant to instant. All other blocks move by retraction.
class RigidFlight {
 public:
  struct Body {
    int block = 0, q = 0, v = 0;
    double mass = 0;
    Vector3 centre = Vector3::Zero();  ///< of mass, in the local frame
    Matrix3 inertia = Matrix3::Zero(); ///< about it
    bool isSpherical = false;          ///< all moments of inertia are equal: the angular velocity stays
    Matrix6 inverse = Matrix6::Zero(); ///< of the inertia about the origin of the block
  };

  /// Reads the inertia of all blocks from the mass matrix that an assembly holds (evaluated with inertia weight 1 and nothing else).
  RigidFlight(const Model& model, const Assembly& mass);

  const std::vector<Body>& bodies() const { return bodies_; }
  /// Per block of the model: whether it is such a body.
  const std::vector<char>& isBody() const { return isBody_; }
  bool ownsAll() const { return ownsAll_; }

  /// Moves positions for the time dt at the present velocities, and resolves the velocities in the frames reached.
  void move(VectorX& q, VectorX& v, double dt);
  /// Moves positions by given displacements (in the local frames), and resolves the velocities in the frames reached.
  void displace(VectorX& q, VectorX& v, const VectorX& displacement);
  /// Free rotation during h: changes the angular velocities, not the frames.
  void spin(VectorX& v, double h) const;

 private:
  static void move(const Body& body, const Vector6& twist, double dt, VectorX& q, VectorX& v);

  void retractOthers(VectorX& q, const VectorX& increment, double factor);

  const Model& model_;
  VectorX others_;
  std::vector<Body> bodies_;
  std::vector<char> isBody_;
  bool ownsAll_ = true;
};

}
