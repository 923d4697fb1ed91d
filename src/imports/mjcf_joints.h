#pragma once
#include "imports/mjcf_settings.h"
#include "imports/solid_tree.h"

#include <string>
#include <vector>

namespace tendril::imports {

/// A joint of MJCF, places and axes at the start in the inertial frame.
struct MjcfJoint {
  enum class Kind { Hinge, Slide, Ball };
  const XmlElement* element;
  std::string name;
  Kind kind;
  Vector3 position, axis;
  double stiffness = 0, damping = 0;
  double rest = 0; ///< from the start
};

/// Gives a link the joint that its joints make together: one hinge, slide or ball; a hinge and a slide along it (cylindrical); two slides
/// and a hinge across (planar); two hinges at right angles (universal) or three at one place (spherical). Others, and those of which a
/// spring would be lost, stay a chain of joints: what is returned are the links between them, from the parent outwards.
std::vector<Link> joinBy(const std::vector<MjcfJoint>& joints, Link& link, Remarks& remarks);

}
