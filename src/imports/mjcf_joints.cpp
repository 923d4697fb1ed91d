#include "imports/mjcf_joints.h"

#include <Eigen/Geometry>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tendril::imports {

namespace {

constexpr double roundoff = 1e-6; // of positions and directions in a file

using Kind = MjcfJoint::Kind;

bool areParallel(const MjcfJoint& a, const MjcfJoint& b) { return a.axis.cross(b.axis).norm() < roundoff; }
bool arePerpendicular(const MjcfJoint& a, const MjcfJoint& b) { return std::abs(a.axis.dot(b.axis)) < roundoff; }
bool isAt(const MjcfJoint& a, const MjcfJoint& b) { return (a.position - b.position).norm() < roundoff * (1 + a.position.norm()); }

/// Hinges and slides apart, each in the order of the file: from the parent outwards.
struct Sorted {
  std::vector<const MjcfJoint*> hinges, slides;
  bool hasBall = false;
};

Sorted sort(const std::vector<MjcfJoint>& joints) {
  Sorted s;
  for (const MjcfJoint& j : joints) {
    s.hasBall = s.hasBall || j.kind == Kind::Ball;
    if (j.kind != Kind::Ball) (j.kind == Kind::Hinge ? s.hinges : s.slides).push_back(&j);
  }
  return s;
}

/// The joint of a scene that joints of the file make; without type if none does.
TreeJoint combine(const std::vector<MjcfJoint>& joints) {
  const MjcfJoint& first = joints.front();
  TreeJoint result{.name = first.name, .line = first.element->line(), .type = "", .position = first.position};
  const auto make = [&](const char* type, const MjcfJoint& place) {
    result.type = type, result.position = place.position, result.axis = place.axis;
  };
  const auto& [hinges, slides, hasBall] = sort(joints);
  if (hasBall) {
    if (joints.size() == 1) result.type = "spherical";
  } else if (hinges.size() == 1 && slides.empty()) {
    make("revolute", *hinges[0]);
  } else if (slides.size() == 1 && hinges.empty()) {
    make("prismatic", *slides[0]);
  } else if (hinges.size() == 1 && slides.size() == 1 && areParallel(*hinges[0], *slides[0])) {
    make("cylindrical", *hinges[0]);
  } else if (hinges.size() == 1 && slides.size() == 2 && !areParallel(*slides[0], *slides[1]) && arePerpendicular(*hinges[0], *slides[0]) &&
             arePerpendicular(*hinges[0], *slides[1])) {
    make("planar", *hinges[0]);
  } else if (hinges.size() == 2 && slides.empty() && isAt(*hinges[0], *hinges[1]) && arePerpendicular(*hinges[0], *hinges[1])) {
    make("universal", *hinges[0]);
    result.secondAxis = hinges[1]->axis;
  } else if (hinges.size() == 3 && slides.empty() && isAt(*hinges[0], *hinges[1]) && isAt(*hinges[0], *hinges[2]) &&
             std::abs(hinges[0]->axis.cross(hinges[1]->axis).dot(hinges[2]->axis)) > roundoff) {
    result.type = "spherical";
  }
  return result;
}

/// A joint that holds an axis has springs about and along it, a ball one about all axes.
bool keepsSprings(const TreeJoint& joint, const std::vector<MjcfJoint>& joints) {
  const bool hasSprings = std::any_of(joints.begin(), joints.end(), [](const MjcfJoint& j) { return j.stiffness > 0 || j.damping > 0; });
  return !hasSprings || joints.size() == 1 || joint.type == "cylindrical";
}

void give(Link& link, TreeJoint joint, const std::vector<MjcfJoint>& joints, Remarks& remarks) {
  link.joint = std::move(joint);
  for (const MjcfJoint& j : joints) {
    if (j.stiffness == 0 && j.damping == 0) continue;
    const auto kind = j.kind == Kind::Ball    ? TreeSpring::Kind::Ball
                      : j.kind == Kind::Slide ? TreeSpring::Kind::Slide
                                              : TreeSpring::Kind::Turn;
    if (kind == TreeSpring::Kind::Slide && j.stiffness > 0 && j.rest != 0)
      remarks.lose(j.element->line(), fmt::format("{}: `springref`; the spring is free at the start", j.element->label()));
    link.springs.push_back({kind, j.position, j.axis, j.stiffness, j.damping, j.rest});
  }
}

}

std::vector<Link> joinBy(const std::vector<MjcfJoint>& joints, Link& link, Remarks& remarks) {
  TreeJoint joint = combine(joints);
  const int line = joints.front().element->line();
  if (!joint.type.empty() && keepsSprings(joint, joints)) {
    if (joints.size() > 1) remarks.say(line, fmt::format("the {} joints of '{}' are one {} joint", joints.size(), link.name, joint.type));
    give(link, std::move(joint), joints, remarks);
    return {};
  }
  constexpr double share = 1e-4;
  remarks.lose(line, fmt::format("the {} joints of '{}' without mass between: a body between two of them takes {} of its mass",
                                 joints.size(), link.name, share));
  std::vector<Link> between;
  for (const MjcfJoint& j : joints) {
    const bool isLast = &j == &joints.back();
    if (!isLast) between.push_back({.name = link.name + "_" + j.name, .line = line, .pose = link.pose, .share = share});
    give(isLast ? link : between.back(), combine({j}), {j}, remarks);
  }
  return between;
}

}
