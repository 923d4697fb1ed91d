#include "solvers/lu_backend.h"

#ifdef TENDRIL_HAVE_KLU
#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>
#include <vector>

#include <klu.h>

namespace tendril {
namespace {

class Klu final : public LuBackend {
 public:
  explicit Klu(const SparseLuOptions& options) : options_(options) {
    klu_defaults(&common_);
    common_.tol = options.pivotTolerance;
    common_.ordering = options.ordering == SparseLuOptions::Ordering::Columns ? 1 : 0;
    common_.scale = 2;
  }
  ~Klu() override { release(); }
  Klu(const Klu&) = delete;
  Klu& operator=(const Klu&) = delete;

  const char* name() const override { return "KLU"; }

  void analyse(const Matrix& A, const std::vector<int>& order) override {
    release();
    common_.btf = order.empty() ? 1 : 0;
    if (order.empty()) {
      symbolic_ = klu_analyze(int(A.rows()), outer(A), inner(A), &common_);
    } else {
      int* given = const_cast<int*>(order.data());
      symbolic_ = klu_analyze_given(int(A.rows()), outer(A), inner(A), given, given, &common_);
    }
    throwOnError();
    rowScale_.resize(A.rows());
    columnScale_.resize(A.rows());
  }

  bool factorise(const Matrix& A, SingularityReport& report) override {
    scaleOf(A);
    if (refactorise(A)) {
      report = inspect();
      if (!report.singular) return ++kept, true;
    }
    if (!pivot(A)) {
      report = {true, symbolic_->structural_rank, common_.numerical_rank, common_.singular_col, 0};
      return false;
    }
    ++pivoted;
    report = inspect();
    return !report.singular;
  }

  void solve(double* x, int columns, int stride) override { klu_solve(symbolic_, numeric_, stride, columns, x, &common_); }
  void solveTransposed(double* x) override { klu_tsolve(symbolic_, numeric_, symbolic_->n, 1, x, &common_); }

 private:
  // KLU takes pointers to non-const and does not write to them.
  static int* outer(const Matrix& A) { return const_cast<int*>(A.outerIndexPtr()); }
  static int* inner(const Matrix& A) { return const_cast<int*>(A.innerIndexPtr()); }
  static double* values(const Matrix& A) { return const_cast<double*>(A.valuePtr()); }

  void release() {
    if (numeric_) klu_free_numeric(&numeric_, &common_);
    if (symbolic_) klu_free_symbolic(&symbolic_, &common_);
  }

  void throwOnError() const {
    if (common_.status == KLU_OUT_OF_MEMORY) throw std::bad_alloc();
    if (common_.status == KLU_TOO_LARGE) throw std::runtime_error("SparseLu: the factor has more entries than an int can count");
    if (common_.status < 0) throw std::invalid_argument("SparseLu: KLU refuses the matrix (indices out of range or repeated)");
  }

  /// Elimination with the pivots of the last factorisation; false if there are none, or they no longer serve.
  bool refactorise(const Matrix& A) {
    if (!numeric_ || !klu_refactor(outer(A), inner(A), values(A), symbolic_, numeric_, &common_) || common_.status != KLU_OK) return false;
    measure(A);
    return common_.rgrowth >= options_.degradation * freshGrowth_ && common_.rcond >= options_.degradation * freshRatio_;
  }

  bool pivot(const Matrix& A) {
    if (numeric_) klu_free_numeric(&numeric_, &common_);
    numeric_ = klu_factor(outer(A), inner(A), values(A), symbolic_, &common_);
    throwOnError();
    if (!numeric_) return false;
    measure(A);
    freshGrowth_ = common_.rgrowth;
    freshRatio_ = common_.rcond;
    return true;
  }

  void measure(const Matrix& A) {
    klu_rgrowth(outer(A), inner(A), values(A), symbolic_, numeric_, &common_);
    klu_rcond(symbolic_, numeric_, &common_);
  }

  void scaleOf(const Matrix& A) {
    rowScale_.setZero();
    columnScale_.setZero();
    for (int j = 0; j < A.cols(); ++j)
      for (Matrix::InnerIterator it(A, j); it; ++it) rowScale_[it.row()] = std::max(rowScale_[it.row()], std::abs(it.value()));
    for (int j = 0; j < A.cols(); ++j)
      for (Matrix::InnerIterator it(A, j); it; ++it)
        if (it.value() != 0) columnScale_[j] = std::max(columnScale_[j], std::abs(it.value()) / rowScale_[it.row()]);
  }

  /// Compares each pivot with the largest entry of its column.
  SingularityReport inspect() const {
    SingularityReport report{false, symbolic_->structural_rank, 0, -1, 1};
    const double* diagonal = static_cast<const double*>(numeric_->Udiag);
    for (int k = 0; k < symbolic_->n; ++k) {
      const int column = symbolic_->Q[k];
      const double ratio = std::abs(diagonal[k]) / columnScale_[column];
      const bool regular = ratio > options_.singularTolerance;
      report.numericalRank += regular;
      report.singular |= !regular;
      if (ratio < report.pivotRatio || report.column < 0) {
        report.pivotRatio = ratio;
        report.column = column;
      }
    }
    if (!report.singular) report.column = -1;
    return report;
  }

  SparseLuOptions options_;
  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
  double freshGrowth_ = 0, freshRatio_ = 0;
  Eigen::VectorXd rowScale_, columnScale_;
};

}

std::unique_ptr<LuBackend> makeKlu(const SparseLuOptions& options) { return std::make_unique<Klu>(options); }

}
#else
namespace tendril {
std::unique_ptr<LuBackend> makeKlu(const SparseLuOptions&) { return nullptr; }
}
#endif
