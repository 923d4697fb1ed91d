#include "tendril/solvers/sparse_ldlt.h"

#include <cmath>
#include <vector>

#include <Eigen/QR>

#include "solvers/ldlt_backend.h"
#include "solvers/sparse_checks.h"

namespace tendril {

struct SparseLdlt::Impl {
  SparseLdltOptions options;
  std::unique_ptr<LdltBackend> backend; // from analyse() on
  Eigen::Index order = -1, entries = -1;
  bool factorised = false, finite = true;
  Matrix lower;            // lower triangle of A, every diagonal entry present
  std::vector<int> source; // its entries in A's list of values, -1 for a diagonal that A has not

  void chooseBackend(Eigen::Index size);
  void takePattern(const Matrix& A);
  void takeValues(const Matrix& A);
  bool empty() const { return order == 0; }
  void requireFactorised() const {
    if (!factorised) throw std::logic_error("SparseLdlt: there is no factorisation; call factorise() with a finite matrix first");
  }
};

void SparseLdlt::Impl::chooseBackend(Eigen::Index size) {
  // To set MUMPS up takes longer than all eigenvalues of a matrix of this order.
  constexpr Eigen::Index small = 24;
  const bool isSmall = size <= small;
  if (backend && isSmall == (order <= small)) return;
  backend.reset();
  if (!isSmall && options.backend == SparseLdltOptions::Backend::Automatic) backend = makeMumps();
  if (!backend) backend = makeEigenLdlt();
}

void SparseLdlt::Impl::takePattern(const Matrix& A) {
  std::vector<Eigen::Triplet<double>> triplets;
  source.clear();
  for (int j = 0; j < A.cols(); ++j) {
    Matrix::InnerIterator it(A, j);
    while (it && it.row() < j) ++it;
    if (!it || it.row() != j) {
      triplets.emplace_back(j, j, 0.0);
      source.push_back(-1);
    }
    for (; it; ++it) {
      triplets.emplace_back(int(it.row()), j, it.value());
      source.push_back(int(&it.value() - A.valuePtr()));
    }
  }
  lower.resize(A.rows(), A.cols());
  lower.setFromTriplets(triplets.begin(), triplets.end());
}

void SparseLdlt::Impl::takeValues(const Matrix& A) {
  for (std::size_t k = 0; k < source.size(); ++k) lower.valuePtr()[k] = source[k] < 0 ? 0 : A.valuePtr()[source[k]];
}

SparseLdlt::SparseLdlt(const SparseLdltOptions& options) : impl_(std::make_unique<Impl>()) { impl_->options = options; }
SparseLdlt::~SparseLdlt() = default;
SparseLdlt::SparseLdlt(SparseLdlt&&) noexcept = default;
SparseLdlt& SparseLdlt::operator=(SparseLdlt&&) noexcept = default;

const char* SparseLdlt::backend() const { return impl_->backend ? impl_->backend->name() : ""; }

void SparseLdlt::setZeroTolerance(double tolerance) { impl_->options.zeroTolerance = tolerance; }

void SparseLdlt::analyse(const Matrix& A) {
  requireFactorisable(A, "SparseLdlt");
  impl_->factorised = false;
  impl_->chooseBackend(A.rows());
  impl_->takePattern(A);
  if (A.rows() > 0) impl_->backend->analyse(impl_->lower);
  impl_->order = A.rows();
  impl_->entries = A.nonZeros();
}

bool SparseLdlt::factorise(const Matrix& A) {
  if (impl_->order < 0) analyse(A);
  requireFactorisable(A, "SparseLdlt");
  requireSamePattern(A, impl_->order, impl_->entries, "SparseLdlt");
  impl_->takeValues(A);
  impl_->factorised = false;
  impl_->finite = allFinite(impl_->lower);
  if (!impl_->finite) return false;
  if (!impl_->empty()) impl_->backend->factorise(impl_->lower, impl_->options.zeroTolerance);
  impl_->factorised = true;
  return !singular();
}

bool SparseLdlt::finite() const { return impl_->finite; }

bool SparseLdlt::singular() const { return impl_->factorised && !impl_->empty() && impl_->backend->singular(); }

std::optional<Inertia> SparseLdlt::inertia() const {
  if (!impl_->factorised) return std::nullopt;
  return impl_->empty() ? Inertia{} : impl_->backend->inertia();
}

void SparseLdlt::solve(Eigen::Ref<Eigen::VectorXd> x) const {
  impl_->requireFactorised();
  if (x.size() != impl_->order)
    throw std::invalid_argument(fmt::format("SparseLdlt: a right-hand side of length {} for a matrix of order {}", x.size(), impl_->order));
  if (!impl_->empty()) impl_->backend->solve(x.data());
}

Eigen::MatrixXd SparseLdlt::nullVectors() const {
  impl_->requireFactorised();
  if (!singular()) return Eigen::MatrixXd(impl_->order, 0);
  const Eigen::MatrixXd basis = impl_->backend->nullVectors().colwise().normalized();
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(basis);
  return qr.householderQ() * Eigen::MatrixXd::Identity(basis.rows(), basis.cols());
}

}
