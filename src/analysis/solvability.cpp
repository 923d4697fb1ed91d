#include "tendril/analysis/solvability.h"

#include "analysis/equalities.h"
#include "analysis/null_space_basis.h"
#include "tendril/solvers/lcp.h"
#include "tendril/solvers/rank.h"

#include <algorithm>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tendril {
namespace {

constexpr std::size_t shownNames = 6;

/// Distinct names, with how many are left out.
std::string list(std::vector<std::string> names) {
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::size_t all = names.size();
  if (all > shownNames) names.resize(shownNames);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (all > shownNames) text += fmt::format(" and {} more", all - shownNames);
  return text;
}

class Judgement {
 public:
  explicit Judgement(const AccelerationProblem& problem)
      : p(problem), held(problem), J(held.J), c(held.c), bilateral(held.bilateral), unilateral(held.unilateral) {}

  Solvability run() {
    s.rankTolerance = ConstrainedResponse::rankTolerance;
    s.massTolerance = ConstrainedResponse::massTolerance;
    judgeRank();
    judgeInertia();
    judgeExistence();
    s.isForceUnique = s.isAccelerationUnique = s.freeModes == 0 && s.isAdmissible;
    s.areMultipliersUnique = s.isForceUnique && s.redundant.empty() && s.redundantContacts.empty();
    say();
    return s;
  }

 private:
  void judgeRank() {
    const RowSpace rows(J, p.unit, s.rankTolerance);
    s.rank = rows.rank;
    s.rows = int(J.rows());
    s.degreesOfFreedom = p.size() - s.rank;
    s.smallestKept = rows.smallestKept, s.largestDropped = rows.largestDropped;
    s.isCompatible = rows.isSolved(rows.solve(-c), -c);
    // Joints first, so that of what depends on each other contacts are named.
    const MatrixX all = stacked(J, pickRows(p.N, unilateral));
    const MatrixX scaled = p.unit.size() ? MatrixX(all * p.unit.asDiagonal()) : all;
    for (const int row : findDependentRows(scaled.sparseView(), s.rankTolerance).dependentRows) {
      if (row < p.joints())
        s.redundant.push_back(row);
      else if (row < J.rows())
        s.redundantContacts.push_back(bilateral[std::size_t(row - p.joints())]);
      else
        s.redundantContacts.push_back(unilateral[std::size_t(row - J.rows())]);
    }
    std::sort(s.redundantContacts.begin(), s.redundantContacts.end());
  }

  void judgeInertia() {
    AccelerationProblem fixed = p;
    fixed.G = J, fixed.jointBias = c;
    const ConstrainedResponse response(fixed);
    free = response.freeModes();
    s.freeModes = int(free.cols());
    s.kktRank = 2 * s.rank + p.size() - s.rank - s.freeModes;
    for (Eigen::Index k = 0; k < free.cols(); ++k) {
      Eigen::Index row = 0;
      (p.unit.size() ? VectorX(free.col(k).cwiseQuotient(p.unit)) : VectorX(free.col(k))).cwiseAbs().maxCoeff(&row);
      s.freeMotions.push_back(p.velocityName(int(row)));
    }
  }

  void judgeExistence() {
    s.isAdmissible = s.isCompatible && (unilateral.empty() || isReachable());
    s.isSolvable = s.isAdmissible && (s.freeModes == 0 || (!unilateral.empty() && areFreeMotionsHeld()));
  }

  /// Whether J a = -c and N a >= -c have a common solution: the projection of zero on them exists.
  bool isReachable() const {
    const Eigen::Index n = p.size();
    const VectorX unit = p.unit.size() ? p.unit : VectorX::Ones(n);
    QuadraticProgram program{
        MatrixX::Identity(n, n), VectorX::Zero(n), stacked(J, pickRows(p.N, unilateral)) * unit.asDiagonal(), {}, s.rows};
    program.b.resize(program.N.rows());
    program.b.head(s.rows) = -c;
    program.b.tail(Eigen::Index(unilateral.size())) = -pick(p.normalBias, unilateral);
    return solveProximal(program).status == PivotStatus::Solved;
  }

  /// Whether B y >= 0 implies y = 0, B = N times the free motions: by Stiemke's theorem iff B has independent columns and some mu > 0 has
  /// B^T mu = 0.
  bool areFreeMotionsHeld() const {
    const MatrixX B = pickRows(p.N, unilateral) * free;
    const Eigen::Index m = B.rows();
    if (RowSpace(B, {}, s.rankTolerance).rank < B.cols()) return false;
    QuadraticProgram program{MatrixX::Identity(m, m), VectorX::Zero(m), stacked(B.transpose(), MatrixX::Identity(m, m)),
                             VectorX::Zero(B.cols() + m), int(B.cols())};
    program.b.tail(m).setOnes();
    return solveProximal(program).status == PivotStatus::Solved;
  }

  void say() {
    std::vector<std::string> joints, contacts;
    for (const int row : s.redundant) joints.push_back(p.jointName(row));
    for (const int i : s.redundantContacts) contacts.push_back(p.contactName(i));
    if (!s.isCompatible)
      s.sentences.push_back("The bilateral constraints contradict each other: no acceleration agrees with all of them, see " +
                            (joints.empty() ? list(contacts) : list(joints)) + ".");
    else if (!s.isAdmissible)
      s.sentences.push_back("No acceleration agrees with all joints and contacts.");
    if (s.freeModes > 0)
      s.sentences.push_back(
          fmt::format("{} motion{} neither inertia nor constraint, among them {}: accelerations are not unique; give the part a "
                      "mass or hold it.",
                      s.freeModes, s.freeModes > 1 ? "s have" : " has", list(s.freeMotions)));
    if (s.freeModes > 0 && !s.isSolvable) s.sentences.push_back("For some forces no acceleration exists.");
    if (s.isAccelerationUnique)
      s.sentences.push_back("Without friction, accelerations and the forces of constraints on the bodies are unique.");
    if (!joints.empty())
      s.sentences.push_back(fmt::format("{} equation{} of joints {} redundant: how the load is shared with {} is not determined.",
                                        joints.size(), joints.size() > 1 ? "s" : "", joints.size() > 1 ? "are" : "is", list(joints)));
    if (!contacts.empty())
      s.sentences.push_back("How forces are shared among contacts is not determined: " + list(contacts) + " could be left out.");
  }

  const AccelerationProblem& p;
  const Equalities held;
  const MatrixX& J;
  const VectorX& c;
  const std::vector<int>&bilateral, &unilateral;
  MatrixX free;
  Solvability s;
};

}

Solvability judge(const AccelerationProblem& problem) {
  checkProblem(problem);
  return Judgement(problem).run();
}

}
