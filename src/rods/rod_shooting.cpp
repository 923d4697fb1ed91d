#include "tendril/rods/rod_shooting.h"

#include "rods/rod_ends.h"
#include "tendril/model/error.h"

#include <Eigen/LU>
#include <Eigen/QR>

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>

namespace tendril {

namespace {

/// The rod in natural units: L = 1, EI = 1. Arclengths run from 0 to 1.
struct ScaledRod {
  explicit ScaledRod(const RodProperties& rod)
      : length(rod.length), unit(rod.stiffness.maxCoeff()), flexibility((rod.stiffness / unit).cwiseInverse()),
        weight(rod.weight * (length * length * length / unit)), natural(rod.natural) {}

  Vector3 naturalAt(double s) const { return natural ? Vector3(length * natural(s * length)) : Vector3::Zero(); }
  RodPoint scaled(const RodPoint& p) const {
    return {p.s / length, {p.frame.R, p.frame.x / length}, p.force * (length * length / unit), p.moment * (length / unit)};
  }
  RodPoint restored(const RodPoint& p) const {
    return {p.s * length, {p.frame.R, p.frame.x * length}, p.force * (unit / (length * length)), p.moment * (unit / length)};
  }

  double length, unit; ///< unit: EI
  Vector3 flexibility, weight;
  std::function<Vector3(double)> natural;
};

/// r, R and M, and behind them columns (dr, theta, dM) of variations by (theta, M, F) at the begin.
template <int columns> struct Flow {
  static constexpr int state = 15;
  using Numbers = Eigen::Matrix<double, state + 9 * columns, 1>;

  Flow(const ScaledRod& of, const RodPoint& begin) : rod(of), from(begin) {}

  Numbers initial() const {
    Numbers y = Numbers::Zero();
    y.template head<3>() = from.frame.x;
    Eigen::Map<Matrix3>(y.data() + 3) = from.frame.R;
    y.template segment<3>(12) = from.moment;
    if constexpr (columns > 0)
      for (int c = 0; c < 6; ++c) y[state + 9 * c + 3 + c] = 1; // theta and M
    return y;
  }

  Vector3 forceAt(double s) const { return from.force - (s - from.s) * rod.weight; }

  void slope(double s, const Numbers& y, Numbers& d) const {
    const Eigen::Map<const Matrix3> R(y.data() + 3);
    const Vector3 M = y.template segment<3>(12), F = forceAt(s), d3 = R.col(2);
    const Vector3 u = rod.naturalAt(s) + rod.flexibility.cwiseProduct(R.transpose() * M);
    d.template head<3>() = d3;
    Eigen::Map<Matrix3>(d.data() + 3) = R * so3::hat(u);
    d.template segment<3>(12) = F.cross(d3);
    if constexpr (columns > 0) {
      const Matrix3 C = R * rod.flexibility.asDiagonal() * R.transpose();
      for (int c = 0; c < columns; ++c) {
        const auto v = y.template segment<9>(state + 9 * c);
        const Vector3 theta = v.template segment<3>(3), dM = v.template tail<3>(), turned = theta.cross(d3);
        auto dv = d.template segment<9>(state + 9 * c);
        dv.template head<3>() = turned;
        dv.template segment<3>(3) = C * (dM - theta.cross(M));
        dv.template tail<3>() = F.cross(turned);
        if (c >= 6) dv.template tail<3>() += Vector3::Unit(c - 6).cross(d3);
      }
    }
  }

  RodPoint point(double s, const Numbers& y) const {
    return {s, {Eigen::Map<const Matrix3>(y.data() + 3), y.template head<3>()}, forceAt(s), y.template segment<3>(12)};
  }
  Eigen::Matrix<double, 9, 9> variations(const Numbers& y) const { return Eigen::Map<const Eigen::Matrix<double, 9, 9>>(y.data() + state); }

  const ScaledRod& rod;
  RodPoint from;
};

/// Extrapolation of Gragg's modified midpoint rule (Bulirsch & Stoer; Hairer, Norsett & Wanner, II.9). False where the steps vanish: more
/// turns than can be followed, or numbers beyond all bounds.
template <class Flow> class Extrapolation {
 public:
  using Numbers = typename Flow::Numbers;
  explicit Extrapolation(const Flow& flow) : flow_(flow) {}

  bool advance(double& s, double to, Numbers& y) {
    constexpr int most = 20000;
    for (int steps = 0; s < to; ++steps) {
      const double h = std::min(h_, to - s);
      if (steps >= most || !(h_ > 1e-14)) return false;
      const int used = attempt(s, h, y);
      if (used == 0) {
        h_ = h / 4;
        continue;
      }
      const bool isLast = h >= to - s;
      s = isLast ? to : s + h;
      y = table_[0];
      // Six columns are the cheapest; fewer or more tell that the step may grow or should shrink. A last step is no measure.
      if (!isLast || used > 6) h_ = h * (used < 5 ? 2.0 : used < 7 ? 1.2 : 0.7);
    }
    return true;
  }

 private:
  static constexpr int columns = 8;
  static constexpr double rounding = 1e-14;

  void midpoint(double s, double h, const Numbers& y, int n, Numbers& result) {
    const double step = h / n;
    flow_.slope(s, y, slope_);
    before_ = y;
    at_ = y + step * slope_;
    for (int i = 1; i < n; ++i) {
      flow_.slope(s + i * step, at_, slope_);
      after_ = before_ + 2 * step * slope_;
      before_ = at_;
      at_ = after_;
    }
    flow_.slope(s + h, at_, slope_);
    result = 0.5 * (at_ + before_ + step * slope_);
  }

  /// Number of columns after which the error is rounding; the result is table_[0]. 0 if it is not.
  int attempt(double s, double h, const Numbers& y) {
    for (int k = 0; k < columns; ++k) {
      midpoint(s, h, y, 2 * (k + 1), table_[std::size_t(k)]);
      if (!table_[std::size_t(k)].allFinite()) return 0;
      // Neville's scheme in h^2, towards table_[0].
      for (int j = k; j > 0; --j) {
        const double ratio = double(k + 1) / j;
        const Numbers change = (table_[std::size_t(j)] - table_[std::size_t(j) - 1]) / (ratio * ratio - 1);
        if (j == 1) error_ = change.cwiseAbs().cwiseQuotient((y.cwiseAbs().array() + 1).matrix()).maxCoeff();
        table_[std::size_t(j) - 1] = table_[std::size_t(j)] + change;
      }
      if (k > 1 && error_ < rounding) return k + 1;
    }
    return error_ < 20 * rounding ? columns : 0;
  }

  const Flow& flow_;
  std::array<Numbers, columns> table_;
  Numbers slope_, before_, at_, after_;
  double h_ = 0.05, error_ = 0;
};

Vector3 turnBetween(const Matrix3& from, const Matrix3& to) { return so3::log(from.transpose() * to); }

/// Newton's method on force and moment at the begin and the states at the begins of further segments. Unknowns: dF(0), dM(0), then
/// (dr, theta, dM) of each node.
class ShootingProblem {
 public:
  ShootingProblem(const RodProperties& rod, const RodEnds& ends, std::vector<RodPoint> nodes) : rod_(rod), ends_(ends) {
    for (const RodPoint& node : nodes) nodes_.push_back(rod_.scaled(node));
    if (ends_.position) *ends_.position /= rod_.length;
    reached_ = nodes_;
    const Eigen::Index n = 6 + 9 * (Eigen::Index(nodes_.size()) - 2);
    residual_.resize(n), jacobian_.resize(n, n);
  }

  const VectorX& residual() const { return residual_; }

  /// False where a segment cannot be integrated.
  bool evaluate() {
    jacobian_.setZero(), residual_.setConstant(std::numeric_limits<double>::infinity());
    Eigen::Index row = 0;
    VectorX r(residual_.size());
    for (std::size_t i = 0; i + 1 < nodes_.size(); ++i) {
      const Flow<9> flow(rod_, nodes_[i]);
      Flow<9>::Numbers y = flow.initial();
      Extrapolation<Flow<9>> integration(flow);
      double s = nodes_[i].s;
      if (!isWithinReach(nodes_[i]) || !integration.advance(s, nodes_[i + 1].s, y)) return false;
      reached_[i + 1] = flow.point(s, y);
      const Eigen::Matrix<double, 9, 9> V = flow.variations(y);
      const bool isLast = i + 2 == nodes_.size();
      const Vector3 gap = reached_[i + 1].frame.x, F = reached_[i + 1].force, M = reached_[i + 1].moment;
      const Matrix3& R = reached_[i + 1].frame.R;
      Eigen::Matrix<double, 9, 12> rows = Eigen::Matrix<double, 9, 12>::Zero(); // by (dr, theta, dM) of the node and dF
      rows.leftCols<3>().topRows<3>().setIdentity();
      rows.rightCols<9>() = V;
      if (!isLast) {
        const RodPoint& next = nodes_[i + 1];
        const Vector3 c = turnBetween(next.frame.R, R);
        r.segment<9>(row) << gap - next.frame.x, c, M - next.moment;
        const Matrix3 turn = so3::tangentInverse(c) * R.transpose();
        rows.middleRows<3>(3) = (turn * rows.middleRows<3>(3)).eval();
        put(row, rows, i);
        const Eigen::Index own = 6 + 9 * Eigen::Index(i);
        jacobian_.block<3, 3>(row, own) = -Matrix3::Identity();
        jacobian_.block<3, 3>(row + 3, own + 3) = -turn;
        jacobian_.block<3, 3>(row + 6, own + 6) = -Matrix3::Identity();
        row += 9;
        continue;
      }
      Eigen::Matrix<double, 6, 12> end = Eigen::Matrix<double, 6, 12>::Zero();
      if (ends_.position) {
        r.segment<3>(row) = gap - *ends_.position;
        end.topRows<3>() = rows.topRows<3>();
      } else {
        r.segment<3>(row) = F;
        end.topRightCorner<3, 3>().setIdentity();
      }
      if (ends_.orientation) {
        const Vector3 c = turnBetween(*ends_.orientation, R);
        r.segment<3>(row + 3) = c;
        end.bottomRows<3>() = so3::tangentInverse(c) * R.transpose() * rows.middleRows<3>(3);
      } else {
        r.segment<3>(row + 3) = M;
        end.bottomRows<3>() = rows.bottomRows<3>();
      }
      put(row, end, i);
    }
    residual_ = r;
    return residual_.allFinite() && jacobian_.allFinite();
  }

  VectorX step() const {
    Eigen::CompleteOrthogonalDecomposition<MatrixX> qr;
    qr.setThreshold(1e-12);
    return qr.compute(jacobian_).solve(-residual_);
  }

  void move(const VectorX& by) {
    nodes_[0].force += by.head<3>(), nodes_[0].moment += by.segment<3>(3);
    for (std::size_t i = 1; i + 1 < nodes_.size(); ++i) {
      const auto d = by.segment<9>(6 + 9 * (Eigen::Index(i) - 1));
      RodPoint& node = nodes_[i];
      node.frame.x += d.head<3>();
      node.frame.R = so3::exp(Vector3(d.segment<3>(3))) * node.frame.R;
      node.moment += d.tail<3>();
    }
    for (std::size_t i = 1; i < nodes_.size(); ++i) nodes_[i].force = nodes_[0].force - nodes_[i].s * rod_.weight;
  }

  const std::vector<RodPoint>& nodes() const { return nodes_; }
  void setNodes(const std::vector<RodPoint>& nodes) { nodes_ = nodes; }
  std::vector<RodPoint> restored() const {
    std::vector<RodPoint> all;
    for (std::size_t i = 0; i + 1 < nodes_.size(); ++i) all.push_back(rod_.restored(nodes_[i]));
    all.push_back(rod_.restored(reached_.back()));
    return all;
  }

 private:
  /// Turns and forces beyond these are not followed.
  bool isWithinReach(const RodPoint& p) const {
    constexpr double most = 1e5;
    return p.moment.norm() * rod_.flexibility.maxCoeff() < most && p.force.norm() < most * most && p.frame.x.allFinite();
  }

  /// Rows of the segment that begins at node i.
  template <class Rows> void put(Eigen::Index row, const Rows& rows, std::size_t i) {
    const Eigen::Index n = rows.rows();
    jacobian_.block(row, 0, n, 3) = rows.template rightCols<3>();
    if (i == 0)
      jacobian_.block(row, 3, n, 3) = rows.template middleCols<3>(6);
    else
      jacobian_.block(row, 6 + 9 * (Eigen::Index(i) - 1), n, 9) = rows.template leftCols<9>();
  }

  ScaledRod rod_;
  RodEnds ends_;
  std::vector<RodPoint> nodes_, reached_;
  VectorX residual_;
  MatrixX jacobian_;
};

ShotRod solve(ShootingProblem& problem, const RodShootingOptions& options) {
  ShotRod shot;
  const auto largest = [&] { return problem.residual().lpNorm<Eigen::Infinity>(); };
  const auto fail = [&](const std::string& why) {
    shot.message =
        fmt::format("rod: shooting ended with a residual of {:.3g} after {} iterations: {}", shot.residual, shot.iterations, why);
    return shot;
  };
  if (!problem.evaluate()) {
    shot.residual = std::numeric_limits<double>::infinity();
    return fail(
        "the first guess turns more, or weighs more, than can be integrated; give a force and a moment of the size of EI/L^2, EI/L");
  }
  shot.residual = largest();
  while (shot.residual > options.tolerance && shot.iterations < options.maxIterations) {
    ++shot.iterations;
    const std::vector<RodPoint> from = problem.nodes();
    const VectorX step = problem.step();
    const double norm = problem.residual().norm();
    double factor = 1;
    for (;; factor /= 2) {
      problem.setNodes(from);
      problem.move(factor * step);
      if (problem.evaluate() && problem.residual().norm() < (1 - 1e-4 * factor) * norm) break;
      if (factor < 1e-6) {
        problem.setNodes(from);
        problem.evaluate();
        shot.nodes = problem.restored();
        return fail("no step reduces it; start nearer, or take more segments");
      }
    }
    shot.residual = largest();
  }
  shot.nodes = problem.restored();
  shot.isSolved = shot.residual <= options.tolerance;
  return shot.isSolved ? shot : fail("it still falls; allow more iterations, or start nearer");
}

void check(const RodProperties& rod, const RodEnds& ends, const RodShootingOptions& options) {
  constexpr int most = 64;
  if (options.segments < 1 || options.segments > most)
    throw InputError(fmt::format("rod: it is shot in 1 to {} segments, not {}", most, options.segments));
  checkRodEnds(rod.length, ends);
}

std::vector<RodPoint> nodesFrom(const RodProperties& rod, const RodPoint& begin, int segments) {
  const ScaledRod scaled(rod);
  std::vector<RodPoint> nodes{begin};
  const Flow<0> flow(scaled, scaled.scaled(begin));
  Flow<0>::Numbers y = flow.initial();
  Extrapolation<Flow<0>> integration(flow);
  double s = 0;
  for (int i = 1; i < segments; ++i) {
    // What cannot be integrated stays where it is and is told when it is evaluated.
    if (!integration.advance(s, double(i) / segments, y)) y = flow.initial(), s = double(i) / segments;
    nodes.push_back(scaled.restored(flow.point(s, y)));
  }
  nodes.push_back({.s = rod.length, .frame = {}});
  return nodes;
}

}

ShotRod shootRod(const RodProperties& rod, const RodEnds& ends, const Vector3& force, const Vector3& moment,
                 const RodShootingOptions& options) {
  const StrainRod checked(rod, 1); // refuses what is no rod
  check(rod, ends, options);
  ShootingProblem problem(rod, ends, nodesFrom(rod, {0, ends.begin, force, moment}, options.segments));
  return solve(problem, options);
}

ShotRod shootRod(const StrainRod& guess, const RodEnds& ends, const Vector3& force, const RodShootingOptions& options) {
  const RodProperties& rod = guess.properties();
  check(rod, ends, options);
  std::vector<RodPoint> nodes;
  for (int i = 0; i <= options.segments; ++i) {
    const double s = rod.length * i / options.segments;
    const int node = int(std::lround(s / guess.step())), element = std::min(node, guess.elements() - 1);
    const Vector3 change = guess.strains().segment<3>(3 * element) - guess.natural().segment<3>(3 * element);
    const Pose& frame = guess.frame(node);
    nodes.push_back({s, frame, force - s * rod.weight, frame.R * rod.stiffness.cwiseProduct(change)});
  }
  nodes[0].frame = ends.begin;
  ShootingProblem problem(rod, ends, nodes);
  return solve(problem, options);
}

std::vector<RodPoint> shapeOf(const RodProperties& rod, const ShotRod& shot, int intervals) {
  if (shot.nodes.empty()) throw InputError("rod: no rod was shot, so it has no shape; give what shoot() found");
  const ScaledRod scaled(rod);
  std::vector<RodPoint> shape;
  std::size_t node = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double at = double(i) / intervals;
    while (node + 2 < shot.nodes.size() && shot.nodes[node + 1].s <= at * rod.length) ++node;
    const Flow<0> flow(scaled, scaled.scaled(shot.nodes[node]));
    Flow<0>::Numbers y = flow.initial();
    double s = flow.from.s;
    if (!Extrapolation<Flow<0>>(flow).advance(s, at, y)) throw NumericalFailure("rod: the solution cannot be integrated again");
    shape.push_back(scaled.restored(flow.point(at, y)));
  }
  return shape;
}

namespace {

Vector3 strainsAt(const RodProperties& rod, const RodPoint& p, Vector3& change) {
  change = (p.frame.R.transpose() * p.moment).cwiseQuotient(rod.stiffness);
  return change + (rod.natural ? rod.natural(p.s) : Vector3(Vector3::Zero()));
}

}

double energyOf(const RodProperties& rod, const std::vector<RodPoint>& shape) {
  const std::size_t n = shape.size() - 1;
  if (shape.size() < 3 || n % 2 == 1) throw InputError("rod: Simpson's rule needs an even number of intervals");
  double sum = 0;
  for (std::size_t i = 0; i <= n; ++i) {
    Vector3 change;
    strainsAt(rod, shape[i], change);
    const double density = 0.5 * change.dot(rod.stiffness.cwiseProduct(change)) - rod.weight.dot(shape[i].frame.x);
    sum += (i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2) * density;
  }
  return sum * rod.length / (3 * double(n));
}

double hamiltonian(const RodProperties& rod, const RodPoint& p) {
  Vector3 change;
  const Vector3 u = strainsAt(rod, p, change);
  return (p.frame.R.transpose() * p.moment).dot(u) - 0.5 * change.dot(rod.stiffness.cwiseProduct(change)) + p.force.dot(p.frame.R.col(2));
}

std::vector<Matrix6> endVariations(const RodProperties& rod, const RodPoint& begin, const std::vector<double>& arclengths) {
  const ScaledRod scaled(rod);
  const Flow<9> flow(scaled, scaled.scaled(begin));
  Flow<9>::Numbers y = flow.initial();
  Extrapolation<Flow<9>> integration(flow);
  std::vector<Matrix6> all;
  double s = flow.from.s;
  for (const double at : arclengths) {
    if (!integration.advance(s, at / rod.length, y)) throw NumericalFailure("rod: its variations cannot be integrated");
    all.emplace_back(flow.variations(y).topRightCorner<6, 6>());
  }
  return all;
}

std::vector<double> conjugateSamples(const RodProperties& rod, const RodPoint& begin) {
  // The least half wave that force and moment allow is longer than ten of these by far, and before them all is lost in rounding.
  const ScaledRod scaled(rod);
  const RodPoint p = scaled.scaled(begin);
  const double bend = scaled.flexibility.maxCoeff(), wave = std::sqrt(p.force.norm() * bend) + p.moment.norm() * bend;
  const double first = 0.1 * 2 * std::numbers::pi / std::max(wave, 2 * std::numbers::pi);
  const int samples = std::max(400, int(20 / first));
  std::vector<double> at;
  for (int i = 0; i < samples; ++i) at.push_back(rod.length * (first + (1 - first) * i / samples));
  return at;
}

int conjugatePoints(const std::vector<Matrix6>& variations, const std::vector<int>& rows, const std::vector<int>& columns) {
  const auto isOne = [](int i) { return i >= 0 && i < 6; };
  if (rows.empty() || rows.size() != columns.size() || !std::all_of(rows.begin(), rows.end(), isOne) ||
      !std::all_of(columns.begin(), columns.end(), isOne))
    throw InputError("rod: conjugate points are those of a square block; give as many rows as columns, from 0 to 5");
  int changes = 0;
  double before = 0;
  for (const Matrix6& V : variations) {
    const MatrixX block = V(rows, columns);
    const double determinant = block.determinant();
    if (before != 0 && determinant * before < 0) ++changes;
    if (determinant != 0) before = determinant < 0 ? -1 : 1;
  }
  return changes;
}

int unstableDirections(const RodProperties& rod, const RodPoint& begin) {
  const std::vector<int> all{0, 1, 2, 3, 4, 5};
  return conjugatePoints(endVariations(rod, begin, conjugateSamples(rod, begin)), all, all);
}

}
