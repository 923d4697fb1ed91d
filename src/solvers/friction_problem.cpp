#include "tendril/solvers/friction_problem.h"

#include "friction_cone.h"
#include "friction_scale.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

namespace tendril {

namespace {

using Block = Eigen::Map<const Eigen::MatrixXd>;

int rowsOf(const FrictionProblem& problem, int contact) { return problem.laws[contact].size; }

const BlockMatrix::Block* findBlock(const BlockMatrix& W, int i, int j) {
  const auto begin = W.blocks.begin() + W.start[i], end = W.blocks.begin() + W.start[i + 1];
  const auto found = std::lower_bound(begin, end, j, [](const BlockMatrix::Block& block, int column) { return block.column < column; });
  return found != end && found->column == j ? &*found : nullptr;
}

Block blockAt(const FrictionProblem& problem, int i, const BlockMatrix::Block& block) {
  return {problem.W.values.data() + block.offset, rowsOf(problem, i), rowsOf(problem, block.column)};
}

std::string defectOfLaw(const FrictionLaw& law, int i) {
  if (law.size < 1 || law.size > FrictionLaw::maxSize)
    return fmt::format("contact {}: {} rows; a contact has 1 to {}", i, law.size, FrictionLaw::maxSize);
  if (law.discCount < 0 || law.discCount > int(law.discs.size()))
    return fmt::format("contact {}: {} friction discs; a contact has at most {}", i, law.discCount, law.discs.size());
  if (law.kind == FrictionLaw::Kind::Bilateral && law.discCount > 0)
    return fmt::format("contact {}: a bilateral contact has no friction; remove its discs", i);
  std::array<bool, FrictionLaw::maxSize> taken{true};
  for (int d = 0; d < law.discCount; ++d) {
    const FrictionDisc& disc = law.discs[d];
    if (!std::isfinite(disc.coefficient) || disc.coefficient < 0)
      return fmt::format("contact {}: the friction coefficient is {}; it must be finite and not negative", i, disc.coefficient);
    if (disc.first < 1 || disc.size < 1 || disc.first + disc.size > law.size)
      return fmt::format("contact {}: a friction disc takes rows {} to {}, but the tangential rows are 1 to {}", i, disc.first,
                         disc.first + disc.size - 1, law.size - 1);
    for (int k = disc.first; k < disc.first + disc.size; ++k) {
      if (taken[k]) return fmt::format("contact {}: two friction discs share row {}; each needs rows of its own", i, k);
      taken[k] = true;
    }
  }
  return {};
}

std::string defectOfLayout(const FrictionProblem& problem) {
  const int n = problem.contacts();
  if (n == 0 && problem.firstRow.empty()) return problem.q.size() == 0 ? std::string() : "q has rows, but there are no contacts";
  if (int(problem.firstRow.size()) != n + 1) return "the first rows of the contacts are not laid out; call layOut() after the laws are set";
  int row = 0;
  for (int i = 0; i < n; row += problem.laws[i++].size)
    if (problem.firstRow[i] != row)
      return fmt::format("contact {}: its first row is {}, its law says {}; call layOut() again", i, problem.firstRow[i], row);
  if (problem.firstRow[n] != row) return "the number of rows does not agree with the laws; call layOut() again";
  if (problem.q.size() != row) return fmt::format("q has {} rows, the contacts have {}", problem.q.size(), row);
  for (int i = 0; i < n; ++i)
    if (!problem.q.segment(problem.firstRow[i], rowsOf(problem, i)).allFinite())
      return fmt::format("contact {}: the relative velocity q is not finite", i);
  return {};
}

/// A block on the diagonal must be positive semidefinite up to the errors that files carry.
std::string defectOfDiagonal(const Eigen::MatrixXd& D, int i) {
  if (!D.allFinite()) return fmt::format("contact {}: its block of W is not finite", i);
  const Eigen::MatrixXd symmetric = 0.5 * (D + D.transpose());
  const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(symmetric, Eigen::EigenvaluesOnly).eigenvalues();
  const double least = values.minCoeff(), largest = values.cwiseAbs().maxCoeff();
  if (least < -1e-8 * largest)
    return fmt::format(
        "contact {}: its block of W has the eigenvalue {:.3g} (the largest is {:.3g}); W must be positive semidefinite, check the "
        "masses and the sign of W",
        i, least, largest);
  return {};
}

std::string defectOfStructure(const FrictionProblem& problem) {
  const BlockMatrix& W = problem.W;
  const int n = problem.contacts();
  if (int(W.start.size()) != n + 1 || W.start[0] != 0 || W.start[n] != int(W.blocks.size()))
    return fmt::format("W has {} rows of blocks and {} blocks that do not fit {} contacts", int(W.start.size()) - 1, W.blocks.size(), n);
  for (int i = 0; i < n; ++i) {
    if (W.start[i + 1] < W.start[i]) return fmt::format("contact {}: its row of W ends before it starts", i);
    for (int b = W.start[i]; b < W.start[i + 1]; ++b) {
      const int j = W.blocks[b].column;
      if (j < 0 || j >= n) return fmt::format("contact {}: a block of W couples it with contact {}, which is none of 0 to {}", i, j, n - 1);
      if (b > W.start[i] && W.blocks[b - 1].column >= j) return fmt::format("contact {}: the columns of its blocks of W do not ascend", i);
      if (W.blocks[b].offset + std::size_t(rowsOf(problem, i)) * rowsOf(problem, j) > W.values.size())
        return fmt::format("contacts {} and {}: their block of W lies outside the values", i, j);
    }
  }
  return {};
}

std::string defectOfBlocks(const FrictionProblem& problem) {
  if (const std::string defect = defectOfStructure(problem); !defect.empty()) return defect;
  const BlockMatrix& W = problem.W;
  Eigen::VectorXd size(problem.contacts());
  for (int i = 0; i < problem.contacts(); ++i) {
    const BlockMatrix::Block* diagonal = findBlock(W, i, i);
    if (!diagonal) return fmt::format("contact {}: W has no block on the diagonal", i);
    const Block D = blockAt(problem, i, *diagonal);
    if (const std::string defect = defectOfDiagonal(D, i); !defect.empty()) return defect;
    size[i] = D.norm();
  }
  constexpr double tolerated = 1e-2; // public files carry errors up to 1e-3
  for (int i = 0; i < problem.contacts(); ++i)
    for (int b = W.start[i]; b < W.start[i + 1]; ++b) {
      const int j = W.blocks[b].column;
      const Block ij = blockAt(problem, i, W.blocks[b]);
      if (!ij.allFinite()) return fmt::format("contacts {} and {}: their block of W is not finite", i, j);
      const BlockMatrix::Block* mirrored = findBlock(W, j, i);
      const double difference = mirrored ? (ij - blockAt(problem, j, *mirrored).transpose()).norm() : ij.norm();
      if (difference > tolerated * std::sqrt(size[i] * size[j]))
        return fmt::format(
            "contacts {} and {}: their blocks of W differ by {:.3g} from being symmetric; W must be symmetric, check the order of "
            "the entries (column by column)",
            i, j, difference / std::sqrt(size[i] * size[j]));
    }
  return {};
}

std::string defectOfBodies(const FrictionProblem& problem) {
  const FrictionBodies& bodies = problem.bodies;
  const int count = int(bodies.inverseInertia.size());
  if (int(bodies.touched.size()) != problem.contacts())
    return fmt::format("{} pairs of bodies for {} contacts", bodies.touched.size(), problem.contacts());
  if (bodies.H.rows() != problem.rows()) return fmt::format("H has {} rows, the contacts have {}", bodies.H.rows(), problem.rows());
  for (int b = 0; b < count; ++b) {
    const Eigen::Matrix<double, 6, 6>& inverse = bodies.inverseInertia[b];
    if (!inverse.allFinite()) return fmt::format("body {}: its inverse inertia is not finite; a body needs a positive mass", b);
    if ((inverse - inverse.transpose()).norm() > 1e-8 * inverse.norm())
      return fmt::format("body {}: its inverse inertia is not symmetric", b);
    const Eigen::VectorXd scale =
        inverse.diagonal().cwiseMax(0).cwiseSqrt().cwiseInverse().unaryExpr([](double s) { return std::isfinite(s) ? s : 0; });
    const Eigen::MatrixXd scaled = scale.asDiagonal() * inverse * scale.asDiagonal();
    if (inverse.diagonal().minCoeff() < 0 ||
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scaled, Eigen::EigenvaluesOnly).eigenvalues().minCoeff() < -1e-8)
      return fmt::format("body {}: its inverse inertia is not positive semidefinite; check mass and inertia", b);
  }
  for (int i = 0; i < problem.contacts(); ++i) {
    for (int side = 0; side < 2; ++side) {
      const int body = bodies.touched[i][side];
      if (body >= count) return fmt::format("contact {}: it touches body {}, which is none of 0 to {}", i, body, count - 1);
    }
    if (!bodies.H.middleRows(problem.firstRow[i], rowsOf(problem, i)).allFinite())
      return fmt::format("contact {}: its rows of H are not finite", i);
  }
  return {};
}

/// H_i A^-1 of one side of a contact.
Eigen::MatrixXd half(const FrictionProblem& problem, int i, int side) {
  const FrictionBodies& bodies = problem.bodies;
  const int body = bodies.touched[i][side];
  return bodies.H.block(problem.firstRow[i], 6 * side, rowsOf(problem, i), 6) * bodies.inverseInertia[body];
}

/// W_ij of two contacts, from the bodies they share.
Eigen::MatrixXd couple(const FrictionProblem& problem, int i, int j) {
  const FrictionBodies& bodies = problem.bodies;
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(rowsOf(problem, i), rowsOf(problem, j));
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b)
      if (bodies.touched[i][a] >= 0 && bodies.touched[i][a] == bodies.touched[j][b])
        W += half(problem, i, a) * bodies.H.block(problem.firstRow[j], 6 * b, rowsOf(problem, j), 6).transpose();
  return W;
}

void velocitiesOfBodies(const FrictionProblem& problem, const Eigen::VectorXd& r, Eigen::VectorXd& u) {
  const FrictionBodies& bodies = problem.bodies;
  const auto lever = [&](int i, int side) { return bodies.H.block(problem.firstRow[i], 6 * side, rowsOf(problem, i), 6); };
  static thread_local std::vector<Eigen::Matrix<double, 6, 1>> motion; // kept: this is asked in every step
  motion.assign(bodies.inverseInertia.size(), Eigen::Matrix<double, 6, 1>::Zero());
  for (int i = 0; i < problem.contacts(); ++i)
    for (int side = 0; side < 2; ++side)
      if (const int body = bodies.touched[i][side]; body >= 0)
        motion[body].noalias() += lever(i, side).transpose() * r.segment(problem.firstRow[i], rowsOf(problem, i));
  for (std::size_t b = 0; b < motion.size(); ++b) motion[b] = bodies.inverseInertia[b] * motion[b];
  for (int i = 0; i < problem.contacts(); ++i)
    for (int side = 0; side < 2; ++side)
      if (const int body = bodies.touched[i][side]; body >= 0)
        u.segment(problem.firstRow[i], rowsOf(problem, i)).noalias() += lever(i, side) * motion[body];
}

}

void FrictionProblem::layOut() {
  firstRow.resize(laws.size() + 1);
  firstRow[0] = 0;
  for (std::size_t i = 0; i < laws.size(); ++i) firstRow[i + 1] = firstRow[i] + laws[i].size;
}

std::string findDefect(const FrictionProblem& problem) {
  for (int i = 0; i < problem.contacts(); ++i)
    if (const std::string defect = defectOfLaw(problem.laws[i], i); !defect.empty()) return defect;
  if (const std::string defect = defectOfLayout(problem); !defect.empty() || problem.contacts() == 0) return defect;
  return problem.hasBodies() ? defectOfBodies(problem) : defectOfBlocks(problem);
}

void velocities(const FrictionProblem& problem, const Eigen::VectorXd& r, Eigen::VectorXd& u) {
  u = problem.q;
  if (problem.hasBodies()) return velocitiesOfBodies(problem, r, u);
  for (int i = 0; i < problem.contacts(); ++i)
    for (int b = problem.W.start[i]; b < problem.W.start[i + 1]; ++b) {
      const BlockMatrix::Block& block = problem.W.blocks[b];
      u.segment(problem.firstRow[i], rowsOf(problem, i)).noalias() +=
          blockAt(problem, i, block) * r.segment(problem.firstRow[block.column], rowsOf(problem, block.column));
    }
}

BlockMatrix delassus(const FrictionProblem& problem) {
  if (!problem.hasBodies()) return problem.W;
  const FrictionBodies& bodies = problem.bodies;
  std::vector<std::vector<int>> contactsOf(bodies.inverseInertia.size());
  for (int i = 0; i < problem.contacts(); ++i)
    for (int side = 0; side < 2; ++side)
      if (const int body = bodies.touched[i][side]; body >= 0) contactsOf[body].push_back(i);

  BlockMatrix W;
  W.start.push_back(0);
  std::vector<int> columns;
  for (int i = 0; i < problem.contacts(); ++i) {
    columns.assign(1, i);
    for (int side = 0; side < 2; ++side)
      if (const int body = bodies.touched[i][side]; body >= 0)
        columns.insert(columns.end(), contactsOf[body].begin(), contactsOf[body].end());
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const int j : columns) {
      const Eigen::MatrixXd block = couple(problem, i, j);
      W.blocks.push_back({j, W.values.size()});
      W.values.insert(W.values.end(), block.data(), block.data() + block.size());
    }
    W.start.push_back(int(W.blocks.size()));
  }
  return W;
}

FrictionResidual frictionResidual(const FrictionProblem& problem, const Eigen::VectorXd& r, const Eigen::VectorXd& u) {
  FrictionResidual residual;
  double published = 0, scaled = 0, worst = -1;
  double diagonal[FrictionLaw::maxSize], scale[FrictionLaw::maxSize], x[FrictionLaw::maxSize], v[FrictionLaw::maxSize];
  for (int i = 0; i < problem.contacts(); ++i) {
    const int first = problem.firstRow[i];
    diagonalOf(problem, i, diagonal);
    const double mass = scalesOf(problem.laws[i], diagonal, scale);
    const FrictionLaw unitless = scaledLaw(problem.laws[i], scale);
    for (int k = 0; k < unitless.size; ++k) {
      x[k] = r[first + k] / scale[k];
      v[k] = u[first + k] * scale[k];
    }
    const double share = squaredNaturalMap(unitless, x, v) / mass;
    published += squaredNaturalMap(problem.laws[i], &r[first], &u[first]);
    scaled += share;
    if (!(share <= worst)) {
      worst = share;
      residual.worst = i;
    }
  }
  const double size = problem.q.norm();
  residual.published = std::sqrt(published) / (size > 0 ? size : 1);
  residual.scaled = std::sqrt(scaled) / (size > 0 ? size : 1);
  return residual;
}

}
