#include "tendril/elements/mechanism.h"

#include "tendril/elements/super_helix.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <utility>

namespace tendril {

namespace {

template <class Part> const Part& byName(const std::vector<Part>& parts, const std::string& name, const char* kind) {
  for (const Part& part : parts) {
    if (part.name == name) return part;
  }
  std::string known;
  for (const Part& part : parts) known += (known.empty() ? "" : ", ") + part.name;
  throw InputError(std::string("no ") + kind + " is named '" + name + "'; there are: " + (known.empty() ? "none" : known));
}

/// Arclengths of nodes: the breaks of the curve are nodes, and the elements are shared among the pieces by their lengths.
std::vector<double> mesh(const Curve& curve, int elements, const std::string& name) {
  const std::vector<double>& breaks = curve.breaks();
  const int pieces = int(breaks.size()) - 1;
  if (elements < pieces) {
    throw InputError(name + ": needs at least " + std::to_string(pieces) + " elements, one for each leg of its shape");
  }
  std::vector<int> share(pieces, 1);
  for (int left = elements - pieces; left > 0; --left) {
    int coarsest = 0;
    for (int i = 1; i < pieces; ++i) {
      const auto size = [&](int k) { return (breaks[k + 1] - breaks[k]) / share[k]; };
      if (size(i) > size(coarsest) * (1 + 1e-12)) coarsest = i;
    }
    ++share[coarsest];
  }
  std::vector<double> s{0};
  for (int i = 0; i < pieces; ++i) {
    for (int k = 1; k <= share[i]; ++k) s.push_back(breaks[i] + (breaks[i + 1] - breaks[i]) * k / share[i]);
  }
  return s;
}

/// An element is a helix of less than half a turn. The frames of its ends alone cannot tell by how many whole turns it exceeds that.
void checkTurn(const Curve& curve, const std::vector<double>& arclength, const std::string& label, const std::string& shape) {
  constexpr double degree = std::numbers::pi / 180, largest = 170;
  const double stretch = curve.length() / arclength.back();
  double turn = 0;
  for (std::size_t i = 1; i < arclength.size(); ++i) {
    turn = std::max(turn, curve.turn(arclength[i - 1] * stretch, arclength[i] * stretch) / degree);
  }
  if (turn <= largest) return;
  const double needed = std::ceil(double(arclength.size() - 1) * turn / largest);
  char text[160];
  std::snprintf(text, sizeof text, ": the %s turns by %.6g degrees within one element, more than %g; use %.0f elements or more",
                shape.c_str(), turn, largest, needed);
  throw InputError(label + text);
}

/// Twist in the local frame of a point of a body that moves with (velocity of `origin`, angular velocity), all inertial.
Vector6 localTwist(const Pose& frame, const Vector3& origin, const Vector3& velocity, const Vector3& angular) {
  Vector6 twist;
  twist << frame.R.transpose() * (velocity + angular.cross(frame.x - origin)), frame.R.transpose() * angular;
  return twist;
}

}

const BeamPart& Mechanism::beam(const std::string& name) const { return byName(beams, name, "beam"); }
const BodyPart& Mechanism::body(const std::string& name) const { return byName(bodies, name, "body"); }

namespace {

/// What a handle refers to, while its builder still has it.
template <class Part> const Part& partOf(const std::vector<Part>& parts, int index, const char* kind) {
  if (index < int(parts.size())) return parts[std::size_t(index)];
  throw InputError(std::string("the ") + kind +
                   " of this handle is in the mechanism that was built, and the builder is empty; ask for markers before build()");
}

}

// ---- handles ---------------------------------------------------------------------------------------------------------------------------

const BeamPart& MechanismBuilder::BeamHandle::part() const { return partOf(builder_->beams_, index_, "beam"); }

const Marker& MechanismBuilder::BeamHandle::end(const Pose& offset) const { return node(part().elements(), offset); }

const Marker& MechanismBuilder::BeamHandle::node(int i, const Pose& offset, const std::string& name) const {
  if (i < 0 || i > part().elements()) {
    throw InputError("beam '" + part().name + "' has nodes 0 to " + std::to_string(part().elements()) + ", not " + std::to_string(i));
  }
  return builder_->model_.bodyMarker(name, part().nodes[i], offset);
}

const Marker& MechanismBuilder::BeamHandle::at(double s, const Pose& offset, const std::string& name) const {
  const BeamPart& p = part();
  const double slack = 1e-9 * p.length();
  if (!(s >= -slack && s <= p.length() + slack)) {
    throw InputError("beam '" + p.name + "' has arclengths 0 to " + std::to_string(p.length()) + " m, not " + std::to_string(s));
  }
  const auto after = std::upper_bound(p.arclength.begin(), p.arclength.end() - 1, s);
  const int i = int(std::max<std::ptrdiff_t>(after - p.arclength.begin(), 1)) - 1;
  if (std::abs(s - p.arclength[i]) <= slack) return node(i, offset, name);
  if (std::abs(s - p.arclength[i + 1]) <= slack) return node(i + 1, offset, name);
  const double xi = (s - p.arclength[i]) / (p.arclength[i + 1] - p.arclength[i]);
  return builder_->model_.segmentMarker(name, p.nodes[i], p.nodes[i + 1], xi, offset);
}

const Marker& MechanismBuilder::BodyHandle::at(const Pose& offset, const std::string& name) const {
  return builder_->model_.bodyMarker(name, block(), offset);
}

int MechanismBuilder::BodyHandle::block() const { return partOf(builder_->bodies_, index_, "body").block; }

// ---- parts -----------------------------------------------------------------------------------------------------------------------------

void MechanismBuilder::claim(const std::string& name) {
  if (name.empty()) throw InputError("every beam and body needs a name");
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
    throw InputError("two parts are named '" + name + "'; give each a name of its own");
  }
  names_.push_back(name);
}

MechanismBuilder::BeamHandle MechanismBuilder::beam(const std::string& name, const Curve& reference, const SectionProperties& section,
                                                    const BeamOptions& options) {
  claim(name);
  const std::string label = "beam '" + name + "'";
  section.check(label);
  BeamPart part;
  part.name = name;
  part.arclength = mesh(reference, options.elements, label);
  part.section = section;
  part.interpolation = options.interpolation;
  checkTurn(reference, part.arclength, label, "reference shape");
  if (options.initial) checkTurn(*options.initial, part.arclength, label, "initial shape");

  Beams& beams = model_.term<Beams>();
  const int number = beams.addSection(section);
  part.firstElement = beams.elements();
  const Curve& initial = options.initial ? *options.initial : reference;
  const double stretch = initial.length() / reference.length();
  const Vector3 origin = initial.frame(0).x;
  Pose before;
  for (int i = 0; i <= options.elements; ++i) {
    const Pose natural = reference.frame(part.arclength[i]);
    const Pose pose = initial.frame(part.arclength[i] * stretch);
    part.nodes.push_back(model_.addPose(label, i, pose, localTwist(pose, origin, options.velocity, options.angularVelocity)));
    if (i > 0) {
      const double length = part.arclength[i] - part.arclength[i - 1];
      beams.addElement(label, part.nodes[i - 1], part.nodes[i], length, se3::log(before.relative(natural)), number, options.model);
    }
    before = natural;
  }
  beams_.push_back(std::move(part));
  return {*this, int(beams_.size()) - 1};
}

MechanismBuilder::BeamHandle MechanismBuilder::rod(const std::string& name, const SectionProperties& section, const RodOptions& options) {
  claim(name);
  const std::string label = "rod '" + name + "'";
  if (options.elements < 1) throw InputError(label + ": it needs one element at least, not " + std::to_string(options.elements));
  if (!(options.length > 0 && std::isfinite(options.length))) throw InputError(label + ": its length must be positive and finite");
  BeamPart part;
  part.name = name, part.section = section;
  const double h = options.length / options.elements;
  const auto strains = [&](const std::function<Vector3(double)>& of, int element) -> Vector3 {
    return of ? of((element + 0.5) * h) : Vector3::Zero();
  };
  SuperHelix rod{.name = label,
                 .begin = -1,
                 .strains = {},
                 .lengths = std::vector<double>(std::size_t(options.elements), h),
                 .natural = {},
                 .section = section};
  rod.begin =
      model_.addPose(label, 0, options.begin, localTwist(options.begin, options.begin.x, options.velocity, options.angularVelocity));
  part.nodes.push_back(rod.begin), part.arclength.push_back(0);
  for (int i = 0; i < options.elements; ++i) {
    rod.natural.push_back(strains(options.natural, i));
    const Vector3 initial = options.initial ? strains(options.initial, i) : rod.natural.back();
    rod.strains.push_back(model_.addVector(label + ", strains of element " + std::to_string(i), initial, Vector3::Zero()));
    part.nodes.push_back(attachFrame(model_, label, i + 1, std::make_unique<HelixFrame>(model_, part.nodes.back(), rod.strains.back(), h)));
    part.arclength.push_back((i + 1) * h);
  }
  part.rod = model_.term<SuperHelices>().add(std::move(rod));
  beams_.push_back(std::move(part));
  return {*this, int(beams_.size()) - 1};
}

MechanismBuilder::BodyHandle MechanismBuilder::body(const std::string& name, const MassProperties& mass, const Pose& pose,
                                                    const Vector3& velocity, const Vector3& angularVelocity, std::vector<Shape> shapes) {
  claim(name);
  const int block = addRigidBody(model_, name, mass, pose, localTwist(pose, pose.x, velocity, angularVelocity));
  bodies_.push_back({name, block, mass, std::move(shapes)});
  return {*this, int(bodies_.size()) - 1};
}

MechanismBuilder::BeamHandle MechanismBuilder::beam(const std::string& name) {
  return {*this, int(&byName(beams_, name, "beam") - beams_.data())};
}

MechanismBuilder::BodyHandle MechanismBuilder::body(const std::string& name) {
  return {*this, int(&byName(bodies_, name, "body") - bodies_.data())};
}

// ---- joints and loads ------------------------------------------------------------------------------------------------------------------

void MechanismBuilder::joint(JointKind kind, const std::string& name, const Marker& first, const Marker& second,
                             JointParameters parameters) {
  model_.term<Joints>().add(kind, name, first, second, std::move(parameters));
}

void MechanismBuilder::clamp(const std::string& name, const Marker& marker) {
  joint(JointKind::Fixed, name, ground(marker.frame(model_.state())), marker);
}

void MechanismBuilder::force(const std::string& name, const Marker& marker, const Vector3& force, LoadDirection direction,
                             TimeFunction factor) {
  model_.term<Loads>().add(name, marker, direction, force, Vector3::Zero(), std::move(factor));
}

void MechanismBuilder::moment(const std::string& name, const Marker& marker, const Vector3& moment, LoadDirection direction,
                              TimeFunction factor) {
  model_.term<Loads>().add(name, marker, direction, Vector3::Zero(), moment, std::move(factor));
}

void MechanismBuilder::distributed(const BeamHandle& beam, const Vector6& perLength, LoadDirection direction, const TimeFunction& factor) {
  const BeamPart& part = beam.part();
  std::vector<std::array<int, 2>> segments;
  std::vector<double> lengths;
  for (int i = 0; i < part.elements(); ++i) {
    segments.push_back({part.nodes[i], part.nodes[i + 1]});
    lengths.push_back(part.arclength[i + 1] - part.arclength[i]);
  }
  model_.term<DistributedLoads>().add(segments, lengths, perLength, direction == LoadDirection::Follower, factor);
}

Mechanism MechanismBuilder::build() {
  Mechanism mechanism;
  mechanism.model = model_.build();
  mechanism.beams = std::exchange(beams_, {});
  mechanism.bodies = std::exchange(bodies_, {});
  names_.clear();
  return mechanism;
}

}
