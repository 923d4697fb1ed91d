#include "rods/rod_identification.h"

#include "rods/rod_program.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"
#include "tendril/rods/rod_identification.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#include <algorithm>
#include <cmath>
#include <complex>
#include <fmt/format.h>

namespace tendril {

namespace {

Vector6 strainTwist(double h, const Vector3& u) {
  Vector6 x;
  x << 0, 0, h, h * u;
  return x;
}

int elementAt(const StrainRod& rod, double s) { return std::clamp(int(s / rod.step()), 0, rod.elements() - 1); }

}

void checkPoints(const RodIdentificationOptions& o) {
  const std::vector<Vector3>& points = o.points;
  const double length = o.rod.length;
  if (points.size() < 4 || int(points.size()) < 2 * o.groups + 2)
    throw InputError(fmt::format("rod: {} points do not determine the natural strains of {} groups; give {} at least", points.size(),
                                 o.groups, std::max(4, 2 * o.groups + 2)));
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!points[i].allFinite()) throw InputError(fmt::format("rod: point {} is not finite", i + 1));
    if (i == 0) continue;
    const double piece = (points[i] - points[i - 1]).norm();
    if (!(piece > 1e-9 * length)) throw InputError(fmt::format("rod: points {} and {} are the same; remove one", i, i + 1));
    sum += piece;
  }
  const double ratio = sum / length;
  const char* const unit = std::abs(ratio / 1000 - 1) < 0.2 ? "; they seem to be in millimetres, give them in metres" : "";
  if (!(ratio > 0.8 && ratio < 1.05))
    throw InputError(
        fmt::format("rod: the polyline through its points is {:.4g} m long, the rod {:.4g} m{}; points go from its begin to its "
                    "end, close enough to show its curvature",
                    sum, length, unit));
  if ((points[0] - o.ends.begin.x).norm() > 0.05 * length)
    throw InputError(
        fmt::format("rod: the first point lies {:.3g} m from the begin of the rod; give points in the frame of the scene, from "
                    "the clamp on",
                    (points[0] - o.ends.begin.x).norm()));
}

Vector3 pointAt(const StrainRod& rod, double s) {
  const int e = elementAt(rod, s);
  return (rod.frame(e) * se3::exp(strainTwist(s - e * rod.step(), rod.strains().segment<3>(3 * e)))).x;
}

void addPointJacobian(const StrainRod& rod, double s, Eigen::Ref<MatrixX> J) {
  const int e = elementAt(rod, s);
  const Vector3 x = pointAt(rod, s);
  for (int i = 0; i <= e; ++i) {
    const double h = i < e ? rod.step() : s - e * rod.step();
    const Vector6 twist = strainTwist(h, rod.strains().segment<3>(3 * i));
    // The frame at the end of the piece moves by a screw, and the point with it.
    const Pose H = rod.frame(i) * se3::exp(twist);
    const Eigen::Matrix<double, 6, 3> local = h * se3::tangent(twist).rightCols<3>();
    J.middleCols<3>(3 * i) += H.R * local.topRows<3>() - so3::hat(x - H.x) * H.R * local.bottomRows<3>();
  }
}

std::vector<double> placesOf(const std::vector<Vector3>& points, double length) {
  // A chord c of an arc with curvature k is the arc less k^2 c^3 / 24; k that of the circle through three points.
  const auto curvature = [&](std::size_t i) {
    const Vector3 a = points[i] - points[i - 1], b = points[i + 1] - points[i];
    return 2 * a.cross(b).norm() / (a.norm() * b.norm() * (a + b).norm());
  };
  const std::size_t last = points.size() - 1;
  std::vector<double> places{0};
  for (std::size_t i = 0; i < last; ++i) {
    const double chord = (points[i + 1] - points[i]).norm();
    const double k = 0.5 * (curvature(std::max<std::size_t>(i, 1)) + curvature(std::min(i + 1, last - 1)));
    places.push_back(places.back() + chord * (1 + std::min(k * k * chord * chord / 24, 0.5)));
  }
  const double scale = length / places.back();
  for (double& s : places) s *= scale;
  places.back() = length;
  return places;
}

Vector3 strainsOf(const std::vector<Vector3>& points, const std::vector<double>& places, const Matrix3& begin) {
  Matrix3 frame = begin;
  std::vector<std::complex<double>> bends; // in the frame that does not turn about the tangent
  std::vector<double> at;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const Vector3 tangent = (points[i + 1] - points[i]).normalized();
    const Vector3 turn = so3::log(so3::shortestRotation(frame.col(2), tangent));
    if (i > 0) {
      const double gap = 0.5 * (places[i + 1] - places[i - 1]);
      bends.emplace_back(turn.dot(frame.col(0)) / gap, turn.dot(frame.col(1)) / gap);
      at.push_back(places[i]);
    }
    frame = so3::exp(turn) * frame;
  }
  std::complex<double> rate = 0;
  double distance = 0;
  for (std::size_t i = 1; i < bends.size(); ++i) rate += bends[i] * std::conj(bends[i - 1]), distance += at[i] - at[i - 1];
  const double torsion = std::abs(rate) > 0 ? std::arg(rate) * double(bends.size() - 1) / distance : 0;
  std::complex<double> mean = 0;
  for (std::size_t i = 0; i < bends.size(); ++i) mean += bends[i] * std::polar(1.0, -torsion * at[i]) / double(bends.size());
  return {mean.real(), mean.imag(), torsion};
}

namespace {

constexpr double negligible = 1e-6; ///< singular values, relative to the largest

int groupAt(double s, double length, int groups) { return std::clamp(int(s / length * groups), 0, groups - 1); }

/// The equilibrium for given natural strains, and the misfit with its derivative.
class Misfit {
 public:
  explicit Misfit(const RodIdentificationOptions& options)
      : options_(options), places_(placesOf(options.points, options.rod.length)), count_(Eigen::Index(options.points.size())) {}

  Eigen::Index parameters() const { return 3 * Eigen::Index(options_.groups); }
  double length() const { return options_.rod.length; }
  const std::vector<double>& places() const { return places_; }
  const std::optional<StrainRod>& rod() const { return rod_; }

  /// False where no equilibrium is found. Parameters are L u0.
  bool place(const VectorX& p, VectorX& residual) {
    RodProperties properties = options_.rod;
    const int groups = options_.groups;
    properties.natural = [p, groups, L = properties.length](double s) -> Vector3 { return p.segment<3>(3 * groupAt(s, L, groups)) / L; };
    StrainRod next(std::move(properties), options_.elements);
    next.place(options_.ends.begin, rod_ ? rod_->strains() : next.natural());
    const RodEquilibrium found = solveEquilibrium(next, options_.ends);
    if (!found.isSolved || !found.isMinimum) return false;
    rod_ = std::move(next);
    residual.setZero(rows());
    for (Eigen::Index k = 0; k < count_; ++k)
      residual.segment<3>(3 * k) = weight() * (pointAt(*rod_, places_[std::size_t(k)]) - options_.points[std::size_t(k)]);
    if (groups > 1) residual.tail(parameters() - 3) = roughness() * (p.tail(parameters() - 3) - p.head(parameters() - 3));
    return true;
  }

  void takeBack(const std::optional<StrainRod>& rod) { rod_ = rod; }

  /// By L u0; the equilibrium moves along.
  MatrixX jacobian() {
    const StrainRod& rod = *rod_;
    const int n = rod.size();
    StrainProgram program(*rod_, options_.ends);
    const MatrixX J = program.jacobian();
    VectorX gradient = VectorX::Zero(n);
    program.rod().addEnergyGradient(1, gradient);
    const VectorX mu = J.rows() > 0 ? VectorX(Eigen::CompleteOrthogonalDecomposition<MatrixX>(J.transpose()).solve(-gradient)) : VectorX();
    MatrixX KKT = MatrixX::Zero(n + J.rows(), n + J.rows());
    KKT.topLeftCorner(n, n) = program.hessian(1, mu);
    KKT.bottomLeftCorner(J.rows(), n) = J;
    KKT.topRightCorner(n, J.rows()) = J.transpose();
    MatrixX push = MatrixX::Zero(n + J.rows(), parameters());
    const Vector3 stiffness = rod.step() / (program.energyUnit() * length() * length()) * rod.properties().stiffness;
    for (int i = 0; i < rod.elements(); ++i) {
      const int group = groupAt((i + 0.5) * rod.step(), length(), options_.groups);
      push.block<3, 3>(3 * i, 3 * group) = stiffness.asDiagonal();
    }
    const MatrixX moves = KKT.partialPivLu().solve(push).topRows(n) / length();
    MatrixX result = MatrixX::Zero(rows(), parameters()), point(3, n);
    for (Eigen::Index k = 0; k < count_; ++k) {
      point.setZero();
      addPointJacobian(rod, places_[std::size_t(k)], point);
      result.middleRows<3>(3 * k) = weight() * point * moves;
    }
    for (Eigen::Index i = 0; i + 3 < parameters(); ++i)
      result(3 * count_ + i, i) = -roughness(), result(3 * count_ + i, i + 3) = roughness();
    return result;
  }

  void measure(RodIdentification& found) const {
    double sum = 0;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const double distance = (pointAt(*rod_, places_[k]) - options_.points[k]).norm();
      sum += distance * distance;
      found.largestMisfit = std::max(found.largestMisfit, distance);
    }
    found.misfit = std::sqrt(sum / double(places_.size()));
  }
  Eigen::Index pointRows() const { return 3 * count_; }

 private:
  Eigen::Index rows() const { return 3 * count_ + parameters() - 3; }
  double weight() const { return 1 / (length() * std::sqrt(double(count_))); }
  double roughness() const { return std::sqrt(options_.smoothness / options_.groups); }

  const RodIdentificationOptions& options_;
  std::vector<double> places_;
  Eigen::Index count_;
  std::optional<StrainRod> rod_;
};

/// What the points cannot tell, by the singular values of their derivative alone.
void judge(const MatrixX& derivative, double misfit, double length, RodIdentification& found) {
  static const char* const names[] = {"curvature 1", "curvature 2", "torsion"};
  const Eigen::JacobiSVD<MatrixX> svd(derivative, Eigen::ComputeThinV);
  const VectorX& sigma = svd.singularValues();
  const MatrixX& V = svd.matrixV();
  found.uncertainty = VectorX::Zero(V.rows());
  for (Eigen::Index i = 0; i < sigma.size(); ++i) {
    if (sigma[i] > negligible * sigma[0]) {
      found.uncertainty += (V.col(i) / sigma[i]).cwiseAbs2();
      continue;
    }
    ++found.unidentified;
    std::string parts;
    for (Eigen::Index k = 0; k < V.rows(); ++k)
      if (std::abs(V(k, i)) > 0.3) parts += fmt::format("{}{} of group {}", parts.empty() ? "" : ", ", names[k % 3], k / 3 + 1);
    found.undetermined.push_back(parts);
  }
  found.uncertainty = misfit / length * found.uncertainty.cwiseSqrt() / length;
}

}

RodIdentification identifyNaturalStrains(const RodIdentificationOptions& options) {
  if (options.groups < 1 || options.groups > options.elements)
    throw InputError(fmt::format("rod: {} elements have 1 to {} groups, not {}", options.elements, options.elements, options.groups));
  if (!(options.smoothness >= 0)) throw InputError("rod: the weight of smoothness must not be negative");
  const StrainRod checked(options.rod, options.elements); // refuses what is no rod
  checkPoints(options);
  Misfit misfit(options);
  const double L = misfit.length();
  const Vector3 guess = options.guess ? *options.guess : strainsOf(options.points, misfit.places(), options.ends.begin.R);
  RodIdentification found;
  VectorX p = (L * guess).replicate(options.groups, 1), r, tried;
  if (!misfit.place(p, r)) {
    found.message = "rod: no equilibrium was found for the first guess of the natural strains; give another";
    return found;
  }
  MatrixX J = misfit.jacobian();
  double damping = 1e-3 * J.squaredNorm() / double(p.size());
  const double least = 1e-14 * J.squaredNorm();
  for (; found.iterations < options.maxIterations; ++found.iterations) {
    const Eigen::JacobiSVD<MatrixX> svd(J, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const VectorX& sigma = svd.singularValues();
    const VectorX along = svd.matrixU().transpose() * r;
    // Stationary: the undamped step, in the directions that can be identified, is rounding.
    const VectorX undamped = (sigma.array() > negligible * sigma[0]).select(along.cwiseQuotient(sigma), 0.0);
    found.isSolved = undamped.norm() < 1e-8 * (1 + p.norm());
    if (found.isSolved || damping > 1e6 * J.squaredNorm()) break;
    const VectorX factor = sigma.cwiseQuotient((sigma.cwiseAbs2().array() + damping).matrix());
    const VectorX step = -svd.matrixV() * factor.cwiseProduct(along);
    const std::optional<StrainRod> before = misfit.rod();
    const double cost = r.squaredNorm();
    if (misfit.place(p + step, tried) && tried.squaredNorm() < cost) {
      p += step, r = tried;
      J = misfit.jacobian();
      damping = std::max(damping / 5, least);
    } else {
      misfit.takeBack(before);
      damping *= 4;
    }
  }
  found.natural = p / L;
  found.rod = misfit.rod();
  misfit.measure(found);
  judge(J.topRows(misfit.pointRows()), found.misfit, L, found);
  if (!found.isSolved)
    found.message =
        fmt::format("rod: the natural strains still change after {} iterations, with a misfit of {:.3g} m; allow more, or give a "
                    "first guess",
                    found.iterations, found.misfit);
  return found;
}

}
