#pragma once
#include "tendril/solvers/friction_problem.h"

#include <cmath>
#include <random>

#include <Eigen/Dense>

namespace tendril::test {

/// W as one dense matrix.
inline Eigen::MatrixXd denseW(const FrictionProblem& problem) {
  const BlockMatrix W = delassus(problem);
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(problem.rows(), problem.rows());
  for (int i = 0; i < problem.contacts(); ++i)
    for (int b = W.start[i]; b < W.start[i + 1]; ++b) {
      const int j = W.blocks[b].column;
      dense.block(problem.firstRow[i], problem.firstRow[j], problem.laws[i].size, problem.laws[j].size) =
          Eigen::Map<const Eigen::MatrixXd>(W.values.data() + W.blocks[b].offset, problem.laws[i].size, problem.laws[j].size);
    }
  return dense;
}

/// A problem of full blocks.
inline FrictionProblem denseProblem(const std::vector<FrictionLaw>& laws, const Eigen::MatrixXd& W, const Eigen::VectorXd& q) {
  FrictionProblem problem;
  problem.laws = laws;
  problem.layOut();
  problem.q = q;
  problem.W.start.push_back(0);
  for (int i = 0; i < problem.contacts(); ++i) {
    for (int j = 0; j < problem.contacts(); ++j) {
      const Eigen::MatrixXd block = W.block(problem.firstRow[i], problem.firstRow[j], laws[i].size, laws[j].size);
      problem.W.blocks.push_back({j, problem.W.values.size()});
      problem.W.values.insert(problem.W.values.end(), block.data(), block.data() + block.size());
    }
    problem.W.start.push_back(int(problem.W.blocks.size()));
  }
  return problem;
}

inline Eigen::MatrixXd randomMatrix(int rows, int columns, std::mt19937& engine) {
  std::normal_distribution<double> value;
  return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return value(engine); });
}

/// Bodies of random inertia and contacts of random levers between them and with the ground; q = H v of some motion, so that a solution
/// exists.
inline FrictionProblem randomBodies(int bodies, const std::vector<FrictionLaw>& laws, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_int_distribution<int> pick(-1, bodies - 1);
  FrictionProblem problem;
  problem.laws = laws;
  problem.layOut();
  for (int b = 0; b < bodies; ++b) {
    const Eigen::MatrixXd root = randomMatrix(6, 8, engine);
    problem.bodies.inverseInertia.push_back(root * root.transpose() / 8);
  }
  problem.bodies.H.setZero(problem.rows(), 12);
  const Eigen::MatrixXd motion = randomMatrix(6, bodies, engine);
  problem.q.setZero(problem.rows());
  for (int i = 0; i < problem.contacts(); ++i) {
    int first = pick(engine), second = pick(engine);
    if (first < 0) first = 0;
    if (second == first) second = -1;
    problem.bodies.touched.push_back({first, second});
    const int row = problem.firstRow[i], size = laws[i].size;
    problem.bodies.H.block(row, 0, size, 6) = randomMatrix(size, 6, engine);
    problem.q.segment(row, size) += problem.bodies.H.block(row, 0, size, 6) * motion.col(first);
    if (second < 0) continue;
    problem.bodies.H.block(row, 6, size, 6) = randomMatrix(size, 6, engine);
    problem.q.segment(row, size) += problem.bodies.H.block(row, 6, size, 6) * motion.col(second);
  }
  return problem;
}

/// The same problem with W in blocks.
inline FrictionProblem inBlocks(const FrictionProblem& problem) {
  FrictionProblem blocks = problem;
  blocks.W = delassus(problem);
  blocks.bodies = {};
  return blocks;
}

/// N equal bodies of unit mass on top of one another on the ground, pressed down by a unit impulse each; frictionless in effect, since
/// nothing pushes along the surfaces. The impulses are N, N - 1, ..., 1 from the ground up.
inline FrictionProblem column(int bodies, double mu = 0.5) {
  FrictionProblem problem;
  problem.laws.assign(bodies, FrictionLaw::coulomb(mu));
  problem.layOut();
  problem.q.setZero(problem.rows());
  problem.bodies.inverseInertia.assign(bodies, Eigen::Matrix<double, 6, 6>::Identity());
  problem.bodies.H.setZero(problem.rows(), 12);
  for (int i = 0; i < bodies; ++i) {
    problem.bodies.touched.push_back({i, i - 1});
    problem.bodies.H.block<3, 3>(3 * i, 0).setIdentity();
    if (i > 0) problem.bodies.H.block<3, 3>(3 * i, 6) = -Eigen::Matrix3d::Identity();
  }
  problem.q[0] = -1; // all fall alike: no relative velocity but to the ground
  return problem;
}

/// How far (u, r) is from the law of M. Coulomb's three statements, for discs of any number: normal velocity and impulse, complementarity,
/// impulses inside the discs, and dissipation |u_i| mu_i r_n = -u_i . r_i. Zero exactly at solutions.
inline double lawDefect(const FrictionLaw& law, const Eigen::VectorXd& u, const Eigen::VectorXd& r) {
  if (law.kind == FrictionLaw::Kind::Bilateral) return u.norm();
  double defect = std::max({0.0, -u[0], -r[0], std::abs(u[0] * r[0])});
  for (int d = 0; d < law.discCount; ++d) {
    const FrictionDisc& disc = law.discs[d];
    const auto slip = u.segment(disc.first, disc.size), friction = r.segment(disc.first, disc.size);
    defect =
        std::max({defect, friction.norm() - disc.coefficient * r[0], std::abs(disc.coefficient * r[0] * slip.norm() + slip.dot(friction))});
  }
  return defect;
}

inline double lawDefect(const FrictionProblem& problem, const Eigen::VectorXd& u, const Eigen::VectorXd& r) {
  double defect = 0;
  for (int i = 0; i < problem.contacts(); ++i) {
    const int row = problem.firstRow[i], size = problem.laws[i].size;
    defect = std::max(defect, lawDefect(problem.laws[i], u.segment(row, size), r.segment(row, size)));
  }
  return defect;
}

}
