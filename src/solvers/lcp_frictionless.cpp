#include "solvers/pivoted_cholesky.h"
#include "tendril/solvers/friction_reduction.h"
#include "tendril/solvers/lcp.h"

#include <Eigen/QR>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tendril {

namespace {

/// The rows that matter without friction.
struct NormalProblem {
  std::vector<int> bilateral, normal; ///< rows of the friction problem
  Eigen::MatrixXd W;                  ///< of these rows, bilateral first; symmetric
  Eigen::VectorXd q;
};

NormalProblem normalProblem(const FrictionProblem& problem) {
  NormalProblem reduced;
  for (int i = 0; i < problem.contacts(); ++i) {
    const FrictionLaw& law = problem.laws[i];
    if (law.kind == FrictionLaw::Kind::Bilateral) {
      for (int row = 0; row < law.size; ++row) reduced.bilateral.push_back(problem.firstRow[i] + row);
      continue;
    }
    for (int disc = 0; disc < law.discCount; ++disc)
      if (law.discs[disc].coefficient != 0)
        throw std::invalid_argument(
            fmt::format("contact {} has friction (coefficient {}): methods for frictionless contact do not apply; use "
                        "the friction solver",
                        i, law.discs[disc].coefficient));
    reduced.normal.push_back(problem.firstRow[i]);
  }
  std::vector<int> rows = reduced.bilateral;
  rows.insert(rows.end(), reduced.normal.begin(), reduced.normal.end());
  const Eigen::MatrixXd W = Eigen::MatrixXd(toSparse(problem))(rows, rows);
  reduced.W = 0.5 * (W + W.transpose());
  reduced.q = problem.q(rows);
  return reduced;
}

/// u = L y + q >= 0 with y of least norm; y = L^T r.
FrictionlessReport byActiveSet(const NormalProblem& problem, Eigen::VectorXd& impulses) {
  const Eigen::MatrixXd L = pivotedCholesky(problem.W, 1e-13 * double(problem.W.rows()));
  QuadraticProgram program;
  program.A = Eigen::MatrixXd::Identity(L.cols(), L.cols());
  program.v0 = Eigen::VectorXd::Zero(L.cols());
  program.N = L;
  program.b = -problem.q;
  program.equalities = int(problem.bilateral.size());
  const ProximalPoint point = solveProximal(program);
  impulses = point.lambda;
  return {point.status, point.pivots, point.message};
}

/// Eliminates the bilateral rows, r_b = -W_bb^+ (W_bn r_n + q_b).
FrictionlessReport byLemke(const NormalProblem& problem, Eigen::VectorXd& impulses) {
  const Eigen::Index b = Eigen::Index(problem.bilateral.size()), n = Eigen::Index(problem.normal.size());
  const Eigen::MatrixXd Wbn = problem.W.topRightCorner(b, n);
  Eigen::MatrixXd M = problem.W.bottomRightCorner(n, n);
  Eigen::VectorXd q = problem.q.tail(n);
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> held;
  if (b > 0) {
    held.setThreshold(1e-12);
    held.compute(problem.W.topLeftCorner(b, b));
    M -= Wbn.transpose() * held.solve(Wbn);
    q -= Wbn.transpose() * held.solve(problem.q.head(b));
  }
  const LcpResult solution = solveLcp(M, q);
  impulses.resize(b + n);
  impulses.tail(n) = solution.z;
  if (b > 0) impulses.head(b) = -held.solve(Wbn * solution.z + problem.q.head(b));
  return {solution.status, solution.pivots, solution.message};
}

}

FrictionlessReport solveFrictionless(const FrictionProblem& problem, FrictionlessMethod method, Eigen::VectorXd& r) {
  const NormalProblem reduced = normalProblem(problem);
  Eigen::VectorXd impulses;
  const FrictionlessReport report = method == FrictionlessMethod::Lemke ? byLemke(reduced, impulses) : byActiveSet(reduced, impulses);
  r = Eigen::VectorXd::Zero(problem.rows());
  r(reduced.bilateral) = impulses.head(Eigen::Index(reduced.bilateral.size()));
  r(reduced.normal) = impulses.tail(Eigen::Index(reduced.normal.size()));
  return report;
}

}
