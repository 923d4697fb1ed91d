#include "tendril/contact/line_contacts.h"

#include "contact/line_records.h"
#include "contact/line_samples.h"
#include "tendril/model/error.h"
#include "tendril/model/marker.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace tendril {

namespace {

/// What all shares of a sample have in common.
struct SampleMotion {
  Eigen::Vector2d slip;
  Vector3 drift;
};

}

struct LineContacts::Impl {
  Impl(const Model& model, const ContactModel& contacts, const LineContactOptions& opts)
      : parts(contacts), options(opts), search(contacts), sampler(contacts, opts), records(contacts), now(model, contacts),
        before(model, contacts), rigid(contacts.parts().size()) {}

  const ContactModel& parts;
  LineContactOptions options;
  LineSearch search;
  LineSampler sampler;
  LineRecords records;
  LineGeometry now, before; ///< last evaluated, and at the begin of the step
  std::vector<MarkerKinematics> rigid;
  VectorX qBegin, qNow;
  double tNow = 0;
  bool isEvaluated = false; ///< in this step, at qNow and tNow
  double reach = 0;
  std::vector<LineCandidate> candidates;

  std::vector<ContactConstraint> constraints;
  std::vector<double> sums; ///< of the weights that make up a mean
  std::vector<Vector3> drifts;
  std::vector<GradientEntry> entries;
  std::vector<int> order; ///< shares in the order of their constraints

  void evaluate(const State& state);
  void reset();
  void layOut();
  void addMeans();
  void addMean(const LineSample& sample, const SampleMotion& motion, const SectionContact& contact, const LineShare& share);
  double radiiOf(const LineSample& sample) const;
  SectionContact contactOf(const LineSample& sample) const;
  Carrier carrierOf(int part, const CurvePlace& place) const;
  Vector3 driftOf(const LineSample& sample, const SectionContact& contact) const;
  int blocksOf(const LineSample& sample, std::array<int, 4>& blocks) const;
  void addStiffness(const LineSample& sample, const Vector3& F, Eigen::Matrix<double, 24, 24>& K);
  void addSliding(const LineSample& sample, const Matrix3& normalRate, const Vector3& F, Eigen::Matrix<double, 24, 24>& K) const;
  void append(const LineSample& sample, const Eigen::Matrix<double, 24, 24>& K, std::vector<StiffnessBlock>& blocks) const;
  Vector3 forceAt(std::size_t& share, int sample, const Eigen::Matrix3Xd& forces) const;
};

LineContacts::LineContacts(const Model& model, const ContactModel& contacts, const LineContactOptions& options)
    : impl_(std::make_unique<Impl>(model, contacts, options)) {
  if (options.points < 1) throw InputError("contact of curves: collocation needs at least one point per segment");
  if (options.gaussPoints < 1 || options.gaussPoints > 4) throw InputError("contact of curves: 1 to 4 Gauss points, please");
}

LineContacts::~LineContacts() = default;

void LineContacts::begin(const State& accepted, double reach) {
  Impl& m = *impl_;
  const auto isAt = [&accepted](const VectorX& q) { return q.size() == accepted.q.size() && q == accepted.q; };
  const bool isRepeated = isAt(m.qBegin) && !isAt(m.qNow);
  if (!isRepeated) m.records.remember(m.constraints);
  m.isEvaluated = false;
  m.records.clear();
  m.constraints.clear();
  m.reach = reach;
  m.qBegin = accepted.q;
  m.before.set(m.parts, accepted);
  m.candidates = m.search.find(m.before, reach);
}

void LineContacts::evaluate(const State& state) { impl_->evaluate(state); }

void LineContacts::Impl::evaluate(const State& state) {
  if (isEvaluated && state.t == tNow && state.q == qNow) return;
  isEvaluated = true;
  qNow = state.q;
  tNow = state.t;
  now.set(parts, state);
  for (std::size_t p = 0; p < rigid.size(); ++p) {
    if (parts.parts()[p].marker) parts.parts()[p].marker->kinematics(state, rigid[p]);
  }
  sampler.sample(now, candidates, 2 * reach);
  records.assign(now, sampler, 2 * reach, constraints);
  reset();
  layOut();
  addMeans();
  records.note(constraints);
}

void LineContacts::Impl::reset() {
  sums.assign(constraints.size(), 0);
  drifts.assign(constraints.size(), Vector3::Zero());
  entries.clear();
  for (ContactConstraint& c : constraints) {
    c.isPresent = false;
    c.entries = 0;
    c.weight = c.gap = c.arclength = c.otherArclength = 0;
    c.slip.setZero();
    c.position.setZero();
  }
}

/// Room for the gradients: the blocks that the samples of a constraint see.
void LineContacts::Impl::layOut() {
  const std::vector<LineShare>& shares = sampler.shares();
  order.clear();
  for (int i = 0; i < int(shares.size()); ++i) {
    if (shares[std::size_t(i)].constraint >= 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(shares[std::size_t(a)].constraint, a) < std::pair(shares[std::size_t(b)].constraint, b);
  });
  for (const int i : order) {
    const LineShare& share = shares[std::size_t(i)];
    const LineSample& sample = sampler.samples()[std::size_t(share.sample)];
    ContactConstraint& c = constraints[std::size_t(share.constraint)];
    if (!c.isPresent) {
      c.isPresent = true;
      c.firstEntry = int(entries.size());
      c.frame.setZero();
    }
    sums[std::size_t(share.constraint)] += share.weight;
    if (!sample.isCrossing) c.weight += share.weight;
    const auto add = [&](int block) {
      const auto begin = entries.begin() + c.firstEntry;
      if (std::any_of(begin, entries.end(), [&](const GradientEntry& e) { return e.block == block; })) return;
      entries.push_back({block, Matrix36::Zero()});
      ++c.entries;
    };
    std::array<int, 4> blocks{};
    const int count = blocksOf(sample, blocks);
    std::for_each(blocks.begin(), blocks.begin() + count, add);
  }
}

Carrier LineContacts::Impl::carrierOf(int part, const CurvePlace& place) const {
  const ContactModel::Part& p = parts.parts()[std::size_t(part)];
  if (p.curve) return now.curves[std::size_t(part)].carrier(place);
  const MarkerKinematics& k = rigid[std::size_t(part)];
  Carrier carrier;
  carrier.frame = k.frame;
  for (const int block : p.marker->blocks()) {
    carrier.block[std::size_t(carrier.count)] = block;
    carrier.J[std::size_t(carrier.count)] = k.J.middleCols<6>(6 * carrier.count);
    ++carrier.count;
  }
  return carrier;
}

/// Of two curves.
double LineContacts::Impl::radiiOf(const LineSample& sample) const {
  return parts.parts()[std::size_t(sample.first)].curve->radius + parts.parts()[std::size_t(sample.second)].curve->radius;
}

SectionContact LineContacts::Impl::contactOf(const LineSample& sample) const {
  SectionContact contact;
  contact.first = carrierOf(sample.first, sample.place);
  contact.second = carrierOf(sample.second, sample.otherPlace);
  contact.firstRadius = parts.parts()[std::size_t(sample.first)].curve->radius;
  if (const auto& second = parts.parts()[std::size_t(sample.second)].curve) {
    contact.secondRadius = second->radius;
    contact.fillCurves(sample.previousNormal);
  } else {
    contact.fillRigid(sample.nearest);
  }
  return contact;
}

/// Prescribed motion of the second part, seen in the contact frame as motion of the first relative to it.
Vector3 LineContacts::Impl::driftOf(const LineSample& sample, const SectionContact& contact) const {
  if (parts.parts()[std::size_t(sample.second)].curve) return Vector3::Zero();
  const MarkerKinematics& k = rigid[std::size_t(sample.second)];
  const Vector3 arm = k.frame.R.transpose() * (0.5 * (contact.firstPoint + contact.secondPoint) - k.frame.x);
  return -contact.R.transpose() * k.frame.R * (k.drift.head<3>() + k.drift.tail<3>().cross(arm));
}

void LineContacts::Impl::addMeans() {
  std::vector<LineSample>& samples = sampler.samples();
  const std::vector<LineShare>& shares = sampler.shares();
  for (std::size_t i = 0, s = 0; i < samples.size(); ++i) {
    const std::size_t begin = s;
    while (s < shares.size() && shares[s].sample == int(i)) ++s;
    const auto used = std::find_if(shares.begin() + std::ptrdiff_t(begin), shares.begin() + std::ptrdiff_t(s),
                                   [](const LineShare& share) { return share.constraint >= 0; });
    if (used == shares.begin() + std::ptrdiff_t(s)) continue;
    const bool isRigid = !parts.parts()[std::size_t(samples[i].second)].curve;
    const Pose oldFirst = before.curves[std::size_t(samples[i].first)].frame(samples[i].place);
    const Pose oldSecond = isRigid ? before.frames[std::size_t(samples[i].second)]
                                   : before.curves[std::size_t(samples[i].second)].frame(samples[i].otherPlace);
    // On which side the first curve lay at the begin of the step, seen from the material points that face each other now: curves whose
    // centrelines pass through one another on the way to a solution are pushed back.
    if (!isRigid) samples[i].previousNormal = sideOf(oldFirst, oldSecond, radiiOf(samples[i]));
    const SectionContact contact = contactOf(samples[i]);
    const SampleMotion motion{slipSince(contact, oldFirst, oldSecond), driftOf(samples[i], contact)};
    for (std::size_t k = begin; k < s; ++k) {
      if (shares[k].constraint >= 0) addMean(samples[i], motion, contact, shares[k]);
    }
  }
}

void LineContacts::Impl::addMean(const LineSample& sample, const SampleMotion& motion, const SectionContact& contact,
                                 const LineShare& share) {
  ContactConstraint& c = constraints[std::size_t(share.constraint)];
  const double phi = share.weight / sums[std::size_t(share.constraint)];
  c.gap += phi * (contact.gap + sample.allowance);
  c.slip += phi * motion.slip;
  c.position += 0.5 * phi * (contact.firstPoint + contact.secondPoint);
  c.frame += phi * contact.R;
  c.arclength += phi * sample.arclength;
  c.otherArclength += phi * sample.otherArclength;
  drifts[std::size_t(share.constraint)] += phi * motion.drift;
  const auto add = [&](int block, const Matrix36& B) {
    const auto begin = entries.begin() + c.firstEntry;
    std::find_if(begin, begin + c.entries, [&](const GradientEntry& e) { return e.block == block; })->B += phi * B;
  };
  for (int k = 0; k < contact.first.count; ++k) add(contact.first.block[std::size_t(k)], contact.B[std::size_t(k)]);
  for (int k = 0; k < contact.second.count; ++k) {
    add(contact.second.block[std::size_t(k)], contact.B[std::size_t(contact.first.count) + std::size_t(k)]);
  }
}

/// Sum over the shares of a sample; `share` goes on to the shares of the next.
Vector3 LineContacts::Impl::forceAt(std::size_t& share, int sample, const Eigen::Matrix3Xd& forces) const {
  const std::vector<LineShare>& shares = sampler.shares();
  Vector3 F = Vector3::Zero();
  for (; share < shares.size() && shares[share].sample == sample; ++share) {
    const int c = shares[share].constraint;
    if (c >= 0 && c < forces.cols()) F += shares[share].weight / sums[std::size_t(c)] * forces.col(c);
  }
  return F;
}

/// Samples of the same two segments see the same blocks: their matrices are added up before they are handed out.
void LineContacts::stiffness(const Eigen::Matrix3Xd& forces, std::vector<StiffnessBlock>& blocks) const {
  Impl& m = *impl_;
  if (!m.options.consistentTangent) return;
  const std::vector<LineSample>& samples = m.sampler.samples();
  Eigen::Matrix<double, 24, 24> K;
  const LineSample* open = nullptr; // whose segments K belongs to
  std::size_t share = 0;
  for (int i = 0; i < int(samples.size()); ++i) {
    const LineSample& sample = samples[std::size_t(i)];
    const Vector3 F = m.forceAt(share, i, forces);
    if (F.isZero(0)) continue;
    if (open && !open->seesBlocksOf(sample)) {
      m.append(*open, K, blocks);
      open = nullptr;
    }
    if (!open) {
      open = &sample;
      K.setZero();
    }
    m.addStiffness(sample, F, K);
  }
  if (open) m.append(*open, K, blocks);
}

void LineContacts::Impl::addStiffness(const LineSample& sample, const Vector3& F, Eigen::Matrix<double, 24, 24>& K) {
  const CurveConfiguration& first = now.curves[std::size_t(sample.first)];
  const bool isCurve = parts.parts()[std::size_t(sample.second)].curve.has_value();
  const CurveConfiguration* second = isCurve ? &now.curves[std::size_t(sample.second)] : nullptr;
  const Projection projection = sample.isCrossing ? Projection::ClosestPoint : options.projection;
  SectionContact contact = contactOf(sample);
  // With friction the slip of a place that slides along the curve belongs to other material: its derivative is not known, and half of the
  // matrix is worse than none.
  const bool slidesFreely = isCurve || F.tail<2>().isZero(0);
  if (!isCurve && slidesFreely) contact.normalRate = sampler.normalRate(sample);
  K += contactStiffness(contact, F, &first, sample.place, second, sample.otherPlace, projection);
  if (sample.isCrossing && slidesFreely) addSliding(sample, contact.normalRate, F, K);
}

/// A crossing moves along the first curve, too: from D' = 0 follows d xi = - (B_n' dq) / D'', D'' and B' the derivatives along xi while the
/// other place follows, or the normal of the rigid part turns. B' is a central difference, whose error is that of the square of its width.
void LineContacts::Impl::addSliding(const LineSample& sample, const Matrix3& normalRate, const Vector3& F,
                                    Eigen::Matrix<double, 24, 24>& K) const {
  const CurveConfiguration& first = now.curves[std::size_t(sample.first)];
  const bool isCurve = parts.parts()[std::size_t(sample.second)].curve.has_value();
  if (std::abs(sample.place.xi - 0.5) == 0.5 || (isCurve && std::abs(sample.otherPlace.xi - 0.5) == 0.5)) return; // at a node
  const Pose C = first.frame(sample.place);
  const Vector6& d = first.relative(sample.place.segment);
  const Vector3 along = C.R * d.head<3>(), bend = C.R * d.tail<3>().cross(d.head<3>());
  const double width = 1e-4 * first.curve().radius / along.norm();
  const double curvature = isCurve ? sample.curvature : along.dot(normalRate * along) + sample.normal.dot(bend);
  if (!(curvature > 0)) return;
  Eigen::Matrix<double, 24, 1> normal = Eigen::Matrix<double, 24, 1>::Zero(), force = normal;
  for (const double sign : {1.0, -1.0}) {
    LineSample beside = sample;
    beside.place.xi += sign * width;
    if (isCurve) {
      beside.otherPlace.xi += sign * width * sample.follow;
    } else {
      ContactPoint& nearest = beside.nearest;
      const Vector3 arm = nearest.position - C.x;
      nearest.normal = (sample.normal + sign * width * normalRate * along).normalized();
      nearest.position = first.frame(beside.place).x + sample.normal.dot(arm) * nearest.normal;
    }
    const SectionContact contact = contactOf(beside);
    for (int k = 0; k < 4; ++k) {
      normal.segment<6>(6 * k) += sign / (2 * width) * contact.B[std::size_t(k)].row(0).transpose();
      force.segment<6>(6 * k) += sign / (2 * width) * contact.B[std::size_t(k)].transpose() * F;
    }
  }
  K += force * normal.transpose() / curvature;
}

void LineContacts::Impl::append(const LineSample& sample, const Eigen::Matrix<double, 24, 24>& K,
                                std::vector<StiffnessBlock>& blocks) const {
  std::array<int, 4> block{};
  const int count = blocksOf(sample, block);
  for (int r = 0; r < count; ++r) {
    for (int c = 0; c < count; ++c) blocks.push_back({block[std::size_t(r)], block[std::size_t(c)], K.block<6, 6>(6 * r, 6 * c)});
  }
}

/// Of the first curve's segment, then of the other's or of the rigid part.
int LineContacts::Impl::blocksOf(const LineSample& sample, std::array<int, 4>& blocks) const {
  int count = 0;
  for (const int block : parts.parts()[std::size_t(sample.first)].curve->segments[std::size_t(sample.place.segment)].blocks) {
    blocks[std::size_t(count++)] = block;
  }
  const ContactModel::Part& second = parts.parts()[std::size_t(sample.second)];
  if (second.curve) {
    for (const int block : second.curve->segments[std::size_t(sample.otherPlace.segment)].blocks) blocks[std::size_t(count++)] = block;
  } else {
    for (const int block : second.marker->blocks()) blocks[std::size_t(count++)] = block;
  }
  return count;
}

std::span<const ContactConstraint> LineContacts::constraints() const { return impl_->constraints; }

std::span<const GradientEntry> LineContacts::gradient(const ContactConstraint& constraint) const {
  return std::span(impl_->entries).subspan(std::size_t(constraint.firstEntry), std::size_t(constraint.entries));
}

Vector3 LineContacts::drift(const ContactConstraint& constraint) const {
  return impl_->drifts[std::size_t(&constraint - impl_->constraints.data())];
}

double LineContacts::size() const {
  double size = std::numeric_limits<double>::infinity();
  for (const ContactModel::Part& part : impl_->parts.parts()) {
    if (part.curve) size = std::min(size, part.curve->radius);
    for (const CollisionShape& shape : part.shapes) {
      if (shape.isBounded()) size = std::min(size, shape.size());
    }
  }
  return size;
}

std::string LineContacts::describe(const ContactConstraint& constraint) const {
  const auto words = [this](int p, double arclength) {
    const ContactModel::Part& part = impl_->parts.parts()[std::size_t(p)];
    if (!part.curve) return "'" + part.name + "'";
    std::array<char, 32> place;
    std::snprintf(place.data(), place.size(), "%.4g", arclength);
    return "beam '" + part.name + "' at " + place.data() + " m";
  };
  const auto radiusOf = [this](int p) {
    const ContactModel::Part& part = impl_->parts.parts()[std::size_t(p)];
    return part.curve ? part.curve->radius : 0;
  };
  const double radii = radiusOf(constraint.first) + radiusOf(constraint.second);
  const bool coincide = radiusOf(constraint.second) > 0 && std::abs(constraint.gap + radii) <= 1e-6 * radii;
  return words(constraint.first, constraint.arclength) + " and " + words(constraint.second, constraint.otherArclength) +
         (coincide ? " (their centrelines coincide: nothing tells in which direction to part them)" : "");
}

}
