#include "scenes/contact_outputs.h"

#include "tendril/contact/contact_model.h"
#include "tendril/contact/curve_gap.h"
#include "tendril/model/marker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tendril {

using Kind = ContactQuantity::Kind;

const ContactQuantityInfo& infoOf(Kind kind) {
  static const std::array<ContactQuantityInfo, 21> infos{
      {{3, "N", "force of the contacts, mean over the step", "inertial"},
       {3, "N m", "moment of rolling and pivoting friction, mean over the step", "inertial"},
       {1, "m", "smallest distance; negative: overlap", ""},
       {1, "N", "sum of the normal forces, mean over the step", ""},
       {3, "N s", "sum of the impulses of the contacts: normal, first and second tangent", "contact"},
       {1, "1", "0 open, 1 sticking, 2 sliding", ""},
       {1, "m/s", "largest relative velocity along the surfaces of a closed contact", ""},
       {1, "m", "largest slip of a closed contact in the step", ""},
       {1, "m", "largest distance or overlap of the closed contacts", ""},
       {1, "N", "sum of the tangential forces, mean over the step", ""},
       {1, "N/m", "normal force per reference length of the beam", ""},
       {1, "N/m", "largest normal force per reference length", ""},
       {2, "m", "first and last arclength of the beam at which there is contact force", ""},
       {1, "m", "arclength of the beam at which the contact force per length is largest", ""},
       {1, "1", "number of closed contacts", ""},
       {1, "m", "largest overlap", ""},
       {1, "1", "residual of the contact problem, relative to the velocities without contact", ""},
       {1, "1", "sweeps of Gauss-Seidel in the step", ""},
       {1, "1", "Newton steps of the contact solver in the step", ""},
       {1, "J", "energy that the contacts have taken since the start", ""},
       {1, "s", "time that the computer spent on the step", ""}}};
  return infos[std::size_t(kind)];
}

namespace {

/// 1 if the contact is one of the first part with the second (negative: with any), -1 if it is the other way round, else 0.
int sideOf(const ContactQuantity& quantity, const ContactRecord& contact) {
  const auto matches = [&](int a, int b) {
    return (quantity.first < 0 || quantity.first == a) && (quantity.second < 0 || quantity.second == b);
  };
  return matches(contact.first, contact.second) ? 1 : matches(contact.second, contact.first) ? -1 : 0;
}

void add(const ContactQuantity& quantity, const ContactRecord& contact, int side, double step, double* values) {
  Eigen::Map<Vector3> vector(values);
  const bool isClosed = contact.status != ContactStatus::Open;
  switch (quantity.kind) {
  case Kind::Force:
    vector += side / step * (contact.frame * contact.impulse);
    break;
  case Kind::Moment:
    vector += side / step * (contact.frame * contact.moment);
    break;
  case Kind::NormalForce:
    values[0] += contact.impulse[0] / step;
    break;
  case Kind::Impulse:
    vector += contact.impulse;
    break;
  case Kind::Status:
    values[0] = std::max(values[0], double(contact.status));
    break;
  case Kind::SlipVelocity:
    if (isClosed) values[0] = std::max(values[0], contact.velocity.tail<2>().norm());
    break;
  case Kind::Slip:
    if (isClosed) values[0] = std::max(values[0], step * contact.velocity.tail<2>().norm());
    break;
  case Kind::GapError:
    if (isClosed) values[0] = std::max(values[0], std::abs(contact.gap));
    break;
  case Kind::TangentialForce:
    values[0] += contact.impulse.tail<2>().norm() / step;
    break;
  case Kind::PeakLineLoad:
    if (contact.length > 0) values[0] = std::max(values[0], contact.impulse[0] / (step * contact.length));
    break;
  default: // Count
    values[0] += isClosed;
    break;
  }
}

double ofStep(Kind kind, const ContactReport& report) {
  switch (kind) {
  case Kind::Penetration:
    return report.penetration;
  case Kind::Residual:
    return report.residual;
  case Kind::Sweeps:
    return double(report.sweeps);
  case Kind::NewtonSteps:
    return double(report.newtonSteps);
  default:
    return report.seconds;
  }
}

}

namespace {

/// Linear between the points, zero beyond them.
double interpolated(const std::vector<std::pair<double, double>>& profile, double at) {
  const auto after = std::lower_bound(profile.begin(), profile.end(), std::pair(at, -std::numeric_limits<double>::infinity()));
  if (after == profile.end()) return 0;
  if (after->first == at) return after->second;
  if (after == profile.begin()) return 0;
  const auto before = std::prev(after);
  return before->second + (after->second - before->second) * (at - before->first) / (after->first - before->first);
}

}

ContactObserver::ContactObserver(const Model& model, const ContactModel* contacts) : model_(contacts) {
  if (!contacts) return;
  for (const ContactModel::Part& part : contacts->parts()) {
    curves_.push_back(part.curve ? CurveConfiguration(model, *part.curve) : CurveConfiguration());
  }
}

void ContactObserver::observe(const ContactReport* report) {
  report_ = report;
  if (!report) return;
  dissipation += report->dissipation;
  work += report->work;
  projection += report->projection;
}

void ContactObserver::evaluate(const ContactQuantity& quantity, const State& state, double* values) {
  std::fill_n(values, infoOf(quantity.kind).columns, 0.);
  if (quantity.kind == Kind::Gap)
    values[0] = gap(quantity, state);
  else if (quantity.kind == Kind::Dissipation)
    values[0] = dissipation;
  else if (!report_)
    return;
  else if (!quantity.isOfPair())
    values[0] = ofStep(quantity.kind, *report_);
  else {
    if (quantity.isAlongBeam()) return alongBeam(quantity, values);
    for (const ContactRecord& contact : report_->contacts) {
      if (const int side = sideOf(quantity, contact)) add(quantity, contact, side, report_->step, values);
    }
  }
}

double ContactObserver::gap(const ContactQuantity& quantity, const State& state) {
  if (quantity.second >= 0) return gapOfParts(quantity.first, quantity.second, state);
  double smallest = std::numeric_limits<double>::infinity();
  for (int other = 0; other < int(model_->parts().size()); ++other) {
    if (other != quantity.first && model_->law(quantity.first, other)) {
      smallest = std::min(smallest, gapOfParts(quantity.first, other, state));
    }
  }
  return std::isfinite(smallest) ? smallest : std::numeric_limits<double>::quiet_NaN();
}

/// What the contacts of a pair do along the first part, a beam: contacts with the same arclength (with several others) count together.
void ContactObserver::alongBeam(const ContactQuantity& quantity, double* values) {
  profile_.clear();
  for (const ContactRecord& contact : report_->contacts) {
    const int side = sideOf(quantity, contact);
    if (side == 0 || !(contact.length > 0)) continue;
    profile_.emplace_back(side > 0 ? contact.arclength : contact.otherArclength, contact.impulse[0] / (report_->step * contact.length));
  }
  std::sort(profile_.begin(), profile_.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < profile_.size(); ++i) {
    if (kept > 0 && profile_[i].first == profile_[kept - 1].first)
      profile_[kept - 1].second += profile_[i].second;
    else
      profile_[kept++] = profile_[i];
  }
  profile_.resize(kept);
  if (quantity.kind == Kind::LineLoad) {
    values[0] = interpolated(profile_, quantity.at);
    return;
  }
  const auto isLoaded = [](const auto& point) { return point.second > 0; };
  const auto first = std::find_if(profile_.begin(), profile_.end(), isLoaded);
  std::fill_n(values, infoOf(quantity.kind).columns, std::numeric_limits<double>::quiet_NaN());
  if (first == profile_.end()) return;
  if (quantity.kind == Kind::Extent) {
    values[0] = first->first;
    values[1] = std::find_if(profile_.rbegin(), profile_.rend(), isLoaded)->first;
  } else {
    values[0] = std::max_element(first, profile_.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
  }
}

/// Of two beams, of a beam and the shapes of a rigid part, or of the shapes of two.
double ContactObserver::gapOfParts(int first, int second, const State& state) {
  const ContactModel::Part &a = model_->parts()[std::size_t(first)], &b = model_->parts()[std::size_t(second)];
  if (b.curve && !a.curve) return gapOfParts(second, first, state);
  double smallest = std::numeric_limits<double>::infinity();
  if (a.curve && b.curve) {
    smallest = gapOf(curve(first, state), curve(second, state));
  } else if (a.curve) {
    for (const CollisionShape& shape : b.shapes) smallest = std::min(smallest, gapOf(curve(first, state), shape, b.marker->frame(state)));
  } else {
    for (const CollisionShape& one : a.shapes) {
      for (const CollisionShape& other : b.shapes) {
        smallest = std::min(smallest, gapOf(one, a.marker->frame(state), other, b.marker->frame(state)));
      }
    }
  }
  return std::isfinite(smallest) ? smallest : std::numeric_limits<double>::quiet_NaN();
}

const CurveConfiguration& ContactObserver::curve(int part, const State& state) {
  curves_[std::size_t(part)].set(state);
  return curves_[std::size_t(part)];
}

}
