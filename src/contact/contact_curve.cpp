#include "tendril/contact/contact_curve.h"

#include "tendril/lie/se3.h"
#include "tendril/model/error.h"
#include "tendril/model/model.h"

#include <algorithm>

namespace tendril {

CurveConfiguration::CurveConfiguration(const Model& model, const ContactCurve& curve) : curve_(&curve) {
  if (curve.segments.empty()) throw InputError("a curve that touches needs a segment at least");
  const auto offset = [&](int block) {
    if (block < 0 || block >= int(model.blocks().size())) throw InputError("the curve that touches is of another model");
    return model.blocks()[block].q;
  };
  double start = 0;
  q_.push_back(offset(curve.segments.front().blocks[0]));
  for (const ContactCurve::Segment& segment : curve.segments) {
    q_.push_back(offset(segment.blocks[1]));
    starts_.push_back(start);
    start += segment.length;
  }
  nodes_.resize(q_.size());
  d_.resize(starts_.size());
  tangentInverse_.resize(starts_.size());
}

void CurveConfiguration::set(const State& state) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i] = loadPose(state.q.data() + q_[i]);
  for (std::size_t i = 0; i < d_.size(); ++i) {
    d_[i] = se3::log(nodes_[i].relative(nodes_[i + 1]));
    tangentInverse_[i] = se3::tangentInverse(d_[i]);
  }
}

Pose CurveConfiguration::frame(const CurvePlace& place) const { return nodes_[place.segment] * se3::exp(place.xi * d_[place.segment]); }

Carrier CurveConfiguration::carrier(const CurvePlace& place) const {
  const Matrix6 star = place.xi * se3::tangent(place.xi * d_[place.segment]) * tangentInverse_[place.segment];
  return {frame(place), 2, curve_->segments[place.segment].blocks, {Matrix6::Identity() - star, star}};
}

Matrix6 CurveConfiguration::jacobianRate(const CurvePlace& place) const {
  return se3::AdInverse(se3::exp(place.xi * d_[place.segment])) * tangentInverse_[place.segment];
}

Eigen::Matrix<double, 12, 12> CurveConfiguration::hessian(const CurvePlace& place, const Vector6& wrench) const {
  // J^T w = [w - T*^T w; T*^T w] depends on the configuration through d alone, delta d = -T^-1(-d) delta_A + T^-1(d) delta_B.
  const Vector6& d = d_[place.segment];
  const Matrix6& inverse = tangentInverse_[place.segment];
  Eigen::Matrix<double, 6, 12> rate;
  rate << se3::ad(d) - inverse, inverse;
  Eigen::Matrix<double, 12, 12> H;
  H.bottomRows<6>() = se3::interpolationTransposeDerivative(place.xi, d, wrench) * rate;
  H.topRows<6>() = -H.bottomRows<6>();
  return H;
}

CurvePlace CurveConfiguration::place(double arclength) const {
  const auto after = std::upper_bound(starts_.begin() + 1, starts_.end(), arclength);
  const int segment = int(after - starts_.begin()) - 1;
  return {segment, std::clamp((arclength - starts_[segment]) / curve_->segments[segment].length, 0.0, 1.0)};
}

}
