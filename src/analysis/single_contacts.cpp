#include "tendril/analysis/single_contacts.h"

#include "tendril/model/assembly.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <Eigen/SparseLU>

namespace tendril {

namespace {

constexpr Request massOnly{.motion = true, .tangent = true, .stiffness = false, .timeRate = false, .damping = 0, .inertia = 1};
/// Unknowns up to which the inverse is kept.
constexpr Eigen::Index denseSize = 12;

/// Unknowns that inertia and joints couple, and the answer of their accelerations to forces.
struct Cluster {
  std::vector<int> unknowns; ///< velocities and multipliers, ascending
  MatrixX inverse;           ///< of a small one
  std::unique_ptr<Eigen::SparseLU<SparseMatrix>> factors;
  bool isReady = false, isRegular = false;

  /// `local` gives for every unknown of the model its place in its cluster.
  void factorise(const SparseMatrix& matrix, const std::vector<int>& local) {
    const Eigen::Index n = Eigen::Index(unknowns.size());
    std::vector<Eigen::Triplet<double>> entries;
    for (Eigen::Index j = 0; j < n; ++j) {
      for (SparseMatrix::InnerIterator entry(matrix, unknowns[std::size_t(j)]); entry; ++entry)
        if (entry.value() != 0) entries.emplace_back(local[std::size_t(entry.row())], int(j), entry.value());
    }
    SparseMatrix part(n, n);
    part.setFromTriplets(entries.begin(), entries.end());
    isReady = true;
    if (n <= denseSize) {
      const Eigen::FullPivLU<MatrixX> lu{MatrixX(part)};
      isRegular = lu.isInvertible();
      if (isRegular) inverse = lu.inverse();
      return;
    }
    if (!factors) factors = std::make_unique<Eigen::SparseLU<SparseMatrix>>();
    factors->compute(part);
    isRegular = factors->info() == Eigen::Success;
  }
};

}

struct SingleContacts::Impl {
  Impl(const Model& m, const ContactModel& c) : model(m), contacts(c), assembly(m), state(m.initialState()) {
    state.lambda.setZero(model.nc());
    curves.resize(contacts.parts().size());
    for (std::size_t p = 0; p < curves.size(); ++p) {
      if (const auto& curve = contacts.parts()[p].curve) curves[p].emplace(model, *curve);
    }
    evaluate();
    findClusters();
    const int n = model.nv() + model.nc();
    along[0].setZero(n), along[1].setZero(n), force.setZero(n), answer.setZero(n);
    isConstant = model.nc() == 0;
    for (const Block& b : model.blocks()) isConstant = isConstant && b.kind == Block::Kind::Pose;
    isWatchable = true;
    for (Cluster& cluster : clusters) {
      isConstant = isConstant && cluster.unknowns.size() == 6;
      cluster.factorise(assembly.matrix(), local);
      isWatchable = isWatchable && cluster.isRegular;
    }
  }

  void evaluate() {
    state.a.setZero(model.nv());
    assembly.multiplierScale = 1;
    assembly.begin(massOnly);
    model.evaluate(state, assembly);
  }

  void findClusters() {
    const SparseMatrix& A = assembly.matrix();
    std::vector<int> root(std::size_t(A.cols()));
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&root](int i) {
      while (root[std::size_t(i)] != i) i = root[std::size_t(i)] = root[std::size_t(root[std::size_t(i)])];
      return i;
    };
    const auto join = [&](int i, int j) { root[std::size_t(std::max(find(i), find(j)))] = std::min(find(i), find(j)); };
    for (const Block& b : model.blocks()) {
      for (int k = 1; k < b.nv; ++k) join(b.v, b.v + k);
    }
    for (int column = 0; column < A.cols(); ++column) {
      for (SparseMatrix::InnerIterator entry(A, column); entry; ++entry)
        if (entry.value() != 0) join(int(entry.row()), column);
    }
    clusterOf.assign(root.size(), -1), local.assign(root.size(), 0);
    for (int i = 0; i < int(root.size()); ++i) {
      int& number = clusterOf[std::size_t(find(i))];
      if (number < 0) number = int(clusters.size()), clusters.emplace_back();
      Cluster& cluster = clusters[std::size_t(number)];
      clusterOf[std::size_t(i)] = number, local[std::size_t(i)] = int(cluster.unknowns.size());
      cluster.unknowns.push_back(i);
    }
  }

  void begin(const State& now) {
    state.t = now.t, state.q = now.q, state.v = now.v;
    for (auto& curve : curves) {
      if (curve) curve->set(state);
    }
    if (isConstant) return;
    evaluate();
    for (Cluster& cluster : clusters) cluster.isReady = false;
  }

  /// Adds the generalized forces of unit forces on a part, along the normal and along the slip.
  void addForces(const ContactRecord& contact, bool isFirst, const std::array<Vector3, 2>& directions) {
    const int part = isFirst ? contact.first : contact.second;
    const auto& curve = curves[std::size_t(part)];
    const Marker* marker = contacts.parts()[std::size_t(part)].marker;
    if (!curve && (!marker || marker->blocks().empty())) return;
    Carrier carrier;
    if (curve) carrier = curve->carrier(curve->place(isFirst ? contact.arclength : contact.otherArclength));
    const Pose frame = curve ? carrier.frame : marker->frame(state);
    const Vector3 arm = frame.R.transpose() * (contact.position - frame.x);
    for (std::size_t d = 0; d < 2; ++d) {
      Vector6 wrench;
      wrench.head<3>() = (isFirst ? 1 : -1) * (frame.R.transpose() * (contact.frame * directions[d]));
      wrench.tail<3>() = arm.cross(wrench.head<3>());
      if (curve) {
        for (int k = 0; k < carrier.count; ++k) add(d, carrier.block[std::size_t(k)], carrier.J[std::size_t(k)].transpose() * wrench);
        continue;
      }
      MarkerForce f = MarkerForce::Zero();
      marker->force(state, wrench, f);
      for (std::size_t k = 0; k < marker->blocks().size(); ++k) add(d, marker->blocks()[k], f.col(Eigen::Index(k)));
    }
  }

  void add(std::size_t direction, int block, const Vector6& f) {
    const int v = model.blocks()[std::size_t(block)].v;
    along[direction].segment<6>(v) += f;
    const int cluster = clusterOf[std::size_t(v)];
    if (std::find(touched.begin(), touched.end(), cluster) == touched.end()) touched.push_back(cluster);
  }

  /// A and T of a contact that slides along `slip`; NaN where W is not known.
  std::pair<double, double> margin(const ContactRecord& contact, const Vector3& slip) {
    touched.clear();
    for (const bool isFirst : {true, false}) addForces(contact, isFirst, {Vector3::UnitX(), slip});
    double A = 0, T = 0;
    for (const int number : touched) {
      Cluster& cluster = clusters[std::size_t(number)];
      if (!cluster.isReady) cluster.factorise(assembly.matrix(), local);
      const Eigen::Index n = Eigen::Index(cluster.unknowns.size());
      for (Eigen::Index i = 0; i < n; ++i) force[i] = along[0][cluster.unknowns[std::size_t(i)]];
      if (!cluster.isRegular)
        answer.head(n).setConstant(std::numeric_limits<double>::quiet_NaN());
      else if (n <= denseSize)
        answer.head(n).noalias() = cluster.inverse * force.head(n);
      else
        answer.head(n) = cluster.factors->solve(force.head(n));
      for (Eigen::Index i = 0; i < n; ++i) {
        const int unknown = cluster.unknowns[std::size_t(i)];
        A += answer[i] * along[0][unknown], T += answer[i] * along[1][unknown];
        along[0][unknown] = along[1][unknown] = 0;
      }
    }
    return {A, T};
  }

  const Model& model;
  const ContactModel& contacts;
  Assembly assembly;
  State state;
  std::vector<std::optional<CurveConfiguration>> curves; ///< of each part that is one
  std::vector<Cluster> clusters;
  std::vector<int> clusterOf, local; ///< of each unknown
  std::vector<int> touched;
  std::array<VectorX, 2> along; ///< generalized forces along the normal and the slip; zero between contacts
  VectorX force, answer;        ///< of a cluster
  bool isConstant = false;      ///< free bodies: their inertia, in their own frame, stays
  bool isWatchable = false;
};

SingleContacts::SingleContacts(const Model& model, const ContactModel& contacts) : impl_(std::make_unique<Impl>(model, contacts)) {}
SingleContacts::~SingleContacts() = default;

bool SingleContacts::isWatchable() const { return impl_->isWatchable; }

void SingleContacts::look(const State& state, const ContactReport& report) {
  factor_ = std::numeric_limits<double>::infinity();
  bound_ = factor_;
  worst_ = -1, sliding_ = 0;
  impl_->begin(state);
  for (std::size_t i = 0; i < report.contacts.size(); ++i) {
    const ContactRecord& contact = report.contacts[i];
    const double slip = contact.velocity.tail<2>().norm();
    const ContactLaw* law =
        contact.status == ContactStatus::Slip && slip > 0 ? impl_->contacts.law(contact.first, contact.second) : nullptr;
    if (!law || law->friction == 0) continue;
    ++sliding_;
    const auto [A, T] = impl_->margin(contact, Vector3(0, contact.velocity[1], contact.velocity[2]) / slip);
    const double bound = T > 0 ? A / T : std::numeric_limits<double>::infinity();
    if (bound / law->friction < factor_) factor_ = bound / law->friction, bound_ = bound, worst_ = int(i);
  }
}

}
