#include "tendril/contact/contact_detection.h"

#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace tendril {

namespace {

std::uint64_t mix(std::uint64_t x) { // splitmix64
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t pairKey(int a, int b) { return (std::uint64_t(std::uint32_t(a)) << 32) | std::uint32_t(b); }

/// Puts the points of a face into one plane. Where faces close at an angle, points half-way between them lie at different heights; a body
/// that turns to close the gaps would then have to slip at all but one of them, however little, and what sticks could not be solved for.
void level(std::vector<ContactPoint>& points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ContactPoint& face = points[0];
    if ((points[i].normal - face.normal).squaredNorm() > 1e-24) continue;
    points[i].position -= face.normal.dot(points[i].position - face.position) * face.normal;
  }
}

void inflate(Bounds& bounds, double by) {
  bounds.low.array() -= by;
  bounds.high.array() += by;
}

}

Matrix3 contactFrame(const Vector3& normal, const Vector3& planeNormal) {
  Matrix3 frame;
  frame.col(0) = normal;
  if (!planeNormal.isZero(0)) {
    frame.col(1) = normal.cross(planeNormal);
    frame.col(2) = planeNormal;
    return frame;
  }
  int least = 0;
  normal.cwiseAbs().minCoeff(&least);
  frame.col(1) = (Vector3::Unit(least) - normal[least] * normal).normalized();
  frame.col(2) = normal.cross(frame.col(1));
  return frame;
}

ContactDetection::ContactDetection(const ContactModel& model) : model_(model) {
  smallestSize_ = std::numeric_limits<double>::infinity();
  for (int p = 0; p < int(model.parts().size()); ++p) {
    const ContactModel::Part& part = model.parts()[p];
    double radius = 0;
    for (int s = 0; s < int(part.shapes.size()); ++s) {
      const CollisionShape& shape = part.shapes[s];
      shapes_.push_back({p, s});
      if (!shape.isBounded()) continue;
      const Bounds b = shape.bounds(Pose{});
      radius = std::max(radius, b.low.cwiseAbs().cwiseMax(b.high.cwiseAbs()).norm());
      smallestSize_ = std::min(smallestSize_, shape.size());
    }
    radius_.push_back(radius);
    moves_.push_back(part.curve || !part.marker->blocks().empty());
  }
  if (!std::isfinite(smallestSize_)) smallestSize_ = 1;
  classifyParts();
  refuseImpossiblePairs();
  bounds_.resize(shapes_.size());
  poses_.resize(model.parts().size());
}

void ContactDetection::classifyParts() {
  std::map<std::pair<std::string, std::string>, int> classes;
  for (const ContactModel::Part& part : model_.parts()) {
    const std::pair word{model_.isNamed(part.name) ? part.name : std::string(), part.surface};
    classOf_.push_back(classes.try_emplace(word, int(classes.size())).first->second);
  }
  classes_ = int(classes.size());
  laws_.resize(std::size_t(classes_) * std::size_t(classes_));
}

/// One representative for each class of parts and kind of shape stands for all of them.
void ContactDetection::refuseImpossiblePairs() {
  std::map<std::tuple<int, bool, Shape::Kind, bool>, std::vector<ShapeOf>> kinds; // the first two of each are enough
  for (const ShapeOf& s : shapes_) {
    const Shape& shape = model_.parts()[s.part].shapes[s.shape].shape();
    std::vector<ShapeOf>& members = kinds[{classOf_[s.part], moves(s.part), shape.kind, shape.hollow}];
    if (members.size() < 2 && (members.empty() || members.front().part != s.part)) members.push_back(s);
  }
  for (const auto& [kindA, membersA] : kinds) {
    for (const auto& [kindB, membersB] : kinds) {
      const ShapeOf &a = membersA.front(), &b = &membersA == &membersB ? membersB.back() : membersB.front();
      if (a.part == b.part || !(moves_[a.part] || moves_[b.part]) || !law(a.part, b.part)) continue;
      const ContactModel::Part &first = model_.parts()[a.part], &second = model_.parts()[b.part];
      if (canTouch(first.shapes[a.shape], second.shapes[b.shape])) continue;
      throw InputError("contact of '" + first.name + "' and '" + second.name +
                       "': no contacts are found between shapes of these kinds (mesh on mesh, hollow on hollow, plane shape on solid); " +
                       "use convex meshes or other shapes, or exclude the pair");
    }
  }
}

void ContactDetection::refuseTiltedPlanes(const State& state) {
  constexpr double upright = 1e-9;
  const ShapeOf* reference = nullptr;
  const auto axis = [&](const ShapeOf& s) {
    const ContactModel::Part& part = model_.parts()[s.part];
    return Vector3((part.marker->frame(state).R * part.shapes[s.shape].shape().pose.R).col(2));
  };
  for (const ShapeOf& s : shapes_) {
    if (!model_.parts()[s.part].shapes[s.shape].shape().isPlane()) continue;
    if (!reference) reference = &s;
    if (axis(s).cross(axis(*reference)).norm() <= upright) continue;
    throw InputError("the plane shapes of '" + model_.parts()[reference->part].name + "' and '" + model_.parts()[s.part].name +
                     "' lie in planes that are not parallel; plane shapes all lie in one plane: turn one of them");
  }
  for (const ShapeOf& s : shapes_) {
    if (!reference || model_.parts()[s.part].shapes[s.shape].shape().kind != Shape::Kind::HalfSpace) continue;
    if (!law(reference->part, s.part) || std::abs(axis(s).dot(axis(*reference))) <= upright) continue;
    throw InputError("the surface of '" + model_.parts()[s.part].name + "' is not upright on the plane of '" +
                     model_.parts()[reference->part].name + "'; give it a normal that lies in the plane of the plane shapes");
  }
}

const ContactLaw* ContactDetection::law(int first, int second) {
  Lookup& entry = laws_[std::size_t(classOf_[first]) * std::size_t(classes_) + std::size_t(classOf_[second])];
  if (!entry.isKnown) entry = {true, model_.law(first, second)};
  return entry.law;
}

void ContactDetection::takePoses(const State& state) {
  for (std::size_t p = 0; p < poses_.size(); ++p) {
    if (const Marker* marker = model_.parts()[p].marker) poses_[p] = marker->frame(state);
  }
}

void ContactDetection::findPairs(const State& state, std::span<const double> reach) {
  takePoses(state);
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const auto [part, shape] = shapes_[i];
    bounds_[i] = model_.parts()[part].shapes[shape].bounds(poses_[part]);
    inflate(bounds_[i], reach[part]);
  }
  candidates_.clear();
  for (const auto& [a, b] : broadPhase_.find(bounds_)) {
    const int p = shapes_[a].part, q = shapes_[b].part;
    if (p == q || !(moves_[p] || moves_[q])) continue;
    const Marker &first = *model_.parts()[p].marker, &second = *model_.parts()[q].marker;
    const bool isSameBlock = first.blocks().size() == 1 && second.blocks().size() == 1 && first.blocks()[0] == second.blocks()[0];
    if (isSameBlock) continue;
    // The part that moves comes first, so that the impulse given is the one on it.
    if (const ContactLaw* found = law(p, q)) candidates_.push_back(moves_[p] ? Candidate{a, b, found} : Candidate{b, a, found});
  }
}

const std::vector<Contact>& ContactDetection::findContacts(const State& state, double margin, std::span<const double> reach) {
  takePoses(state);
  contacts_.clear();
  for (const Candidate& candidate : candidates_) {
    const auto [p, i] = shapes_[candidate.first];
    const auto [q, j] = shapes_[candidate.second];
    points_.clear();
    const double within = reach.empty() ? margin : margin + reach[p] + reach[q];
    tendril::findContacts(model_.parts()[p].shapes[i], poses_[p], model_.parts()[q].shapes[j], poses_[q], within, points_);
    level(points_);
    const std::uint64_t pair = mix(pairKey(candidate.first, candidate.second));
    for (const ContactPoint& point : points_) {
      contacts_.push_back({p, q, candidate.law, point, contactFrame(point.normal, point.planeNormal), mix(pair ^ point.feature)});
    }
  }
  return contacts_;
}

void ContactDetection::rows(const Contact& contact, const State& state, ContactRows& rows) {
  rows.count = 0;
  rows.drift.setZero();
  for (const auto& [part, sign] : {std::pair{contact.first, 1.0}, std::pair{contact.second, -1.0}}) {
    const Marker& marker = *model_.parts()[part].marker;
    marker.kinematics(state, kinematics_);
    const Matrix3 axes = sign * contact.frame.transpose() * kinematics_.frame.R;
    const Vector3 arm = kinematics_.frame.R.transpose() * (contact.point.position - kinematics_.frame.x);
    Matrix6 toContact;
    toContact << axes, -axes * so3::hat(arm), Matrix3::Zero(), axes;
    rows.drift.noalias() += toContact * kinematics_.drift;
    int column = 0;
    for (const int block : marker.blocks()) {
      int k = 0;
      while (k < rows.count && rows.block[k] != block) ++k;
      if (k == rows.count) rows.block[rows.count++] = block, rows.H[k].setZero();
      rows.H[k].noalias() += toContact * kinematics_.J.middleCols<6>(column);
      column += 6;
    }
  }
}

std::string ContactDetection::names(const Contact& contact) const {
  return "'" + model_.parts()[contact.first].name + "' and '" + model_.parts()[contact.second].name + "'";
}

}
