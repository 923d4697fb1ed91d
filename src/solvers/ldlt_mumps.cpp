#include "solvers/ldlt_backend.h"
#include "solvers/mumps_lock.h"

#ifdef TENDRIL_HAVE_MUMPS
#include <new>
#include <stdexcept>
#include <vector>

#include <dmumps_c.h>
#include <fmt/format.h>

namespace tendril {
namespace {

class Mumps final : public LdltBackend {
 public:
  Mumps() {
    data_.par = 1;
    data_.sym = 2;
    data_.comm_fortran = worldCommunicator;
    run(-1);
    for (int k = 1; k <= 4; ++k) icntl(k) = k < 4 ? -1 : 0; // silent
    icntl(6) = 0;                                           // no matching: the analysis must not depend on values
    icntl(7) = 7;                                           // the fill-reducing order that suits size and libraries present
    icntl(8) = 7;                                           // iterative scaling, anew for each factorisation, symmetric here
    icntl(12) = 1;                                          // order single rows, not pairs found from values
    icntl(24) = 1;                                          // set null pivots aside
  }
  ~Mumps() override { run(-2); }
  Mumps(const Mumps&) = delete;
  Mumps& operator=(const Mumps&) = delete;

  const char* name() const override { return "MUMPS"; }

  void analyse(const Matrix& lower) override {
    rows_.clear();
    columns_.clear();
    for (int j = 0; j < lower.cols(); ++j)
      for (Matrix::InnerIterator it(lower, j); it; ++it) rows_.push_back(int(it.row()) + 1), columns_.push_back(j + 1);
    data_.n = int(lower.rows());
    data_.nnz = MUMPS_INT8(rows_.size());
    data_.irn = rows_.data();
    data_.jcn = columns_.data();
    icntl(14) = 30;
    run(1);
    requireSuccess();
  }

  void factorise(const Matrix& lower, double zeroTolerance) override {
    data_.cntl[2] = zeroTolerance;
    values_.assign(lower.valuePtr(), lower.valuePtr() + lower.nonZeros());
    data_.a = values_.data();
    run(2);
    // Delayed pivots may need more room than the analysis foresaw.
    while ((infog(1) == -8 || infog(1) == -9) && icntl(14) < 100000) {
      icntl(14) *= 2;
      run(2);
    }
    requireSuccess();
  }

  bool singular() const override { return infog(28) > 0; }

  std::optional<Inertia> inertia() const override {
    const int zero = infog(28), negative = infog(12);
    return Inertia{data_.n - negative - zero, negative, zero};
  }

  void solve(double* x) override {
    data_.rhs = x;
    data_.nrhs = 1;
    data_.lrhs = data_.n;
    run(3);
    requireSuccess();
  }

  Eigen::MatrixXd nullVectors() override {
    Eigen::MatrixXd basis = Eigen::MatrixXd::Zero(data_.n, infog(28));
    if (basis.cols() == 0) return basis;
    icntl(25) = -1;
    data_.rhs = basis.data();
    data_.nrhs = int(basis.cols());
    data_.lrhs = data_.n;
    run(3);
    icntl(25) = 0;
    requireSuccess();
    return basis;
  }

 private:
  static constexpr int worldCommunicator = -987654;

  // The manual counts from 1.
  MUMPS_INT& icntl(int k) { return data_.icntl[k - 1]; }
  MUMPS_INT infog(int k) const { return data_.infog[k - 1]; }

  void run(int job) {
    const std::lock_guard lock(mumpsLock());
    data_.job = job;
    dmumps_c(&data_);
  }

  void requireSuccess() const {
    const int code = infog(1);
    if (code >= 0) return;
    if (code == -5 || code == -7 || code == -13 || code == -19) throw std::bad_alloc();
    throw std::runtime_error(fmt::format("SparseLdlt: MUMPS ends with error {} ({})", code, infog(2)));
  }

  DMUMPS_STRUC_C data_{};
  std::vector<MUMPS_INT> rows_, columns_;
  std::vector<double> values_;
};

}

std::unique_ptr<LdltBackend> makeMumps() { return std::make_unique<Mumps>(); }

}
#else
namespace tendril {
std::unique_ptr<LdltBackend> makeMumps() { return nullptr; }
}
#endif
