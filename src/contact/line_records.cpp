#include "contact/line_records.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <tuple>

namespace tendril {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// Cosine up to which successive normals on a rigid part are those of one contact.
constexpr double sameSide = 0.7071067811865476;
/// Least weight of a mean against the length of a segment.
constexpr double leastWeight = 1e-6;

std::uint64_t mix(std::uint64_t x) { // splitmix64
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint64_t join(int a, int b) { return (std::uint64_t(std::uint32_t(a)) << 32) | std::uint32_t(b); }

std::uint64_t keyOf(int first, int second, int node, int rank) { return mix(mix(join(first, second)) ^ join(node, rank)); }

template <class T> auto nodeOf(const T& record) { return std::tuple(record.first, record.second, record.node); }

}

void LineRecords::remember(const Constraints& constraints) {
  memory_.clear();
  for (const Record& record : records_) {
    if (constraints[std::size_t(record.constraint)].isPresent) memory_.push_back(record);
  }
  const auto order = [](const Record& r) { return std::tuple(r.first, r.second, r.node, r.rank); };
  std::sort(memory_.begin(), memory_.end(), [&](const Record& a, const Record& b) { return order(a) < order(b); });
}

void LineRecords::note(const Constraints& constraints) {
  for (Record& record : records_) {
    const ContactConstraint& c = constraints[std::size_t(record.constraint)];
    if (!c.isPresent) continue;
    record.arclength = c.arclength;
    record.otherArclength = c.otherArclength;
    record.normal = c.frame.col(0).normalized();
  }
}

void LineRecords::assign(const LineGeometry& geometry, LineSampler& sampler, double approach, Constraints& constraints) {
  geometry_ = &geometry;
  samples_ = &sampler.samples();
  shares_ = &sampler.shares();
  constraints_ = &constraints;
  for (Record& record : records_) record.isTaken = false;
  sorted_.resize(records_.size());
  std::iota(sorted_.begin(), sorted_.end(), 0);
  const auto recordOrder = [this](int i) { return std::tuple(nodeOf(records_[std::size_t(i)]), i); };
  std::sort(sorted_.begin(), sorted_.end(), [&](int a, int b) { return recordOrder(a) < recordOrder(b); });
  items_.clear();
  for (int i = 0; i < int(shares_->size()); ++i) {
    const double from = sample(i).isCrossing ? 0 : share(i).nodeArclength;
    items_.push_back({{sample(i).first, sample(i).second, share(i).node}, sample(i).arclength - from, sample(i).otherArclength, i});
  }
  std::sort(items_.begin(), items_.end());
  order_.clear();
  for (const Item& item : items_) order_.push_back(item.share);
  for (std::size_t begin = 0, end = 0; begin < items_.size(); begin = end) {
    while (end < items_.size() && items_[end].node == items_[begin].node) ++end;
    assignNode(std::span(order_).subspan(begin, end - begin), approach);
  }
  keepSupports(sampler);
}

/// A support that is no longer nearest, or has no place of its own, stays where it was seen last.
void LineRecords::keepSupports(LineSampler& sampler) {
  for (const Record& record : records_) {
    const bool isSupport = record.node == LineShare::crossing && !curve(record.second);
    if (!isSupport || record.isTaken || !sampler.addSupportAt(record.first, record.second, record.place)) continue;
    samples_->back().allowance = record.allowance;
    shares_->back().constraint = record.constraint;
  }
}

void LineRecords::assignNode(std::span<const int> shares, double approach) {
  makeGroups(shares);
  findKnown(sample(shares.front()), share(shares.front()).node);
  for (int g = 0; g < groupCount_; ++g) {
    const Group& group = groups_[std::size_t(g)];
    const double least = leastWeight * segmentLength(sample(group.shares.front()));
    if (group.nearest <= approach && group.weight > least) identify(group);
  }
}

// ---- which samples belong together -----------------------------------------------------------------------------------------------------

const ContactCurve* LineRecords::curve(int part) const {
  const auto& curve = parts_.parts()[std::size_t(part)].curve;
  return curve ? &*curve : nullptr;
}

double LineRecords::radii(const LineSample& sample) const { return curve(sample.first)->radius + curve(sample.second)->radius; }
double LineRecords::segmentLength(const LineSample& sample) const {
  return curve(sample.first)->segments[std::size_t(sample.place.segment)].length;
}
double LineRecords::otherLength(const LineSample& sample) const {
  return curve(sample.second)->segments[std::size_t(sample.otherPlace.segment)].length;
}

/// Of two arclengths on a part; on a closed curve the shorter way round.
double LineRecords::apart(int part, double a, double b) const {
  const double distance = std::abs(a - b);
  return isClosed(*curve(part)) ? std::min(distance, std::abs(totalLength(*curve(part)) - distance)) : distance;
}

void LineRecords::makeGroups(std::span<const int> shares) {
  groupCount_ = 0;
  for (const int i : shares) {
    const LineSample& s = sample(i);
    Group& group = groupOf(i);
    const double weight = group.weight + share(i).weight, part = weight > 0 ? share(i).weight / weight : 1;
    group.shares.push_back(i);
    group.nearest = group.shares.size() == 1 ? s.gap : std::min(group.nearest, s.gap);
    group.weight = weight;
    group.arclength += part * (s.arclength - group.arclength);
    group.otherArclength += part * (s.otherArclength - group.otherArclength);
    group.normal += part * (s.normal - group.normal);
  }
}

/// The group whose last share this one goes on from best, or a new one. A group has one share at each place of the first curve.
LineRecords::Group& LineRecords::groupOf(int i) {
  Group* best = nullptr;
  double least = 1;
  for (int g = 0; g < groupCount_; ++g) {
    const double m = misfit(groups_[std::size_t(g)].shares.back(), i);
    if (m < least) least = m, best = &groups_[std::size_t(g)];
  }
  if (best) return *best;
  if (std::size_t(groupCount_) == groups_.size()) groups_.emplace_back();
  Group& group = groups_[std::size_t(groupCount_++)];
  group.shares.clear();
  group.nearest = group.weight = group.arclength = group.otherArclength = 0;
  group.normal.setZero();
  return group;
}

/// Below 1 if two shares of a node may be of one inequality.
double LineRecords::misfit(int last, int next) const {
  constexpr double sameCrossing = 1e-6;
  const LineSample &a = sample(last), &b = sample(next);
  const double da = a.arclength - share(last).nodeArclength, db = b.arclength - share(next).nodeArclength;
  if (a.isCrossing) { // found twice, from both sides of a node
    double distance = apart(a.first, a.arclength, b.arclength);
    if (curve(a.second)) distance += apart(a.second, a.otherArclength, b.otherArclength);
    return distance < sameCrossing * segmentLength(a) ? 0 : never;
  }
  if (da == db) return never;
  if (!curve(a.second)) return (1 - a.normal.dot(b.normal)) / (1 - sameSide);
  const double expected = a.otherArclength + 0.5 * (a.cosine + b.cosine) * (db - da);
  return apart(a.second, b.otherArclength, expected) / std::max(std::numbers::pi * radii(a), 0.5 * segmentLength(a));
}

// ---- which inequality it was before ----------------------------------------------------------------------------------------------------

void LineRecords::findKnown(const LineSample& sample, int node) {
  const std::tuple wanted(sample.first, sample.second, node);
  known_.clear();
  remembered_.clear();
  auto known = std::lower_bound(sorted_.begin(), sorted_.end(), wanted,
                                [this](int i, const auto& value) { return nodeOf(records_[std::size_t(i)]) < value; });
  for (; known != sorted_.end() && nodeOf(records_[std::size_t(*known)]) == wanted; ++known) known_.push_back(*known);
  auto old = std::lower_bound(memory_.begin(), memory_.end(), wanted, [](const Record& r, const auto& value) { return nodeOf(r) < value; });
  for (; old != memory_.end() && nodeOf(*old) == wanted; ++old) remembered_.push_back(int(old - memory_.begin()));
}

/// Below 1 if a group may be what a record was.
double LineRecords::misfit(const Record& record, const Group& group) const {
  constexpr double widest = 0.5; // 1 - cos of 60 degrees
  const LineSample& s = sample(group.shares.front());
  if (!curve(s.second)) {
    // Where the curve lies flat the slope vanishes in many places; they are not what was seen elsewhere.
    const double reach = (s.isResolved ? 0.25 : 3) * segmentLength(s);
    const double slid = s.isCrossing ? apart(s.first, record.arclength, group.arclength) / reach : 0;
    return std::max(slid, (1 - record.normal.dot(group.normal.normalized())) / widest);
  }
  double distance = apart(s.second, record.otherArclength, group.otherArclength);
  if (s.isCrossing) distance += apart(s.first, record.arclength, group.arclength);
  return distance / (2 * (segmentLength(s) + otherLength(s)) + std::numbers::pi * radii(s));
}

int LineRecords::nearest(const std::vector<Record>& records, const std::vector<int>& known, const Group& group) const {
  int best = -1;
  double least = 1;
  for (const int i : known) {
    const Record& record = records[std::size_t(i)];
    const bool isFree = &records == &records_ ? !record.isTaken && !record.isPinned : !isRankUsed(record.rank);
    if (const double m = misfit(record, group); isFree && m < least) least = m, best = i;
  }
  return best;
}

bool LineRecords::isRankUsed(int rank) const {
  return std::any_of(known_.begin(), known_.end(), [&](int i) { return records_[std::size_t(i)].rank == rank; });
}

void LineRecords::identify(const Group& group) {
  LineSample& s = sample(group.shares.front());
  if (s.isFlat && !curve(s.second) && isCovered(s)) return;
  int found = nearest(records_, known_, group);
  if (found < 0) {
    if (s.isResolved) return;
    found = add(group, share(group.shares.front()).node);
  }
  Record& record = records_[std::size_t(found)];
  record.isTaken = true;
  record.place = s.place;
  s.allowance = record.allowance;
  // A crossing found twice counts once.
  const std::size_t counted = s.isCrossing ? 1 : group.shares.size();
  for (std::size_t k = 0; k < counted; ++k) (*shares_)[std::size_t(group.shares[k])].constraint = record.constraint;
}

/// Whether an inequality that stays at its place is near enough to speak for a support.
bool LineRecords::isCovered(const LineSample& support) const {
  const double near = segmentLength(support) / 4;
  return std::any_of(known_.begin(), known_.end(), [&](int i) {
    const Record& record = records_[std::size_t(i)];
    return record.isPinned && apart(support.first, record.arclength, support.arclength) < near;
  });
}

int LineRecords::add(const Group& group, int node) {
  const LineSample& s = sample(group.shares.front());
  Record record{s.first, s.second, node, 0, int(constraints_->size()), group.arclength, group.otherArclength, s.allowance, Vector3::Zero()};
  record.isPinned = s.isFlat && !curve(s.second);
  if (const int old = nearest(memory_, remembered_, group); old >= 0) {
    record.rank = memory_[std::size_t(old)].rank;
  } else {
    const auto isTaken = [this](int rank) {
      return isRankUsed(rank) ||
             std::any_of(remembered_.begin(), remembered_.end(), [&](int i) { return memory_[std::size_t(i)].rank == rank; });
    };
    while (isTaken(record.rank)) ++record.rank;
  }
  records_.push_back(record);
  known_.push_back(int(records_.size()) - 1);
  constraints_->push_back({.first = s.first, .second = s.second, .law = s.law, .key = keyOf(s.first, s.second, node, record.rank)});
  return known_.back();
}

}
