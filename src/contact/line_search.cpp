#include "contact/line_search.h"

#include "tendril/model/marker.h"

#include <algorithm>
#include <map>
#include <numbers>
#include <tuple>

namespace tendril {

LineGeometry::LineGeometry(const Model& model, const ContactModel& parts) : curves(parts.parts().size()), frames(parts.parts().size()) {
  for (std::size_t p = 0; p < curves.size(); ++p) {
    if (const auto& curve = parts.parts()[p].curve) curves[p] = CurveConfiguration(model, *curve);
  }
}

void LineGeometry::set(const ContactModel& parts, const State& state) {
  for (std::size_t p = 0; p < curves.size(); ++p) {
    if (parts.parts()[p].curve) {
      curves[p].set(state);
    } else {
      frames[p] = parts.parts()[p].marker->frame(state);
    }
  }
}

bool isClosed(const ContactCurve& curve) {
  return curve.segments.size() > 1 && curve.segments.back().blocks[1] == curve.segments.front().blocks[0];
}

int segmentAfter(const ContactCurve& curve, int segment) {
  if (segment + 1 < int(curve.segments.size())) return segment + 1;
  return isClosed(curve) ? 0 : -1;
}

int segmentBefore(const ContactCurve& curve, int segment) {
  if (segment > 0) return segment - 1;
  return isClosed(curve) ? int(curve.segments.size()) - 1 : -1;
}

double totalLength(const ContactCurve& curve) {
  double length = 0;
  for (const ContactCurve::Segment& segment : curve.segments) length += segment.length;
  return length;
}

bool facesItself(const ContactCurve& curve, double s1, double s2) {
  const double nearest = std::numbers::pi * curve.radius, apart = s2 - s1;
  return apart > nearest && (!isClosed(curve) || totalLength(curve) - apart > nearest);
}

LineSearch::LineSearch(const ContactModel& parts) : parts_(parts), meanLength_(parts.parts().size()) {
  std::map<std::pair<std::string, std::string>, int> classes;
  for (int p = 0; p < int(parts.parts().size()); ++p) {
    const ContactModel::Part& part = parts.parts()[std::size_t(p)];
    const std::pair words{parts.isNamed(part.name) ? part.name : std::string(), part.surface};
    classOf_.push_back(classes.try_emplace(words, int(classes.size())).first->second);
    const int count = part.curve ? int(part.curve->segments.size()) : int(part.shapes.size());
    for (int k = 0; k < count; ++k) items_.push_back({p, k});
    if (!part.curve) continue;
    meanLength_[std::size_t(p)] = totalLength(*part.curve) / count;
    for (const ContactCurve::Segment& segment : part.curve->segments) longest_ = std::max(longest_, segment.length);
  }
  classes_ = int(classes.size());
  laws_.resize(std::size_t(classes_) * std::size_t(classes_));
  selfLaws_.resize(parts.parts().size());
  bounds_.resize(items_.size());
}

const ContactLaw* LineSearch::law(int first, int second) {
  Lookup& entry =
      first == second
          ? selfLaws_[std::size_t(first)]
          : laws_[std::size_t(classOf_[std::size_t(first)]) * std::size_t(classes_) + std::size_t(classOf_[std::size_t(second)])];
  if (!entry.isKnown) entry = {true, parts_.law(first, second)};
  return entry.law;
}

Bounds LineSearch::bounds(const Item& item, const LineGeometry& geometry, double reach) const {
  const ContactModel::Part& part = parts_.parts()[std::size_t(item.part)];
  Bounds bounds;
  double widening = reach;
  if (part.curve) {
    const CurveConfiguration& curve = geometry.curves[std::size_t(item.part)];
    const Vector3 &a = curve.node(item.index).x, &b = curve.node(item.index + 1).x;
    const Vector6& d = curve.relative(item.index);
    bounds = {a.cwiseMin(b), a.cwiseMax(b)};
    const double sagitta = d.head<3>().norm() * d.tail<3>().norm() / 8;
    widening += sagitta + part.curve->radius + part.curve->segments[std::size_t(item.index)].length / 4;
  } else {
    bounds = part.shapes[std::size_t(item.index)].bounds(geometry.frames[std::size_t(item.part)]);
    widening += longest_;
  }
  bounds.low.array() -= widening;
  bounds.high.array() += widening;
  return bounds;
}

void LineSearch::add(Item a, Item b) {
  const auto curveOf = [this](const Item& item) -> const std::optional<ContactCurve>& {
    return parts_.parts()[std::size_t(item.part)].curve;
  };
  if (!curveOf(a) && !curveOf(b)) return;
  const ContactLaw* found = law(a.part, b.part);
  if (!found) return;
  if (curveOf(a) && curveOf(b)) {
    const auto &p = curveOf(a)->segments[std::size_t(a.index)].blocks, &q = curveOf(b)->segments[std::size_t(b.index)].blocks;
    if (p[0] == q[0] || p[0] == q[1] || p[1] == q[0] || p[1] == q[1]) return;
  }
  const auto mean = [this](const Item& item) { return meanLength_[std::size_t(item.part)]; };
  const bool isSwapped = !curveOf(a) || (curveOf(b) && mean(b) < mean(a));
  if (isSwapped) std::swap(a, b);
  candidates_.push_back({a.part, b.part, a.index, b.index, found});
}

const std::vector<LineCandidate>& LineSearch::find(const LineGeometry& geometry, double reach) {
  for (std::size_t i = 0; i < items_.size(); ++i) bounds_[i] = bounds(items_[i], geometry, reach);
  candidates_.clear();
  for (const auto& [a, b] : broadPhase_.find(bounds_)) add(items_[std::size_t(a)], items_[std::size_t(b)]);
  const auto order = [](const LineCandidate& c) { return std::tuple(c.first, c.second, c.segment, c.other); };
  std::sort(candidates_.begin(), candidates_.end(), [&](const LineCandidate& x, const LineCandidate& y) { return order(x) < order(y); });
  return candidates_;
}

}
