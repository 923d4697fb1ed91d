#include "dynamics/discrete_inertia.h"

#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace tendril {

namespace {

constexpr double noise = 4 * std::numeric_limits<double>::epsilon();

/// Where the pose blocks have their diagonals among the values of the matrix: begin within the columns.
std::vector<int> diagonalPlaces(const Model& model, const SparseMatrix& A) {
  std::vector<int> places;
  for (const Block& b : model.blocks()) {
    const int* first = A.innerIndexPtr() + A.outerIndexPtr()[b.v];
    const int* last = A.innerIndexPtr() + A.outerIndexPtr()[b.v + 1];
    places.push_back(int(std::lower_bound(first, last, b.v) - first));
  }
  return places;
}

/// Inertia of every block in its own frame: of a mass matrix M(q) that couples blocks, sum_b M_ab Ad(H_b^-1 H_a), which is what block a
/// contributes when all move as one rigid body.
std::vector<Matrix6> inertiaOfNodes(KktSystem& kkt, const State& state) {
  const Model& model = kkt.model();
  kkt.evaluate(state, {.motion = true, .tangent = true, .stiffness = false, .inertia = 1});
  const SparseMatrix& A = kkt.assembly().matrix();
  std::vector<int> blockOf(model.nv());
  for (std::size_t b = 0; b < model.blocks().size(); ++b) std::fill_n(blockOf.begin() + model.blocks()[b].v, 6, int(b));
  const auto pose = [&](int b) { return loadPose(state.q.data() + model.blocks()[b].q); };

  std::vector<Matrix6> inertia(model.blocks().size(), Matrix6::Zero());
  for (int column = 0; column < model.nv(); ++column) {
    const int b = blockOf[column];
    for (SparseMatrix::InnerIterator entry(A, column); entry; ++entry) {
      if (entry.row() >= model.nv() || entry.value() == 0) continue;
      const int a = blockOf[entry.row()];
      const Matrix6 carry = a == b ? Matrix6::Identity() : se3::Ad(pose(b).inverse() * pose(a));
      inertia[a].row(entry.row() - model.blocks()[a].v) += entry.value() * carry.row(column - model.blocks()[b].v);
    }
  }
  for (Matrix6& M : inertia) M = (0.5 * (M + M.transpose())).eval();
  return inertia;
}

class NodalInertia final : public DiscreteInertia {
 public:
  NodalInertia(KktSystem& kkt, const State& initial)
      : model_(kkt.model()), inertia_(inertiaOfNodes(kkt, initial)), place_(diagonalPlaces(model_, kkt.assembly().matrix())) {
    kkt.assembly().carriedBlocks().assign(model_.blocks().size(), 1);
  }

  void begin(const State&) override {}
  void leaving(const DiscreteInterval& i, VectorX& p) override {
    p.resize(model_.nv());
    for (std::size_t b = 0; b < inertia_.size(); ++b) {
      const Vector6 x = i.x.segment<6>(at(b));
      p.segment<6>(at(b)) = se3::tangentInverse(-x).transpose() * (inertia_[b] * x) / i.h;
    }
  }
  void arriving(const DiscreteInterval& i, VectorX& p) override {
    p.resize(model_.nv());
    for (std::size_t b = 0; b < inertia_.size(); ++b) {
      const Vector6 x = i.x.segment<6>(at(b));
      p.segment<6>(at(b)) = se3::tangentInverse(x).transpose() * (inertia_[b] * x) / i.h;
    }
  }
  double weightInModel() const override { return 0; }
  /// (2/h) d(leaving)/dx T^-1 on the diagonal.
  void addTangent(const DiscreteInterval& i, Assembly& assembly) const override {
    SparseMatrix& A = assembly.matrix();
    for (std::size_t b = 0; b < inertia_.size(); ++b) {
      const Vector6 x = i.x.segment<6>(at(b));
      const Matrix6& M = inertia_[b];
      const Matrix6 D = se3::tangentInverse(-x).transpose() * M - se3::tangentInverseTransposeDerivative(-x, M * x);
      const Matrix6 K = (2 / (i.h * i.h)) * D * assembly.velocityMaps()[b];
      for (int c = 0; c < 6; ++c) Eigen::Map<Vector6>(A.valuePtr() + A.outerIndexPtr()[at(b) + c] + place_[b]) += K.col(c);
    }
  }
  void noteRoundoff(const DiscreteInterval& i, const VectorX& leaving, Assembly& assembly) const override {
    for (std::size_t b = 0; b < inertia_.size(); ++b) {
      const Vector6 out = (2 / i.h) * leaving.segment<6>(at(b));
      assembly.noteRoundoff(noise * out.head<3>().norm(), noise * out.tail<3>().norm());
      Vector6 stored = Vector6::Ones(); // x follows from positions and directors, known to round-off
      stored.head<3>() = i.node.q.segment<3>(model_.blocks()[b].q);
      assembly.noteInertiaRoundoff(inertia_[b], 2 / (i.h * i.h), Vector6::Zero(), stored);
    }
  }
  void momenta(const State& node, VectorX& p) override {
    p.resize(model_.nv());
    for (std::size_t b = 0; b < inertia_.size(); ++b) p.segment<6>(at(b)) = inertia_[b] * node.v.segment<6>(at(b));
  }
  /// Blocks without inertia of their own have no velocity.
  void velocities(const State&, const VectorX& p, double, VectorX& v) override {
    v.resize(model_.nv());
    for (std::size_t b = 0; b < inertia_.size(); ++b) v.segment<6>(at(b)) = inertia_[b].ldlt().solve(p.segment<6>(at(b)));
  }

 private:
  int at(std::size_t b) const { return model_.blocks()[b].v; }

  const Model& model_;
  std::vector<Matrix6> inertia_;
  std::vector<int> place_; ///< of a block's diagonal within its columns
};

/// With N = d(M a)/dq at a = v, the kinetic energy T = v^T M v / 2 has dT/dq = N^T v / 2, and the model's r(q, v, 0) contains of inertia
/// N v - ad(v)^T M v - dT/dq, the first two of which belong to the change of momentum and are taken out. N is the difference of two
/// stiffness matrices of the model, which are linear in a. The matrix 2 M(q_n) / h^2 + (dr/dv) / h of the node is the derivative of the
/// equations but for terms of order h^2 beside it.
class ConfigurationInertia final : public DiscreteInertia {
 public:
  explicit ConfigurationInertia(KktSystem& kkt)
      : kkt_(kkt), model_(kkt.model()), work_(model_), nodeMass_(work_.matrix()), nodeRest_(nodeMass_), endMass_(nodeMass_),
        endRest_(nodeMass_), place_(diagonalPlaces(model_, nodeMass_)), still_(model_.initialState()), momentum_(model_.nv()),
        sum_(model_.nv()), none_(VectorX::Zero(model_.nc())), multipliers_(none_) {
    still_.v.setZero(), still_.a.setZero(model_.nv()), still_.lambda.setZero(model_.nc());
  }

  void begin(const State& node) override {
    assembleMass(node);
    nodeMass_ = work_.matrix();
    assembleStiffness(node, nullptr, 0);
    nodeRest_ = work_.matrix();
  }
  void leaving(const DiscreteInterval& i, VectorX& p) override {
    carryMean(i, -1, p);
    addExcess(i.node, nodeMass_, nodeRest_, i, -i.h / 2, p);
  }
  void arriving(const DiscreteInterval& i, VectorX& p) override {
    carryMean(i, 1, p);
    endMass_ = work_.matrix();
    assembleStiffness(i.end, nullptr, 0);
    endRest_ = work_.matrix();
    addExcess(i.end, endMass_, endRest_, i, i.h / 2, p);
  }
  double weightInModel() const override { return 2; }
  void addTangent(const DiscreteInterval&, Assembly&) const override {}
  void noteRoundoff(const DiscreteInterval& i, const VectorX& leaving, Assembly& assembly) const override {
    for (std::size_t b = 0; b < model_.blocks().size(); ++b) {
      const Block& block = model_.blocks()[b];
      if (block.kind != Block::Kind::Pose) continue;
      const Vector6 out = (2 / i.h) * leaving.segment<6>(block.v);
      assembly.noteRoundoff(noise * out.head<3>().norm(), noise * out.tail<3>().norm());
      Vector6 stored = Vector6::Ones();
      stored.head<3>() = i.node.q.segment<3>(block.q);
      Matrix6 M;
      for (int c = 0; c < 6; ++c)
        M.col(c) = Eigen::Map<const Vector6>(nodeMass_.valuePtr() + nodeMass_.outerIndexPtr()[block.v + c] + place_[b]);
      assembly.noteInertiaRoundoff(M, 2 / (i.h * i.h), Vector6::Zero(), stored);
    }
  }
  void momenta(const State& node, VectorX& p) override {
    assembleMass(node);
    multiply(work_.matrix(), node.v, 1, p.setZero(model_.nv()));
  }
  /// Those that satisfy the constraints: p without what acts along them.
  void velocities(const State& node, const VectorX& p, double h, VectorX& v) override {
    const double weight = 2 / (h * h); // that of a step, for which the multipliers are scaled
    still_.t = node.t, still_.q = node.q, still_.a.setZero();
    kkt_.assembly().velocityMaps().assign(model_.blocks().size(), Matrix6::Identity());
    kkt_.evaluate(still_, {.motion = true, .tangent = true, .stiffness = false, .timeRate = true, .inertia = weight});
    none_ = -kkt_.assembly().constraintRate();
    sum_ = weight * p;
    if (!kkt_.factorise() || !kkt_.solve(sum_, none_, v, multipliers_))
      throw NumericalFailure("variational: " + kkt_.describeSingular() + " has no inertia and is not held");
  }

 private:
  void place(const State& at, const VectorX* acceleration, double scale) {
    still_.t = at.t, still_.q = at.q;
    if (acceleration)
      still_.a = scale * *acceleration;
    else
      still_.a.setZero();
  }
  void assembleMass(const State& at) {
    place(at, nullptr, 0);
    work_.begin({.motion = true, .tangent = true, .stiffness = false, .inertia = 1});
    model_.evaluate(still_, work_);
  }
  void assembleStiffness(const State& at, const VectorX* acceleration, double scale) {
    place(at, acceleration, scale);
    work_.begin({.motion = true, .tangent = true});
    model_.evaluate(still_, work_);
  }
  /// y += factor A x, of the rows and columns of velocities.
  void multiply(const SparseMatrix& A, const VectorX& x, double factor, VectorX& y) const {
    for (int column = 0; column < model_.nv(); ++column)
      for (SparseMatrix::InnerIterator entry(A, column); entry && entry.row() < model_.nv(); ++entry)
        y[entry.row()] += factor * x[column] * entry.value();
  }
  /// p = T(sign x)^-T (M_n + M_{n+1}) x / (2 h); leaves M_{n+1} in the workspace.
  void carryMean(const DiscreteInterval& i, double sign, VectorX& p) {
    assembleMass(i.end);
    p.setZero(model_.nv());
    multiply(nodeMass_, i.x, 0.5 / i.h, p);
    multiply(work_.matrix(), i.x, 0.5 / i.h, p);
    for (const Block& b : model_.blocks())
      if (b.kind == Block::Kind::Pose)
        p.segment<6>(b.v) = se3::tangentInverse(sign * i.x.segment<6>(b.v)).transpose() * p.segment<6>(b.v).eval();
  }
  /// p += factor (N v - ad(v)^T M v). The acceleration that N is found by is of the size of those of a step.
  void addExcess(const State& at, const SparseMatrix& M, const SparseMatrix& rest, const DiscreteInterval& i, double factor, VectorX& p) {
    assembleStiffness(at, &i.x, 1 / (i.h * i.h));
    multiply(work_.matrix(), i.x, factor, p);
    multiply(rest, i.x, -factor, p);
    multiply(M, i.x, 1 / i.h, momentum_.setZero());
    for (const Block& b : model_.blocks())
      if (b.kind == Block::Kind::Pose)
        p.segment<6>(b.v) -= factor / i.h * se3::adTransposed(i.x.segment<6>(b.v), momentum_.segment<6>(b.v));
  }

  KktSystem& kkt_;
  const Model& model_;
  Assembly work_;
  SparseMatrix nodeMass_, nodeRest_, endMass_, endRest_; ///< M, and the stiffness without acceleration
  std::vector<int> place_;
  State still_;
  VectorX momentum_, sum_, none_, multipliers_;
};

}

std::unique_ptr<DiscreteInertia> discreteInertia(KktSystem& kkt, const State& initial) {
  const std::vector<Block>& blocks = kkt.model().blocks();
  const bool isOfPoses = std::all_of(blocks.begin(), blocks.end(), [](const Block& b) { return b.kind == Block::Kind::Pose; });
  if (isOfPoses) return std::make_unique<NodalInertia>(kkt, initial);
  return std::make_unique<ConfigurationInertia>(kkt);
}

}
