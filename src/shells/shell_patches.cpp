#include "tendril/shells/shell_patches.h"

#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace tendril {

namespace {

constexpr int most = 3; ///< coordinates of a shape; those that it has not move nothing
using Matrix39 = Eigen::Matrix<double, 3, 6 + most>;
using Vector9 = Eigen::Matrix<double, 6 + most, 1>;
using Matrix9 = Eigen::Matrix<double, 6 + most, 6 + most>;

template <class T> Vector3 values(const std::array<T, 3>& x) { return {valueOf(x[0]), valueOf(x[1]), valueOf(x[2])}; }
template <int Order> Vector3 first(const std::array<Taylor<Order>, 3>& x, int i) { return {x[0].first(i), x[1].first(i), x[2].first(i)}; }
template <int Order> Vector3 second(const std::array<Taylor<Order>, 3>& x, int i, int j) {
  return {x[0].second(i, j), x[1].second(i, j), x[2].second(i, j)};
}
Vector3 third(const std::array<Taylor<3>, 3>& x, int i, int j, int k) {
  return {x[0].third(i, j, k), x[1].third(i, j, k), x[2].third(i, j, k)};
}

template <int Order> Matrix3 jacobian(const std::array<Taylor<Order>, 3>& x) {
  Matrix3 J;
  for (int i = 0; i < most; ++i) J.col(i) = first(x, i);
  return J;
}
/// Columns d2x/dq_i dq_j v_j.
template <int Order> Matrix3 jacobianAlong(const std::array<Taylor<Order>, 3>& x, const Vector3& v) {
  Matrix3 J = Matrix3::Zero();
  for (int i = 0; i < most; ++i)
    for (int j = 0; j < most; ++j) J.col(i) += v[j] * second(x, i, j);
  return J;
}

/// Coordinates of a patch, or others, filled up with zeros.
Vector3 padded(const double* x, int n) {
  Vector3 q = Vector3::Zero();
  std::copy_n(x, n, q.data());
  return q;
}

template <int Order> SheetPoint<Taylor<Order>> pointOf(const SheetShape& shape, const double* q, const Vector2& s) {
  if constexpr (Order == 2)
    return shape.secondOrder(q, s);
  else
    return shape.thirdOrder(q, s);
}

/// Calls visit(area, s) at the material points of a patch.
template <class Visit> bool visitPoints(const ShellPatch& patch, const double* q, const Visit& visit) {
  return patch.shape->visitPoints(q, patch.properties.domain, std::cref(visit));
}

/// The frame of a patch and its motion.
struct Carrier {
  Matrix3 R;
  Vector3 x, v = Vector3::Zero(), w = Vector3::Zero(), vRate = Vector3::Zero(), wRate = Vector3::Zero();
  Vector3 rates = Vector3::Zero(), accelerations = Vector3::Zero(); ///< of the coordinates
  Vector3 g, gRate, wind, windRate;                                 ///< in the axes of the frame
};

/// Sums of the equations of a patch, frame first.
struct Sums {
  double total = 0; ///< mass
  Vector9 inertia = Vector9::Zero(), weight = Vector9::Zero(), drag = Vector9::Zero(), forceRate = Vector9::Zero();
  Vector3 elastic = Vector3::Zero();
  Matrix9 stiffness = Matrix9::Zero(), damping = Matrix9::Zero(), mass = Matrix9::Zero();
};

/// A material point: B, and the accelerations' derivatives.
template <int Order> struct MovingPoint {
  MovingPoint(const SheetPoint<Taylor<Order>>& p, const Carrier& c)
      : r(values(p.r)), J(jacobian(p.r)), along(jacobianAlong(p.r, c.rates)), slip(J * c.rates), turn(so3::hat(c.w)) {
    B << Matrix3::Identity(), -so3::hat(r), J;
    velocity = c.v + c.w.cross(r) + slip;
    acceleration =
        c.vRate + c.w.cross(c.v) + c.wRate.cross(r) + c.w.cross(c.w.cross(r)) + 2 * c.w.cross(slip) + J * c.accelerations + along * c.rates;
  }

  Vector3 r;
  Matrix3 J, along; ///< dr/dq, and its rate
  Vector3 slip, velocity, acceleration;
  Matrix3 turn;
  Matrix39 B;
};

template <int Order>
void addInertia(const MovingPoint<Order>& m, const SheetPoint<Taylor<Order>>& p, const Carrier& c, double mass, const Request& request,
                Sums& sums) {
  sums.total += mass;
  sums.inertia += mass * m.B.transpose() * m.acceleration;
  sums.weight -= mass * m.B.transpose() * c.g;
  sums.forceRate -= mass * m.B.transpose() * c.gRate;
  if constexpr (Order == 3) {
    Matrix39 A = Matrix39::Zero();
    A.template middleCols<3>(3) = -so3::hat(c.g);
    A.template rightCols<3>() = (so3::hat(c.wRate) + m.turn * m.turn) * m.J + 2 * m.turn * m.along + jacobianAlong(p.r, c.accelerations);
    for (int i = 0; i < most; ++i)
      for (int j = 0; j < most; ++j)
        for (int k = 0; k < most; ++k) A.col(6 + i) += c.rates[j] * c.rates[k] * third(p.r, i, j, k);
    const Vector3 alpha = m.acceleration - c.g;
    sums.stiffness += mass * m.B.transpose() * A;
    sums.stiffness.template block<3, 3>(3, 6) -= mass * so3::hat(alpha) * m.J;
    for (int i = 0; i < most; ++i)
      for (int j = 0; j < most; ++j) sums.stiffness(6 + i, 6 + j) += mass * alpha.dot(second(p.r, i, j));
  }
  if (!request.tangent || !request.motion) return;
  Matrix39 D;
  D << m.turn, -(so3::hat(c.v + c.w.cross(m.r) + 2 * m.slip) + m.turn * so3::hat(m.r)), 2 * m.turn * m.J + 2 * m.along;
  sums.damping += mass * m.B.transpose() * D;
  sums.mass += mass * m.B.transpose() * m.B;
}

/// f = -c/2 |vn| vn n dA on B, n = d1 x d2.
template <int Order>
void addDrag(const MovingPoint<Order>& m, const SheetPoint<Taylor<Order>>& p, const Carrier& c, double weight, const Request& request,
             Sums& sums) {
  const Vector3 d1 = values(p.d1), d2 = values(p.d2), n = d1.cross(d2), through = m.velocity - c.wind;
  const double speed = n.dot(through), pressure = weight * std::abs(speed) * speed, growth = 2 * weight * std::abs(speed);
  sums.drag += pressure * m.B.transpose() * n;
  sums.forceRate -= growth * n.dot(c.windRate) * m.B.transpose() * n;
  const Eigen::Matrix<double, 1, 6 + most> byVelocity = n.transpose() * m.B;
  if (request.tangent) sums.damping += growth * byVelocity.transpose() * byVelocity;
  if constexpr (Order == 3) {
    Matrix3 turned; // dn/dq
    for (int i = 0; i < most; ++i) turned.col(i) = first(p.d1, i).cross(d2) + d1.cross(first(p.d2, i));
    Eigen::Matrix<double, 1, 6 + most> bySpeed = Eigen::Matrix<double, 1, 6 + most>::Zero();
    bySpeed.template segment<3>(3) = -n.transpose() * so3::hat(c.wind);
    bySpeed.template tail<3>() = n.transpose() * (m.turn * m.J + m.along) + through.transpose() * turned;
    sums.stiffness += growth * byVelocity.transpose() * bySpeed;
    sums.stiffness.template rightCols<3>() += pressure * m.B.transpose() * turned;
    sums.stiffness.template block<3, 3>(3, 6) -= pressure * so3::hat(n) * m.J;
    for (int i = 0; i < most; ++i)
      for (int j = 0; j < most; ++j) sums.stiffness(6 + i, 6 + j) += pressure * n.dot(second(p.r, i, j));
  }
}

template <int Order>
void addElastic(const SheetPoint<Taylor<Order>>& p, const Vector3& natural, const Matrix3& K, double tau, const Vector3& rates, double area,
                const Request& request, Sums& sums) {
  const Matrix3 G = jacobian(p.k), along = jacobianAlong(p.k, rates);
  const Vector3 moment = K * (values(p.k) - natural + tau * (G * rates));
  sums.elastic += area * G.transpose() * moment;
  if (request.tangent) sums.damping.bottomRightCorner<3, 3>() += area * tau * G.transpose() * K * G;
  if constexpr (Order == 3) {
    sums.stiffness.template bottomRightCorner<3, 3>() += area * G.transpose() * K * (G + tau * along);
    for (int i = 0; i < most; ++i)
      for (int j = 0; j < most; ++j) sums.stiffness(6 + i, 6 + j) += area * moment.dot(second(p.k, i, j));
  }
}

void addBending(const SheetBending& bending, double tau, const Vector3& rates, Sums& sums) {
  const Taylor<3>& y = bending.amplitude;
  Vector3 gradient, change; // of y, and its rate
  for (int i = 0; i < most; ++i) gradient[i] = y.first(i), change[i] = Vector3(y.second(i, 0), y.second(i, 1), y.second(i, 2)).dot(rates);
  const double rate = gradient.dot(rates);
  for (int i = 0; i < most; ++i) {
    sums.elastic[i] += bending.energy.first(i) + tau * rate * gradient[i];
    for (int j = 0; j < most; ++j) {
      sums.damping(6 + i, 6 + j) += tau * gradient[i] * gradient[j];
      sums.stiffness(6 + i, 6 + j) += bending.energy.second(i, j) + tau * (rate * y.second(i, j) + gradient[i] * change[j]);
    }
  }
}

}

int ShellPatches::add(ShellPatch patch) {
  patches_.push_back(std::move(patch));
  return size() - 1;
}

void ShellPatches::declare(Layout& layout) {
  gravity_ = &layout.gravity();
  for (const ShellPatch& p : patches_) {
    const Block &pose = layout.block(p.frame), &q = layout.block(p.coordinates);
    places_.push_back({pose.q,
                       pose.v,
                       q.q,
                       q.v,
                       {layout.couple(p.frame, p.frame), layout.couple(p.frame, p.coordinates), layout.couple(p.coordinates, p.frame),
                        layout.couple(p.coordinates, p.coordinates)}});
  }
}

namespace {

Carrier carrierOf(const ShellPatch& patch, const double* pose, const Gravity& gravity, double t) {
  const Pose H = loadPose(pose);
  const Jet factor = gravity.factor(t), gusts = patch.air.gusts(t);
  Carrier c;
  c.R = H.R, c.x = H.x;
  c.g = factor.value * (H.R.transpose() * gravity.g), c.gRate = factor.rate * (H.R.transpose() * gravity.g);
  c.wind = gusts.value * (H.R.transpose() * patch.air.wind), c.windRate = gusts.rate * (H.R.transpose() * patch.air.wind);
  return c;
}

void setVelocities(Carrier& c, const State& state, int poseV, int v, int size) {
  c.v = state.v.segment<3>(poseV), c.w = state.v.segment<3>(poseV + 3);
  c.rates = padded(state.v.data() + v, size);
}

}

void ShellPatches::evaluate(const State& state, Assembly& assembly) const {
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    if (assembly.request().tangent && assembly.request().stiffness)
      evaluate<3>(patches_[i], places_[i], state, assembly);
    else
      evaluate<2>(patches_[i], places_[i], state, assembly);
  }
}

template <int Order>
void ShellPatches::evaluate(const ShellPatch& patch, const Place& place, const State& state, Assembly& assembly) const {
  const Request& request = assembly.request();
  const int n = patch.shape->size();
  const double* q = state.q.data() + place.q;
  Carrier c = carrierOf(patch, state.q.data() + place.poseQ, *gravity_, state.t);
  if (request.motion) {
    setVelocities(c, state, place.poseV, place.v, n);
    c.vRate = state.a.segment<3>(place.poseV), c.wRate = state.a.segment<3>(place.poseV + 3);
    c.accelerations = padded(state.a.data() + place.v, n);
  }
  const Matrix3 K = patch.properties.stiffness();
  const double tau = request.motion ? patch.properties.dampingTime : 0;
  Sums sums;
  if (!patch.shape->accepts(q, patch.properties.domain)) return assembly.refuse(patch.coordinates);
  const std::optional<SheetBending> bending = patch.shape->bending(q, patch.properties);
  if (bending) addBending(*bending, tau, c.rates, sums);
  const bool isIntegrated = visitPoints(patch, q, [&](double area, const Vector2& s) {
    const SheetPoint<Taylor<Order>> p = pointOf<Order>(*patch.shape, q, s);
    const MovingPoint<Order> m(p, c);
    addInertia(m, p, c, area * patch.properties.areaDensity, request, sums);
    if (patch.air.density > 0) addDrag(m, p, c, area * patch.air.density / 2, request, sums);
    if (bending) return;
    addElastic(p, values(patch.shape->at(patch.natural.data(), s).k), K, tau, c.rates, area, request, sums);
  });
  if (!isIntegrated) return assembly.refuse(patch.coordinates);

  using Coordinates = Eigen::Matrix<double, Eigen::Dynamic, 1, Eigen::ColMajor, most, 1>;
  for (const Vector9* part : {&sums.inertia, &sums.weight, &sums.drag}) { // apart: their sizes are what the balance is judged by
    assembly.addForce(patch.frame, Vector6(part->head<6>()));
    assembly.addForce(patch.coordinates, Coordinates(part->segment(6, n)));
  }
  assembly.addForce(patch.coordinates, Coordinates(sums.elastic.head(n)));
  if (request.motion) {
    const double reach = patch.properties.domain.reach();
    Vector6 inertia;
    inertia << Vector3::Constant(sums.total), Vector3::Constant(sums.total * reach * reach);
    Matrix6 M = inertia.asDiagonal();
    M(0, 4) = sums.total * reach;
    assembly.noteInertiaRoundoff(M, reach, state.v.segment<6>(place.poseV), state.a.segment<6>(place.poseV));
  }
  if (request.timeRate) {
    assembly.addForceRate(patch.frame, Vector6(sums.forceRate.head<6>()));
    assembly.addForceRate(patch.coordinates, Coordinates(sums.forceRate.segment(6, n)));
  }
  if (!request.tangent) return;
  using Block9 = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
  const int blocks[2]{patch.frame, patch.coordinates}, begins[2]{0, 6}, sizes[2]{6, n};
  const Matrix9 rate = request.damping * sums.damping + request.inertia * sums.mass;
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 2; ++column) {
      const int coupling = place.couplings[2 * row + column];
      assembly.addStiffness(coupling, Block9(sums.stiffness.block(begins[row], begins[column], sizes[row], sizes[column])));
      if (request.motion)
        assembly.addRate(coupling, blocks[column], Block9(rate.block(begins[row], begins[column], sizes[row], sizes[column])));
    }
  }
}

void ShellPatches::addEnergy(const State& state, Energy& energy) const {
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    const ShellPatch& patch = patches_[i];
    const Place& place = places_[i];
    const double* q = state.q.data() + place.q;
    Carrier c = carrierOf(patch, state.q.data() + place.poseQ, *gravity_, state.t);
    setVelocities(c, state, place.poseV, place.v, patch.shape->size());
    const Matrix3 K = patch.properties.stiffness();
    const std::optional<SheetBending> bending = patch.shape->bending(q, patch.properties);
    if (bending) {
      const Taylor<3>& y = bending->amplitude;
      energy.elastic += bending->energy.value();
      energy.power -= patch.properties.dampingTime * std::pow(Vector3(y.first(0), y.first(1), y.first(2)).dot(c.rates), 2);
    }
    const bool isIntegrated = visitPoints(patch, q, [&](double area, const Vector2& s) {
      const SheetPoint<Taylor<2>> p = patch.shape->secondOrder(q, s);
      const MovingPoint<2> m(p, c);
      const double mass = area * patch.properties.areaDensity;
      const double height = m.r.dot(c.g) + (c.R.transpose() * c.x).dot(c.g),
                   heightRate = m.r.dot(c.gRate) + (c.R.transpose() * c.x).dot(c.gRate);
      energy.kinetic += mass * m.velocity.squaredNorm() / 2;
      energy.gravitational -= mass * height;
      energy.power -= mass * heightRate;
      const Vector3 normal = values(p.d1).cross(values(p.d2));
      const double speed = normal.dot(m.velocity - c.wind);
      energy.power -= area * patch.air.density / 2 * std::abs(speed) * speed * normal.dot(m.velocity);
      if (bending) return;
      const Vector3 strain = values(p.k) - values(patch.shape->at(patch.natural.data(), s).k), rate = jacobian(p.k) * c.rates;
      energy.elastic += area * strain.dot(K * strain) / 2;
      energy.power -= area * patch.properties.dampingTime * rate.dot(K * rate);
    });
    if (!isIntegrated) energy.kinetic = energy.elastic = energy.gravitational = energy.power = std::nan(""); // no wrong number
  }
}

void ShellPatches::addMomentum(const State& state, Momentum& momentum) const {
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    const ShellPatch& patch = patches_[i];
    const Place& place = places_[i];
    const double* q = state.q.data() + place.q;
    Carrier c = carrierOf(patch, state.q.data() + place.poseQ, *gravity_, state.t);
    setVelocities(c, state, place.poseV, place.v, patch.shape->size());
    const bool isIntegrated = visitPoints(patch, q, [&](double area, const Vector2& s) {
      const MovingPoint<2> m(patch.shape->secondOrder(q, s), c);
      const Vector3 p = area * patch.properties.areaDensity * (c.R * m.velocity);
      momentum.linear += p, momentum.angular += (c.x + c.R * m.r).cross(p);
    });
    if (!isIntegrated) momentum.linear.setConstant(std::nan("")), momentum.angular.setConstant(std::nan(""));
  }
}

void ShellPatches::embed(DirectorSystem&) const {
  if (patches_.empty()) return;
  throw InputError(patches_.front().name + ": the coordinates of a sheet have no form in director coordinates; take an analysis in pose "
                                           "coordinates, such as generalized-alpha or moreau");
}

// ---- frames on a sheet -----------------------------------------------------------------------------------------------------------------

/// The frame of a material point in that of the patch, with its first-order motion and the rate of that.
struct SheetFrame::Motion {
  Pose P;
  Eigen::Matrix<double, 6, most> Xi;           ///< twists by the coordinates, in the frame
  Eigen::Matrix<double, 6, most> rate[most]{}; ///< dXi/dq_k
};

SheetFrame::SheetFrame(const ModelBuilder& builder, int frame, int coordinates, std::shared_ptr<const SheetShape> shape, const Vector2& s,
                       const Pose& offset)
    : FrameField(builder, {frame, coordinates}), shape_(std::move(shape)), s_(s), offset_(offset), toFrame_(se3::AdInverse(offset)) {}

SheetFrame::Motion SheetFrame::motion(const State& state) const {
  const SheetPoint<Taylor<2>> p = shape_->secondOrder(state.q.data() + q(1), s_);
  using T3 = std::array<Taylor<2>, 3>;
  const T3 n{p.d1[1] * p.d2[2] - p.d1[2] * p.d2[1], p.d1[2] * p.d2[0] - p.d1[0] * p.d2[2], p.d1[0] * p.d2[1] - p.d1[1] * p.d2[0]};
  Motion m;
  m.P.x = values(p.r);
  m.P.R << values(p.d1), values(p.d2), values(n);
  const auto turned = [&](const T3& by, const T3& moved, int i) { return values(by).dot(first(moved, i)); };
  const auto turnedRate = [&](const T3& by, const T3& moved, int i, int k) {
    return first(by, k).dot(first(moved, i)) + values(by).dot(second(moved, i, k));
  };
  for (int i = 0; i < most; ++i) {
    m.Xi.col(i) << m.P.R.transpose() * first(p.r, i), turned(n, p.d2, i), -turned(n, p.d1, i), turned(p.d2, p.d1, i);
    for (int k = 0; k < most; ++k) {
      Matrix3 Rk;
      Rk << first(p.d1, k), first(p.d2, k), first(n, k);
      m.rate[k].col(i) << Rk.transpose() * first(p.r, i) + m.P.R.transpose() * second(p.r, i, k), turnedRate(n, p.d2, i, k),
          -turnedRate(n, p.d1, i, k), turnedRate(p.d2, p.d1, i, k);
    }
  }
  return m;
}

void SheetFrame::kinematics(const State& state, FieldKinematics& k) const {
  const Motion m = motion(state);
  const int n = shape_->size();
  const Vector6 begin = state.v.segment<6>(v(0));
  const Vector3 rates = padded(state.v.data() + v(1), n);
  const Matrix6 toPoint = se3::AdInverse(m.P);
  k.frame = loadPose(state.q.data() + q(0)) * m.P * offset_;
  k.J.resize(6, 6 + n);
  k.J.leftCols<6>() = toFrame_ * toPoint;
  k.J.rightCols(n) = toFrame_ * m.Xi.leftCols(n);
  const Vector6 carried = toPoint * begin, own = m.Xi * rates;
  Vector6 bias = se3::adProduct(carried, own);
  for (int j = 0; j < most; ++j) bias += rates[j] * (m.rate[j] * rates);
  k.twist = toFrame_ * (carried + own);
  k.accelerationBias = toFrame_ * bias;
}

void SheetFrame::addHessian(const State& state, const Vector6& wrench, FieldHessian& H) const {
  const Motion m = motion(state);
  const int n = shape_->size();
  const Vector6 atPoint = toFrame_.transpose() * wrench;
  const Eigen::Matrix<double, 6, most> carried = se3::AdInverse(m.P).transpose() * (se3::coad(atPoint) * m.Xi);
  H.topRightCorner(6, n) -= carried.leftCols(n);
  for (int k = 0; k < n; ++k) {
    const Vector3 column = m.rate[k].transpose() * atPoint;
    H.block(6, 6 + k, n, 1) += column.head(n);
  }
}

// ---- building --------------------------------------------------------------------------------------------------------------------------

namespace {

/// A naturally flat sheet has no direction, nor needs one.
bool isFlat(const SheetShape& shape, const VectorX& q, const PatchDomain& d) {
  double largest = 0;
  for (const double s1 : {d.begin1, d.end1})
    for (const double s2 : {d.begin2, d.end2}) {
      const SheetPoint<double> p = shape.at(q.data(), {s1, s2});
      for (const double k : p.k)
        if (!(std::abs(k) <= largest)) largest = std::abs(k); // a NaN stays
    }
  return largest * d.reach() < 1e-6;
}

}

ShellPart addShell(ModelBuilder& builder, const std::string& name, const ShellOptions& options) {
  const std::string label = "shell '" + name + "'";
  const int n = options.shape->size();
  options.properties.check();
  const auto checked = [&](const VectorX& given, const VectorX& otherwise, const char* what) -> VectorX {
    const VectorX& q = given.size() > 0 ? given : otherwise;
    if (q.size() != n) throw InputError(label + ": its shape has " + std::to_string(n) + " coordinates, not " + std::to_string(q.size()));
    if (const std::string wrong = options.shape->refusal(q.data(), options.properties.domain); !wrong.empty())
      throw InputError(label + ", " + what + ": " + wrong);
    return q;
  };
  if (options.natural.size() != n) throw InputError(label + ": its shape has " + std::to_string(n) + " natural coordinates");
  ShellPatch patch;
  patch.name = label, patch.properties = options.properties, patch.shape = options.shape, patch.air = options.air;
  patch.natural = options.natural;
  if (!isFlat(*options.shape, options.natural, options.properties.domain)) checked(options.natural, options.natural, "without load");
  const VectorX initial = checked(options.initial, options.natural, "at the start");
  patch.frame = builder.addPose(label, -1, options.frame, options.twist);
  patch.coordinates =
      builder.addVector(label + ", coordinates", initial, options.rates.size() == n ? options.rates : VectorX(VectorX::Zero(n)));
  ShellPart part;
  part.name = name, part.frame = patch.frame, part.coordinates = patch.coordinates, part.domain = options.properties.domain;
  part.thickness = options.thickness, part.shape = options.shape;
  builder.term<ShellPatches>().add(std::move(patch));
  return part;
}

namespace {

/// The patch that a material point of a strip never leaves, with the point in its coordinates.
std::pair<const ShellPart*, Vector2> patchFor(const ShellPart& strip, const Vector2& s) {
  const PatchDomain& d = strip.domain;
  const double along = s[0] - d.begin1, length = d.length() / double(strip.patches.size()), slack = 1e-9 * d.length();
  const bool isAtEnd = along <= slack || along >= d.length() - slack;
  if (!isAtEnd && std::abs(s[1]) > slack)
    throw InputError("strip '" + strip.name +
                     "': rulings pass over places off its middle line, so that nothing can be attached there; take a place on the middle "
                     "line, or at an end");
  const std::size_t i = std::min(std::size_t(std::max(0., (along + slack) / length)), strip.patches.size() - 1);
  return {&strip.patches[i], Vector2(along - double(i) * length, s[1])};
}

}

int attachToShell(ModelBuilder& builder, const ShellPart& shell, const Vector2& s, const std::string& owner) {
  if (!shell.patches.empty()) {
    if ((s - Vector2(shell.domain.end1, 0)).isZero(1e-9 * shell.domain.length())) return shell.end;
    const auto [patch, local] = patchFor(shell, s);
    return attachToShell(builder, *patch, local, owner);
  }
  if (!shell.shape) throw InputError("shell '" + shell.name + "' has no shape; addShell() makes shells of a builder");
  for (const int block : {shell.frame, shell.coordinates}) Layout(builder).block(block);
  return attachFrame(builder, owner, -1, std::make_unique<SheetFrame>(builder, shell.frame, shell.coordinates, shell.shape, s));
}

}
