#include "tendril/analysis/contact_problem.h"

#include "analysis/equalities.h"
#include "analysis/null_space_basis.h"
#include "tendril/model/error.h"
#include "tendril/solvers/lcp.h"

#include <algorithm>
#include <stdexcept>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <fmt/format.h>

namespace tendril {
namespace {

constexpr double singular = 1e-13; ///< relative pivot

std::string nameOr(const std::vector<std::string>& names, int i, const char* kind) {
  return i < int(names.size()) ? names[std::size_t(i)] : fmt::format("{} {}", kind, i + 1);
}

/// Multipliers of J among joints and contacts.
void distribute(const AccelerationProblem& p, const Equalities& e, const VectorX& multipliers, ContactSolution& solution) {
  solution.jointForce = multipliers.head(p.joints());
  solution.lambda.setZero(p.contacts());
  place(multipliers.segment(p.joints(), Eigen::Index(e.bilateral.size())), e.bilateral, solution.lambda);
}

void requireBilateral(const Equalities& e, const char* formulation) {
  if (!e.unilateral.empty())
    throw std::invalid_argument(fmt::format("{}: unilateral contacts need a quadratic program or an LCP", formulation));
}

Eigen::LLT<MatrixX> factoriseMass(const AccelerationProblem& p, const char* formulation) {
  Eigen::LLT<MatrixX> factor(p.M);
  if (factor.info() != Eigen::Success)
    throw std::invalid_argument(fmt::format("{}: the mass matrix is singular; use the null space or the KKT matrix", formulation));
  return factor;
}

void solveKkt(const AccelerationProblem& p, ContactSolution& solution) {
  const Equalities e(p);
  requireBilateral(e, "KKT matrix");
  const Eigen::Index n = p.size(), m = e.c.size();
  MatrixX K = MatrixX::Zero(n + m, n + m);
  K.topLeftCorner(n, n) = p.M;
  K.topRightCorner(n, m) = -e.J.transpose();
  K.bottomLeftCorner(m, n) = e.J;
  VectorX right(n + m);
  right.head(n) = -p.F;
  right.tail(m) = -e.c;
  const VectorX x = RowSpace(K, {}, singular).solve(right);
  solution.a = x.head(p.size());
  distribute(p, e, x.tail(e.c.size()), solution);
}

void solveNullSpace(const AccelerationProblem& p, ContactSolution& solution) {
  const Equalities e(p);
  requireBilateral(e, "null space");
  AccelerationProblem held = p;
  held.G = e.J, held.jointBias = e.c;
  const ConstrainedResponse response(held);
  if (!response.isRegular() || !response.isCompatible()) return;
  solution.a = response.free();
  distribute(p, e, response.jointForces(solution.a, VectorX::Zero(p.size())), solution);
}

void solveSchur(const AccelerationProblem& p, ContactSolution& solution) {
  const Equalities e(p);
  requireBilateral(e, "Schur complement");
  const Eigen::LLT<MatrixX> mass = factoriseMass(p, "Schur complement");
  const VectorX load = e.J * mass.solve(p.F) - e.c;
  const VectorX multipliers = RowSpace(e.J * mass.solve(e.J.transpose()), {}, singular).solve(load);
  solution.a = mass.solve(e.J.transpose() * multipliers - p.F);
  distribute(p, e, multipliers, solution);
}

void solveProgram(const AccelerationProblem& p, ContactSolution& solution) {
  const Equalities e(p);
  const Eigen::LLT<MatrixX> mass = factoriseMass(p, "quadratic program");
  QuadraticProgram program{p.M, -mass.solve(p.F), MatrixX(p.joints() + p.contacts(), p.size()), VectorX(p.joints() + p.contacts()),
                           int(e.J.rows())};
  const Eigen::Index open = Eigen::Index(e.unilateral.size());
  program.N.topRows(e.J.rows()) = e.J;
  program.N.bottomRows(open) = pickRows(p.N, e.unilateral);
  program.b.head(e.c.size()) = -e.c;
  program.b.tail(open) = -pick(p.normalBias, e.unilateral);
  const ProximalPoint point = solveProximal(program);
  if (point.status != PivotStatus::Solved) return;
  solution.a = point.v;
  distribute(p, e, point.lambda.head(e.J.rows()), solution);
  place(point.lambda.tail(open), e.unilateral, solution.lambda);
}

void solveEliminated(const AccelerationProblem& p, ContactSolution& solution) {
  const Equalities e(p);
  AccelerationProblem held = p;
  held.G = e.J, held.jointBias = e.c;
  held.N = pickRows(p.N, e.unilateral), held.H = MatrixX::Zero(held.N.rows(), p.size());
  held.normalBias = pick(p.normalBias, e.unilateral), held.friction = VectorX::Zero(held.N.rows());
  held.isBilateral.assign(e.unilateral.size(), 0);
  const ConstrainedResponse response(held);
  if (!response.isRegular() || !response.isCompatible()) return;
  const SlidingProblem sliding = eliminate(held, response);
  const LcpResult lcp = solveLcp(sliding.A, sliding.w);
  if (lcp.status != PivotStatus::Solved) return;
  const ContactSolution motion = motionOf(held, response, lcp.z);
  solution.a = motion.a;
  distribute(p, e, motion.jointForce, solution);
  place(lcp.z, e.unilateral, solution.lambda);
}

/// Largest violation of the equations, relative to the terms that meet in them.
double residualOf(const AccelerationProblem& p, const ContactSolution& s, const VectorX& friction) {
  const VectorX inertia = p.M * s.a, joints = p.G.transpose() * s.jointForce;
  const VectorX contacts = p.N.transpose() * s.lambda - p.H.transpose() * friction.cwiseProduct(s.lambda.cwiseAbs());
  const double forces = std::max({inertia.norm(), joints.norm(), contacts.norm(), p.F.norm()});
  const VectorX held = p.G * s.a + p.jointBias, opening = p.N * s.a + p.normalBias;
  double violation = held.size() ? held.cwiseAbs().maxCoeff() : 0;
  double size = std::max(held.size() ? p.jointBias.cwiseAbs().maxCoeff() : 0, s.a.norm());
  for (int i = 0; i < p.contacts(); ++i) {
    const double v = p.isBilateral[std::size_t(i)] || s.lambda[i] > 0 ? std::abs(opening[i]) : std::max(0.0, -opening[i]);
    violation = std::max(violation, v);
    size = std::max(size, std::abs(p.normalBias[i]));
  }
  const double unbalanced = (inertia + p.F - joints - contacts).norm();
  return (forces > 0 ? unbalanced / forces : 0) + (size > 0 ? violation / size : 0);
}

}

std::string AccelerationProblem::velocityName(int row) const { return nameOr(velocityNames, row, "velocity"); }
std::string AccelerationProblem::jointName(int row) const { return nameOr(jointNames, row, "constraint"); }
std::string AccelerationProblem::contactName(int contact) const { return nameOr(contactNames, contact, "contact"); }

void checkProblem(const AccelerationProblem& p) {
  const Eigen::Index n = p.F.size(), m = p.normalBias.size();
  const auto require = [](bool isTrue, const char* message) {
    if (!isTrue) throw std::invalid_argument(std::string("contact problem: ") + message);
  };
  require(p.M.rows() == n && p.M.cols() == n, "M and F do not fit");
  require(p.G.rows() == p.jointBias.size() && p.G.cols() == n, "G, its bias and F do not fit");
  require(p.N.rows() == m && p.H.rows() == m && p.N.cols() == n && p.H.cols() == n, "N, H, their bias and F do not fit");
  require(p.friction.size() == m && Eigen::Index(p.isBilateral.size()) == m, "each contact needs a coefficient and a kind");
  require(p.unit.size() == 0 || (p.unit.size() == n && (p.unit.array() > 0).all()), "units must be positive, one for each velocity");
  require(p.M.allFinite() && p.F.allFinite() && p.G.allFinite() && p.jointBias.allFinite() && p.N.allFinite() && p.H.allFinite() &&
              p.normalBias.allFinite() && p.friction.allFinite(),
          "a number is not finite");
  require((p.friction.array() >= 0).all(), "a coefficient of friction is negative");
  require((p.M - p.M.transpose()).norm() <= 1e-9 * p.M.norm(), "M is not symmetric");
  for (Eigen::Index i = 0; i < m; ++i) {
    if (p.N.row(i).isZero(0))
      throw std::invalid_argument(fmt::format("contact problem: {} moves nothing: its normal row is zero", p.contactName(int(i))));
  }
}

ContactSolution solveWithoutFriction(const AccelerationProblem& problem, Formulation formulation) {
  checkProblem(problem);
  ContactSolution solution;
  switch (formulation) {
  case Formulation::Kkt:
    solveKkt(problem, solution);
    break;
  case Formulation::NullSpace:
    solveNullSpace(problem, solution);
    break;
  case Formulation::Schur:
    solveSchur(problem, solution);
    break;
  case Formulation::QuadraticProgram:
    solveProgram(problem, solution);
    break;
  case Formulation::Lcp:
    solveEliminated(problem, solution);
    break;
  }
  if (solution.a.size() == 0) return solution;
  solution.residual = residualOf(problem, solution, VectorX::Zero(problem.contacts()));
  solution.isSolved = solution.residual <= 1e-8;
  return solution;
}

ConstrainedResponse::ConstrainedResponse(const AccelerationProblem& problem) : problem_(problem) {
  const RowSpace rows(problem.G, problem.unit, rankTolerance);
  rank_ = rows.rank;
  Z_ = rows.nullSpace;
  const VectorX start = rows.solve(-problem.jointBias);
  compatible_ = rows.isSolved(start, -problem.jointBias);
  free_ = start;
  freeModes_.resize(Z_.rows(), 0);
  const Eigen::Index n = Z_.cols();
  if (n == 0) return; // held altogether
  const Eigen::SelfAdjointEigenSolver<MatrixX> modes(Z_.transpose() * problem.M * Z_);
  const VectorX unit = problem.unit.size() ? problem.unit : VectorX(VectorX::Ones(problem.size()));
  const double heaviest = unit.cwiseAbs2().cwiseProduct(problem.M.diagonal()).maxCoeff();
  const double largest = std::max(modes.eigenvalues()[n - 1], heaviest);
  Eigen::Index massless = 0;
  while (massless < n && modes.eigenvalues()[massless] <= massTolerance * largest) ++massless;
  freeModes_ = Z_ * modes.eigenvectors().leftCols(massless);
  const MatrixX kept = modes.eigenvectors().rightCols(n - massless);
  inverse_ = kept * modes.eigenvalues().tail(n - massless).cwiseInverse().asDiagonal() * kept.transpose();
  free_ -= answer(problem.F + problem.M * start);
}

MatrixX ConstrainedResponse::answer(const MatrixX& forces) const {
  if (Z_.cols() == 0) return MatrixX::Zero(forces.rows(), forces.cols());
  return Z_ * (inverse_ * (Z_.transpose() * forces));
}

VectorX ConstrainedResponse::jointForces(const VectorX& a, const VectorX& f) const {
  if (problem_.joints() == 0) return {};
  return RowSpace(problem_.G.transpose(), {}, rankTolerance).solve(problem_.M * a + problem_.F - f);
}

SlidingProblem eliminate(const AccelerationProblem& p, const ConstrainedResponse& response) {
  if (!response.isRegular()) {
    Eigen::Index row = 0;
    response.freeModes().col(0).cwiseAbs().maxCoeff(&row);
    throw NumericalFailure(
        fmt::format("{} motions have no inertia, among them {}: contact forces do not follow; give the part a mass or hold it",
                    response.freeModes().cols(), p.velocityName(int(row))));
  }
  if (!response.isCompatible())
    throw NumericalFailure(
        "the joints contradict each other at this state: no acceleration agrees with all of them; look at driven joints");
  SlidingProblem sliding;
  const MatrixX normal = response.answer(p.N.transpose());
  sliding.A = p.N * normal;
  sliding.A = (0.5 * (sliding.A + sliding.A.transpose())).eval();
  sliding.T = normal.transpose() * p.H.transpose();
  sliding.w = p.N * response.free() + p.normalBias;
  sliding.friction = p.friction;
  sliding.isBilateral = p.isBilateral;
  sliding.mass = p.mass;
  for (int i = 0; i < p.contacts(); ++i) sliding.names.push_back(p.contactName(i));
  return sliding;
}

ContactSolution motionOf(const AccelerationProblem& p, const ConstrainedResponse& response, const VectorX& lambda) {
  ContactSolution solution;
  solution.lambda = lambda;
  const VectorX force = p.N.transpose() * lambda - p.H.transpose() * p.friction.cwiseProduct(lambda.cwiseAbs());
  solution.a = response.free() + response.answer(force);
  solution.jointForce = response.jointForces(solution.a, force);
  solution.residual = residualOf(p, solution, p.friction);
  solution.isSolved = solution.residual <= 1e-8;
  return solution;
}

}
