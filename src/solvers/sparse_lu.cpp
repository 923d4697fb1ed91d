#include "tendril/solvers/sparse_lu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/elimination_order.h"
#include "solvers/lu_backend.h"
#include "solvers/sparse_checks.h"

namespace tendril {

namespace {
/// Operations per entry of the factors beyond which supernodes, with their dense kernels, are faster: at 75 in half of the time of single
/// columns, at 400 in a third; at 9 in twice the time.
constexpr double manyOperations = 30;
}

struct SparseLu::Impl {
  std::unique_ptr<LuBackend> ordinary, supernodal; ///< the latter for factors with dense parts, where there is a choice
  LuBackend* backend = nullptr;                    ///< the one in use
  EliminationOrder elimination;
  SingularityReport report;
  Eigen::Index order = -1, entries = -1;
  bool factorised = false, finite = true;
  double norm1 = 0;
  // Work of refine() and estimateCondition().
  Eigen::VectorXd residual, correction, previous;

  void use(LuBackend& chosen, const Matrix& A) {
    backend = &chosen;
    backend->pivoted = backend->kept = 0;
    if (A.rows() > 0) backend->analyse(A, elimination.rows);
  }

  void requireFactorised(Eigen::Index rows) const {
    if (!factorised) throw std::logic_error("SparseLu: there is no factorisation; call factorise() and check that it returns true");
    if (rows != order)
      throw std::invalid_argument(fmt::format("SparseLu: a right-hand side of length {} for a matrix of order {}", rows, order));
  }
};

SparseLu::SparseLu(const SparseLuOptions& options) : impl_(std::make_unique<Impl>()) {
  if (options.backend == SparseLuOptions::Backend::Automatic) impl_->ordinary = makeKlu(options);
  if (impl_->ordinary)
    impl_->supernodal = makeEigenLu(options);
  else
    impl_->ordinary = makeEigenLu(options);
  impl_->backend = impl_->ordinary.get();
}
SparseLu::~SparseLu() = default;
SparseLu::SparseLu(SparseLu&&) noexcept = default;
SparseLu& SparseLu::operator=(SparseLu&&) noexcept = default;

const char* SparseLu::backend() const { return impl_->backend->name(); }

void SparseLu::analyse(const Matrix& A) { analyse(A, {}); }

void SparseLu::analyse(const Matrix& A, const std::vector<int>& groups) {
  requireFactorisable(A, "SparseLu");
  impl_->factorised = false;
  impl_->report = {};
  impl_->residual.resize(A.rows());
  impl_->correction.resize(A.rows());
  impl_->previous.resize(A.rows());
  if (!groups.empty() && (Eigen::Index(groups.size()) != A.rows() || *std::min_element(groups.begin(), groups.end()) < 0)) {
    throw std::invalid_argument(
        fmt::format("SparseLu: {} groups for a matrix of order {}; each row needs one, counted from 0", groups.size(), A.rows()));
  }
  impl_->elimination = {};
  if (!groups.empty()) impl_->elimination = cheapestOrder(A, groups);
  const bool isDense = impl_->elimination.operations > manyOperations * impl_->elimination.entries;
  impl_->use(isDense && impl_->supernodal ? *impl_->supernodal : *impl_->ordinary, A);
  impl_->order = A.rows();
  impl_->entries = A.nonZeros();
}

bool SparseLu::factorise(const Matrix& A) {
  if (impl_->order < 0) analyse(A);
  requireFactorisable(A, "SparseLu");
  requireSamePattern(A, impl_->order, impl_->entries, "SparseLu");
  impl_->factorised = false;
  impl_->report = {};
  impl_->finite = allFinite(A);
  if (!impl_->finite) return false;
  impl_->norm1 = 0;
  for (int j = 0; j < A.cols(); ++j) {
    double sum = 0;
    for (Matrix::InnerIterator it(A, j); it; ++it) sum += std::abs(it.value());
    impl_->norm1 = std::max(impl_->norm1, sum);
  }
  impl_->factorised = A.rows() == 0 || impl_->backend->factorise(A, impl_->report);
  if (!impl_->factorised && impl_->backend == impl_->supernodal.get()) {
    // The verdict, and the place, are the other's.
    impl_->use(*impl_->ordinary, A);
    impl_->factorised = impl_->backend->factorise(A, impl_->report);
  }
  if (!impl_->factorised) impl_->backend->diagnose(impl_->report);
  return impl_->factorised;
}

bool SparseLu::factorised() const { return impl_->factorised; }
const SingularityReport& SparseLu::singular() const { return impl_->report; }
bool SparseLu::finite() const { return impl_->finite; }
int SparseLu::pivotedCount() const { return impl_->backend->pivoted; }
int SparseLu::keptCount() const { return impl_->backend->kept; }

void SparseLu::solve(Eigen::Ref<Eigen::VectorXd> x) const {
  impl_->requireFactorised(x.size());
  if (x.size() > 0) impl_->backend->solve(x.data(), 1, int(x.size()));
}

void SparseLu::solveTransposed(Eigen::Ref<Eigen::VectorXd> x) const {
  impl_->requireFactorised(x.size());
  if (x.size() > 0) impl_->backend->solveTransposed(x.data());
}

void SparseLu::solveMany(Eigen::Ref<Eigen::MatrixXd> X) const {
  impl_->requireFactorised(X.rows());
  if (X.size() > 0) impl_->backend->solve(X.data(), int(X.cols()), int(X.outerStride()));
}

/// Leaves b - A x in the work vector.
double SparseLu::normwiseError(const Matrix& A, const Eigen::Ref<const Eigen::VectorXd>& b,
                               const Eigen::Ref<const Eigen::VectorXd>& x) const {
  Eigen::VectorXd& residual = impl_->residual;
  Eigen::VectorXd& rowSum = impl_->correction;
  residual = b;
  rowSum.setZero();
  for (int j = 0; j < A.cols(); ++j)
    for (Matrix::InnerIterator it(A, j); it; ++it) {
      residual[it.row()] -= it.value() * x[j];
      rowSum[it.row()] += std::abs(it.value());
    }
  if (A.rows() == 0) return 0;
  const double scale = rowSum.maxCoeff() * x.lpNorm<Eigen::Infinity>() + b.lpNorm<Eigen::Infinity>();
  return scale > 0 ? residual.lpNorm<Eigen::Infinity>() / scale : 0;
}

double SparseLu::refine(const Matrix& A, const Eigen::Ref<const Eigen::VectorXd>& b, Eigen::Ref<Eigen::VectorXd> x, int steps) const {
  impl_->requireFactorised(x.size());
  requireSamePattern(A, impl_->order, impl_->entries, "SparseLu");
  if (b.size() != x.size()) throw std::invalid_argument("SparseLu: refine() needs b and x of the same length");
  double error = normwiseError(A, b, x);
  for (int k = 0; k < steps && error > 0; ++k) {
    impl_->previous = x;
    impl_->correction = impl_->residual;
    solve(impl_->correction);
    x += impl_->correction;
    const double next = normwiseError(A, b, x);
    if (!(next < error)) {
      x = impl_->previous;
      break;
    }
    error = next;
  }
  return error;
}

double SparseLu::estimateCondition() const {
  impl_->requireFactorised(impl_->order);
  if (impl_->order == 0) return 1;
  return impl_->norm1 *
         estimateInverseNorm(
             impl_->residual, impl_->correction, [&](Eigen::VectorXd& x) { solve(x); }, [&](Eigen::VectorXd& x) { solveTransposed(x); });
}

}
