#pragma once
#include "control/muscles.h"
#include "control/node_space.h"
#include "tendril/control/controlled_path.h"

#include <array>
#include <deque>

namespace tendril {

/// Values of a dense block among those of a sparse matrix, column after column.
struct DenseBlock {
  Eigen::Index offset = -1, rows = 0, columns = 0;
  bool exists() const { return offset >= 0; }
  Eigen::Map<MatrixX> of(VectorX& values) const { return {values.data() + offset, rows, columns}; }
};

/// The lower triangle of a symmetric block.
struct SymmetricBlock {
  Eigen::Index offset = -1, size = 0;
  void write(const MatrixX& H, VectorX& values) const {
    Eigen::Index at = offset;
    for (Eigen::Index c = 0; c < size; ++c)
      for (Eigen::Index r = c; r < size; ++r) values[at++] = 0.5 * (H(r, c) + H(c, r));
  }
};

/// The program of a path: what it consists of (path_layout.cpp), its derivatives (path_derivatives.cpp), its values and its motion
/// (controlled_path.cpp).
struct ControlledPath::Impl {
  /// Momenta that meet at a node: those of the intervals beside it, of its velocities, given ones, impulses.
  struct Balance {
    int node = 0, row = 0;
    bool takesBefore = false, takesAfter = false; ///< the intervals
    int velocitySign = 0;                         ///< of M q'
    VectorX w, lambda;                            ///< the bracket; its multipliers
    VectorX a;                                    ///< P mu
    MatrixX E, ER;                                ///< in the units of q; scaled, for the part of the residual
    MatrixX power;                                ///< d(a^T B^T)/dq
    SparseMatrix W;                               ///< dw/dq of the node without the constraints' part
    VectorX dwdh, kinetic;                        ///< by the size of the interval; the part of w that is mass times velocity
    VectorX controlSum;                           ///< of the intervals taken
    DenseBlock byBefore, byNode, byAfter, byControlBefore, byControl, byVelocity, byDuration;
  };
  struct Impulse {
    int contact = 0, node = 0, balance = 0, variable = 0;
    int first = 0; ///< place among the impulses of the node
    VectorX value;
    DenseBlock byImpulse, impulseNode;
  };
  struct Node {
    explicit Node(NodeSpace space_) : space(std::move(space_)) {}
    NodeSpace space;
    MatrixX P;            ///< basis in the units of q
    MatrixX Bt;           ///< B^T
    VectorX gradient;     ///< of the Lagrangian
    SparseMatrix H;       ///< of the Lagrangian
    VectorX actionByStep; ///< derivative by h of the part of `gradient` that comes from balances
    VectorX velocity;     ///< empty without
    int first = 0, control = -1, velocityVariable = -1, velocityRow = -1;
    std::vector<int> balances, impulses;
    SymmetricBlock nodeNode;
    DenseBlock controlNode, nodeControlBefore, nodeNodeBefore, durationNode, durationControl, velocityNode;
    std::vector<Eigen::Index> constraintByVelocity; ///< values of G among those of the Jacobian, in the order of its storage
    DenseBlock constraintByNode;
  };
  struct Interval {
    SparseMatrix beginByEnd, endByBegin; ///< of the balances at its ends, by the other end
    SparseMatrix curvature;              ///< d2(a . w)/dq_n dq_{n+1} (and its transpose)
    SymmetricBlock effort;
    Eigen::Index effortByUnit = -1;
    int beginBalance = -1, endBalance = -1;
    // Of muscles; empty without.
    VectorX rate;                 ///< (q_{n+1} - q_n) / h
    MatrixX beginBt, endBt;       ///< df/da at both ends
    MatrixX beginPower, endPower; ///< d2(a . w)/dq dtau by both ends
  };
  struct PlacedCondition {
    const PathCondition* condition;
    int node = 0, other = 0, row = 0;
    bool isEquality = false;
    bool isUnit = false; ///< phi - s = 0
    DenseBlock byNode, byOther;
    std::vector<Eigen::Index> entries; ///< of places that are no coordinates, among the values of the Jacobian
    Eigen::Index byUnit = -1;
    /// Second derivatives of a product that are not among those of the nodes.
    struct Coupling {
      DenseBlock block;
      bool isNodeRow = false;
    };
    std::vector<Coupling> couplings; ///< one for each product
  };

  Impl(const DirectorSystem& system_, ControlProblem problem_, const std::vector<VectorX>& guess, const MatrixX& controls_);

  // ---- path_layout.cpp
  void check(const std::vector<VectorX>& guess) const;
  void checkContacts() const;
  void expandContacts();
  void layOut();
  void placeVariables();
  void placeBalances();
  double impulseUnit() const;
  void layOutBalance(Balance& balance);
  void layOutVelocity(int k);
  void layOutConditions();
  void layOutCondition(PlacedCondition p, int stage);
  void layOutBounds();
  void layOutHessian();
  void layOutCouplings(PlacedCondition& p);

  // ---- path_derivatives.cpp
  void findMatrices();
  void findMultipliers(const ProgramMultipliers& multipliers);
  void findActionByStep();
  void addCurvatures();
  void writeJacobians(ProgramDerivatives& d);
  void writeGradient(ProgramDerivatives& d);
  void writeHessian(const ProgramMultipliers& multipliers, ProgramDerivatives& d);
  void writeNode(int k, const ProgramMultipliers& multipliers, VectorX& values);
  void writeEffort(int k, double weight, VectorX& values);
  void writeProducts(const ProgramMultipliers& multipliers, VectorX& values);
  void writeDuration(const ProgramMultipliers& multipliers, VectorX& values);
  void gradientOf(const PlacedCondition& p, double scale);

  // ---- controlled_path.cpp
  bool findBalances();
  void findBalance(Balance& balance, VectorX& w);
  VectorX admit(int k, const VectorX& momentum); ///< q' of a momentum at a node, with the contacts that stand after it
  double value(const PlacedCondition& p) const;
  double number(const PathPlace& place, const PlacedCondition& p) const;
  double effort(int interval) const;
  void addMuscles(Balance& balance); ///< to the derivatives of w
  void findMusclePower();
  void addMuscleCurvatures();
  const VectorX& rateOf(int interval); ///< (q_{n+1} - q_n) / h
  /// B^T of a node in one of the intervals beside it.
  const MatrixX& columns(int node, int interval);
  double totalCost() const; ///< T w_T + sum of efforts

  int nodeOf(const PathPlace& place, const PlacedCondition& p) const { return place.atOther ? p.other : p.node; }
  int variableOf(const PathPlace& place, const PlacedCondition& p) const;
  /// The impulse that a place reads, -1 if there is none.
  int impulseAt(const PathPlace& place, int k) const;
  double weightOf(const PlacedCondition& p, const ProgramMultipliers& multipliers) const {
    return p.isEquality ? multipliers.equality[p.row] : multipliers.inequality[p.row];
  }
  double time(int k) const { return k * problem.duration / problem.intervals; }
  double h() const { return duration / problem.intervals; }
  int N() const { return problem.intervals; }
  int variable(int k) const { return nodes[std::size_t(k)].first; }
  int controlVariable(int k) const { return nodes[std::size_t(k)].control; }
  const VectorX& q(int k) const { return nodes[std::size_t(k)].space.q(); }

  const DirectorSystem& system;
  ControlProblem problem;
  Actuation actuation;
  Muscles muscles;
  DiscreteLagrangian lagrangian;
  int n, r = 0, nu;
  std::vector<int> rows; ///< constraints that are kept
  std::vector<int> velocityRowOf;
  std::vector<Node> nodes;
  std::vector<Balance> balances;
  std::vector<Impulse> impulses;
  std::vector<Interval> spans;
  std::vector<Eigen::Matrix<double, 3, Eigen::Dynamic>> directionsOf; ///< in which contacts hold
  std::vector<MatrixX> positionOf;                                    ///< D of the contacts, along these
  MatrixX controls;
  double duration, unit = 1; ///< T, s
  int durationVariable = -1, durationRow = -1, unitVariable = -1;
  SymmetricBlock durationDuration, unitUnit;
  Eigen::Index unitDuration = -1;
  std::vector<Eigen::Index> boundsOfControls;
  Eigen::Index boundOfDuration = -1;
  int firstControlRow = -1;
  std::vector<int> boundedControls;
  std::deque<PathCondition> conditions; ///< those of the problem and of the contacts
  std::vector<PlacedCondition> placed, objectives;
  ProgramStructure structure;
  bool isReached = true;
  SparseMatrix scratch, G, G0;
  VectorX work, sum, middle, reduced, moved, turn, nu_, ofNode, ofOther, constraintRates;
  MatrixX KP, block, dense, effortHessian, allColumns;
};

DenseBlock declareBlock(std::vector<MatrixEntry>& entries, int row, int column, int rows, int columns);
Eigen::Index declareEntry(std::vector<MatrixEntry>& entries, int row, int column);
SymmetricBlock declareSymmetric(std::vector<MatrixEntry>& entries, int first, int size);

}
