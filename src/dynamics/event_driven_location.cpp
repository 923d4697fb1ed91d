#include "dynamics/event_driven_impl.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

/// Root of f, positive at `low`, by the Illinois variant of regula falsi, safeguarded by bisection. `scale` is the size of the numbers
/// that the argument is added to.
template <class Function> double findRoot(double low, double high, double atLow, double atHigh, double scale, Function&& f) {
  int side = 0;
  for (int i = 0; i < 200 && high - low > 1e-16 * std::max(scale, high); ++i) {
    double middle = i % 8 == 7 ? 0.5 * (low + high) : (low * atHigh - high * atLow) / (atHigh - atLow);
    if (!(middle > low && middle < high)) middle = 0.5 * (low + high);
    const double atMiddle = f(middle);
    if (std::abs(atMiddle) <= 1e-17) return middle;
    if (atMiddle > 0) {
      low = middle, atLow = atMiddle;
      if (side == 1) atHigh *= 0.5;
      side = 1;
    } else {
      high = middle, atHigh = atMiddle;
      if (side == -1) atLow *= 0.5;
      side = -1;
    }
    if (high - low <= 4e-16 * std::max(scale, high)) break;
  }
  return std::abs(atLow) < std::abs(atHigh) ? low : high;
}

}

std::optional<Crossing> EventDriven::Impl::findCrossing(double h) {
  findReach(h);
  const double path = (reach.empty() ? 0 : *std::max_element(reach.begin(), reach.end())) - around * size;
  const int samples = std::clamp(int(path / (0.2 * size)) + 1, 4, 1000);
  near.clear();
  std::vector<Crossing> found;
  watchGaps(0, h, 0, found);
  found.clear();
  for (int k = 1; k <= samples && found.empty(); ++k) {
    const double from = double(k - 1) / samples, theta = double(k) / samples;
    integrator->interpolate(theta, yLook);
    isLost = false;
    if (!look(t + theta * h, yLook)) return std::nullopt;
    watchClosed(theta * h, from * h, found);
    watchGaps(theta * h, h, from * h, found);
  }
  if (found.empty()) return std::nullopt;
  std::optional<Crossing> first;
  for (Crossing& crossing : found) {
    if (crossing.high > crossing.low) crossing.high = crossing.low = locate(crossing);
    if (!first || crossing.high < first->high) first = crossing;
  }
  return first;
}

void EventDriven::Impl::findReach(double h) {
  std::fill(reach.begin(), reach.end(), 0.0);
  for (const double part : {0.0, 0.5, 1.0}) {
    integrator->interpolate(part, yLook);
    motion.toState(t + part * h, yLook, work);
    for (int p = 0; p < int(reach.size()); ++p) {
      const Vector6 twist = detection.model().parts()[std::size_t(p)].marker->twist(work);
      const double speed = twist.head<3>().norm() + detection.radius(p) * twist.tail<3>().norm();
      reach[std::size_t(p)] = std::max(reach[std::size_t(p)], 1.5 * h * speed + around * size);
    }
  }
  motion.toState(t, y, work);
  detection.findPairs(work, reach);
}

double EventDriven::Impl::slipLeft(const ClosedContact& c) const {
  const Eigen::Vector2d u = c.tangential(c.velocity);
  const double along = u.dot(c.tangential(c.block.contact.frame.transpose() * c.direction));
  return c.isYoung && along >= -closed.noise ? young * speedScale - u.norm() : along;
}

void EventDriven::Impl::watchClosed(double at, double from, std::vector<Crossing>& found) {
  for (const ClosedContact& c : closed.list()) {
    const std::uint64_t key = c.block.contact.key;
    const double least = -negligibleForce * closed.forceScale;
    if (c.normalForce() < least) found.push_back({Watch::NormalForce, key, from, at});
    if (c.tangents() == 0) continue;
    if (c.mode == Mode::Stick && c.coneMargin() < least) found.push_back({Watch::Cone, key, from, at});
    if (c.mode == Mode::Slip && slipLeft(c) < -closed.noise) found.push_back({Watch::Slip, key, from, at});
  }
}

void EventDriven::Impl::watchGaps(double at, double h, double from, std::vector<Crossing>& found) {
  near.swap(nearBefore);
  near.clear();
  for (const Contact& contact : detection.findContacts(work, around * size)) {
    if (closed.find(contact)) continue;
    ContactBlock block;
    block.contact = contact;
    detection.rows(contact, work, block.rows);
    near.push_back({contact.key, contact.point.gap, block.velocity(model, work.v)[0]});
  }
  for (const Near& now : near) {
    Crossing crossing{Watch::Gap, now.key, from, at};
    if (now.gap < -noise * size) {
      found.push_back(crossing);
      continue;
    }
    const auto before = std::find_if(nearBefore.begin(), nearBefore.end(), [&](const Near& n) { return n.key == now.key; });
    if (before == nearBefore.end() || !(before->rate < 0 && now.rate > 0) || at <= from) continue;
    const double least = from + (at - from) * before->rate / (before->rate - now.rate); // of a parabola
    integrator->interpolate(least / h, yLook);
    motion.toState(t + least, yLook, work);
    for (const Contact& contact : detection.findContacts(work, around * size)) {
      crossing.high = least;
      if (contact.key == now.key && contact.point.gap < -noise * size) found.push_back(crossing);
    }
    return; // the contacts of the detection are those of another state now; the others are seen at the next time
  }
}

double EventDriven::Impl::value(const Crossing& crossing, double h) {
  isLost = false;
  integrator->step(h, yEnd);
  if (crossing.watch == Watch::Gap) {
    motion.toState(t + h, yEnd, work);
    double gap = around;
    for (const Contact& contact : detection.findContacts(work, around * size)) {
      if (contact.key == crossing.key) gap = std::min(gap, contact.point.gap / size);
    }
    return gap;
  }
  if (!look(t + h, yEnd)) return -1;
  const ClosedContact* c = closed.find(crossing.key);
  switch (crossing.watch) {
  case Watch::NormalForce:
    return c->normalForce() / closed.forceScale;
  case Watch::Cone:
    return c->coneMargin() / closed.forceScale;
  default:
    return slipLeft(*c) / speedScale;
  }
}

double EventDriven::Impl::locate(const Crossing& crossing) {
  double low = crossing.low, high = crossing.high;
  if (high <= low) return high;
  double atLow = value(crossing, low), atHigh = value(crossing, high);
  // What begins at zero may start on the wrong side of it by rounding: a time at which it is positive is looked for.
  for (int i = 0; i < 20 && atLow <= 0; ++i) low = crossing.low + std::ldexp(high - crossing.low, -i - 1), atLow = value(crossing, low);
  if (atLow <= 0) return crossing.low;
  return findRoot(low, high, atLow, atHigh, std::abs(t), [&](double h) { return value(crossing, h); });
}

}
