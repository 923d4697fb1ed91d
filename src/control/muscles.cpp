#include "control/muscles.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>

namespace tendril {

/// Activation times the force-length curve exp(-(x - 1)^2 / 0.45), x = l / l0 (Thelen 2003), times the force-velocity curve
/// d1 asinh(d2 v + d3) + d4, v = l' / (l0 s) (De Groote et al. 2016), and passive elasticity exp(5 ((x - 1)/0.6 - 1)).
MusclePull pullOf(const ActuatorMuscle& m, double length, double rate, double activation) {
  constexpr double width = 0.45, stiffness = 5, strain = 0.6;
  constexpr double d1 = -0.318, d2 = -8.149, d3 = -0.374, d4 = 0.886;
  const double x = length / m.length, v = rate / (m.length * m.speed);
  const double L = std::exp(-(x - 1) * (x - 1) / width), L1 = -2 * (x - 1) / width * L, L2 = -2 / width * L - 2 * (x - 1) / width * L1;
  const double z = d2 * v + d3, root = std::sqrt(1 + z * z);
  const double V = d1 * std::asinh(z) + d4, V1 = d1 * d2 / root, V2 = -d1 * d2 * d2 * z / (root * root * root);
  const double P = std::exp(stiffness * ((x - 1) / strain - 1)), P1 = stiffness / strain * P, P2 = stiffness / strain * P1;
  const double F = m.strength, dx = 1 / m.length, dv = 1 / (m.length * m.speed), a = activation;
  return {.force = F * (a * L * V + P),
          .byLength = F * (a * L1 * V + P1) * dx,
          .byRate = F * a * L * V1 * dv,
          .byControl = F * L * V,
          .lengthLength = F * (a * L2 * V + P2) * dx * dx,
          .lengthRate = F * a * L1 * V1 * dx * dv,
          .rateRate = F * a * L * V2 * dv * dv,
          .lengthControl = F * L1 * V * dx,
          .rateControl = F * L * V1 * dv};
}

Muscles::Muscles(const DirectorSystem& system, const std::vector<Actuator>& actuators) {
  const SparseMatrix pattern = system.matrix();
  for (std::size_t control = 0; control < actuators.size(); ++control) {
    const std::string what = "actuator '" + actuators[control].name + "': ";
    for (const ActuatorMuscle& muscle : actuators[control].muscles) {
      if (!(muscle.strength > 0 && muscle.length > 0 && muscle.speed > 0))
        throw InputError(what + "strength, length and speed of a muscle are positive");
      Fibre fibre{.muscle = muscle, .control = int(control), .parts = {}, .places = {}};
      for (int side = 0; side < 2; ++side) {
        const DirectorFrame frame = (side == 0 ? muscle.from : muscle.to)->directors();
        for (int k = 0; k < frame.count; ++k)
          for (int column = 0; column < 4; ++column) {
            const double factor = frame.weights[k] * frame.offset(column, 0);
            if (factor != 0) fibre.parts.emplace_back(frame.q[k] + 3 * column, side == 0 ? -factor : factor);
          }
      }
      const DirectorFrame from = muscle.from->directors(), to = muscle.to->directors();
      if (from.count == 1 && to.count == 1 && from.blocks[0] == to.blocks[0])
        throw InputError(what + "both ends of its muscle are on one body, which it cannot move");
      if (fibre.parts.empty()) throw InputError(what + "both ends of the muscle are on the ground");
      for (const auto& [column, first] : fibre.parts)
        for (const auto& [row, second] : fibre.parts) {
          std::array<int, 9>& places = fibre.places.emplace_back();
          std::size_t place = 0;
          for (int c = 0; c < 3; ++c)
            for (int r = 0; r < 3; ++r) {
              const int* const begin = pattern.innerIndexPtr() + pattern.outerIndexPtr()[column + c];
              const int* const end = pattern.innerIndexPtr() + pattern.outerIndexPtr()[column + c + 1];
              const int* const found = std::lower_bound(begin, end, row + r);
              if (found == end || *found != row + r)
                throw InputError(what + "a muscle joins the ground and a body, or bodies that a joint or a beam joins, too");
              places[place++] = int(found - pattern.innerIndexPtr());
            }
        }
      fibres_.push_back(std::move(fibre));
    }
  }
}

Vector3 Muscles::Fibre::map(const VectorX& motion) const {
  Vector3 sum = Vector3::Zero();
  for (const auto& [i, factor] : parts) sum += factor * motion.segment<3>(i);
  return sum;
}

Vector3 Muscles::Fibre::line(const VectorX& q, double t) const {
  return muscle.to->directors().at(q, t).col(0) - muscle.from->directors().at(q, t).col(0);
}

void Muscles::Fibre::add(const Matrix3& block, SparseMatrix& K) const {
  std::size_t pair = 0;
  for (const auto& [column, first] : parts)
    for (const auto& [row, second] : parts) {
      for (int i = 0; i < 9; ++i) K.valuePtr()[places[pair][std::size_t(i)]] += first * second * block.data()[i];
      ++pair;
    }
}

Muscles::Line Muscles::lineOf(const Fibre& fibre, const VectorX& q, double t, const VectorX& rate) {
  const Vector3 d = fibre.line(q, t), e = fibre.map(rate);
  Line line;
  line.length = d.norm();
  line.u = d / line.length;
  line.rate = line.u.dot(e);
  line.p = (e - line.rate * line.u) / line.length;
  return line;
}

void Muscles::addForce(const VectorX& q, double t, const VectorX& rate, const Eigen::Ref<const VectorX>& controls, double scale,
                       VectorX& f) const {
  for (const Fibre& fibre : fibres_) {
    const Line line = lineOf(fibre, q, t, rate);
    const Vector3 pull = -scale * pullOf(fibre.muscle, line.length, line.rate, controls[fibre.control]).force * line.u;
    for (const auto& [i, factor] : fibre.parts) f.segment<3>(i) += factor * pull;
  }
}

void Muscles::addGradient(const VectorX& q, double t, const VectorX& rate, const Eigen::Ref<const VectorX>& controls, double byPlace,
                          double byRate, SparseMatrix& K) const {
  for (const Fibre& fibre : fibres_) {
    const Line line = lineOf(fibre, q, t, rate);
    const Vector3 &u = line.u, &p = line.p;
    const MusclePull F = pullOf(fibre.muscle, line.length, line.rate, controls[fibre.control]);
    const Matrix3 P = (Matrix3::Identity() - u * u.transpose()) / line.length;
    const Vector3 slope = F.byLength * u + F.byRate * p;
    fibre.add(-byPlace * (u * slope.transpose() + F.force * P) - byRate * F.byRate * (u * u.transpose()), K);
  }
}

void Muscles::columns(const VectorX& q, double t, const VectorX& rate, MatrixX& Bt) const {
  Bt.setZero();
  for (const Fibre& fibre : fibres_) {
    const Line line = lineOf(fibre, q, t, rate);
    const Vector3 pull = -pullOf(fibre.muscle, line.length, line.rate, 0).byControl * line.u;
    for (const auto& [i, factor] : fibre.parts) Bt.col(fibre.control).segment<3>(i) += factor * pull;
  }
}

/// phi = alpha . f = -F s with s = u . C alpha, sigma = ds/dd; second derivatives of l: P, of l': of s with e in the place of C alpha.
void Muscles::addCurvature(const VectorX& q, double t, const VectorX& rate, const Eigen::Ref<const VectorX>& controls, const VectorX& alpha,
                           const Weights& w, SparseMatrix& K) const {
  for (const Fibre& fibre : fibres_) {
    const Line line = lineOf(fibre, q, t, rate);
    const Vector3 &u = line.u, &p = line.p, along = fibre.map(alpha);
    const MusclePull F = pullOf(fibre.muscle, line.length, line.rate, controls[fibre.control]);
    const Matrix3 P = (Matrix3::Identity() - u * u.transpose()) / line.length;
    const double s = u.dot(along);
    const Vector3 sigma = P * along, slope = F.byLength * u + F.byRate * p;
    const auto bend = [&](double value, const Vector3& gradient) -> Matrix3 {
      return -(value * P + u * gradient.transpose() + gradient * u.transpose()) / line.length;
    };
    const Matrix3 placePlace = -(s * (F.lengthLength * u * u.transpose() + F.lengthRate * (u * p.transpose() + p * u.transpose()) +
                                      F.rateRate * p * p.transpose() + F.byLength * P + F.byRate * bend(line.rate, p)) +
                                 slope * sigma.transpose() + sigma * slope.transpose() + F.force * bend(s, sigma));
    const Matrix3 placeRate = -(s * (F.lengthRate * u * u.transpose() + F.rateRate * p * u.transpose() + F.byRate * P) +
                                F.byRate * sigma * u.transpose()); // rows by place
    const Matrix3 rateRate = -s * F.rateRate * u * u.transpose();
    fibre.add(w.pp * placePlace + w.pr * placeRate + w.rp * placeRate.transpose() + w.rr * rateRate, K);
  }
}

void Muscles::addPower(const VectorX& q, double t, const VectorX& rate, const VectorX& alpha, double byPlace, double byRate,
                       MatrixX& power) const {
  for (const Fibre& fibre : fibres_) {
    const Line line = lineOf(fibre, q, t, rate);
    const Vector3 &u = line.u, along = fibre.map(alpha);
    const MusclePull F = pullOf(fibre.muscle, line.length, line.rate, 0);
    const double s = u.dot(along);
    const Vector3 sigma = (along - s * u) / line.length;
    const Vector3 place = -(s * (F.lengthControl * u + F.rateControl * line.p) + F.byControl * sigma), slope = -s * F.rateControl * u;
    for (const auto& [i, factor] : fibre.parts) power.col(fibre.control).segment<3>(i) += factor * (byPlace * place + byRate * slope);
  }
}

}
