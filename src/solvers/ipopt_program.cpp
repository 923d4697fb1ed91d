#include "tendril/solvers/ipopt_program.h"

#include <stdexcept>

#ifdef TENDRIL_HAVE_IPOPT
#include "solvers/mumps_lock.h"

#include <chrono>

#include <IpIpoptApplication.hpp>
#include <IpSolveStatistics.hpp>
#include <IpTNLP.hpp>
#include <fmt/format.h>
#endif

namespace tendril {

#ifdef TENDRIL_HAVE_IPOPT

bool ipoptAvailable() { return true; }

namespace {

using Ipopt::Index;
using Ipopt::Number;
using Vector = Eigen::VectorXd;

/// Rows: equalities, then inequalities. Derivatives are taken together, once per point and set of multipliers.
class Adapter : public Ipopt::TNLP {
 public:
  Adapter(VectorProgram& program, InteriorPointReport& report)
      : program_(program), s_(program.structure()), report_(report), start_(program.x) {
    values_ = {0, Vector::Zero(s_.equalities()), Vector::Zero(s_.inequalities())};
    derivatives_ = {Vector::Zero(s_.variables()), Vector::Zero(Eigen::Index(s_.equalityJacobian.size())),
                    Vector::Zero(Eigen::Index(s_.inequalityJacobian.size())), Vector::Zero(Eigen::Index(s_.hessian.size()))};
    multipliers_ = {1, values_.equality, values_.inequality};
  }

  bool get_nlp_info(Index& n, Index& m, Index& jacobian, Index& hessian, IndexStyleEnum& style) override {
    n = s_.variables();
    m = s_.equalities() + s_.inequalities();
    jacobian = Index(s_.equalityJacobian.size() + s_.inequalityJacobian.size());
    hessian = Index(s_.hessian.size());
    style = C_STYLE;
    return true;
  }
  bool get_bounds_info(Index n, Number* xl, Number* xu, Index, Number* gl, Number* gu) override {
    constexpr double none = 2e19; // what Ipopt takes for infinite
    std::fill_n(xl, n, -none);
    std::fill_n(xu, n, none);
    for (int i = 0; i < s_.equalities(); ++i) gl[i] = gu[i] = 0;
    for (int i = 0; i < s_.inequalities(); ++i) {
      gl[s_.equalities() + i] = std::max(s_.lower[i], -none);
      gu[s_.equalities() + i] = std::min(s_.upper[i], none);
    }
    return true;
  }
  bool get_starting_point(Index n, bool, Number* x, bool, Number*, Number*, Index, bool, Number*) override {
    std::copy_n(start_.data(), n, x);
    return true;
  }
  bool eval_f(Index, const Number* x, bool, Number& f) override {
    if (!evaluate(x)) return false;
    f = values_.objective;
    return true;
  }
  bool eval_grad_f(Index n, const Number* x, bool, Number* gradient) override {
    if (!differentiate(x, nullptr)) return false;
    std::copy_n(derivatives_.gradient.data(), n, gradient);
    return true;
  }
  bool eval_g(Index, const Number* x, bool, Index, Number* g) override {
    if (!evaluate(x)) return false;
    std::copy_n(values_.equality.data(), s_.equalities(), g);
    std::copy_n(values_.inequality.data(), s_.inequalities(), g + s_.equalities());
    return true;
  }
  bool eval_jac_g(Index, const Number* x, bool, Index, Index, Index* rows, Index* columns, Number* values) override {
    if (!values) {
      for (const MatrixEntry& e : s_.equalityJacobian) *rows++ = e.row, *columns++ = e.column;
      for (const MatrixEntry& e : s_.inequalityJacobian) *rows++ = s_.equalities() + e.row, *columns++ = e.column;
      return true;
    }
    if (!differentiate(x, nullptr)) return false;
    values = std::copy_n(derivatives_.equalityJacobian.data(), derivatives_.equalityJacobian.size(), values);
    std::copy_n(derivatives_.inequalityJacobian.data(), derivatives_.inequalityJacobian.size(), values);
    return true;
  }
  bool eval_h(Index, const Number* x, bool, Number weight, Index, const Number* lambda, bool, Index, Index* rows, Index* columns,
              Number* values) override {
    if (!values) {
      for (const MatrixEntry& e : s_.hessian) *rows++ = e.row, *columns++ = e.column;
      return true;
    }
    takeMultipliers(weight, lambda);
    if (!differentiate(x, &multipliers_)) return false;
    std::copy_n(derivatives_.hessian.data(), derivatives_.hessian.size(), values);
    return true;
  }
  void finalize_solution(Ipopt::SolverReturn, Index n, const Number* x, const Number*, const Number*, Index, const Number*,
                         const Number* lambda, Number objective, const Ipopt::IpoptData*, Ipopt::IpoptCalculatedQuantities*) override {
    program_.x = Eigen::Map<const Vector>(x, n);
    report_.objective = objective;
    takeMultipliers(1, lambda);
    report_.multipliers = multipliers_;
  }

 private:
  void takeMultipliers(double weight, const Number* lambda) {
    multipliers_.weight = weight;
    std::copy_n(lambda, s_.equalities(), multipliers_.equality.data());
    std::copy_n(lambda + s_.equalities(), s_.inequalities(), multipliers_.inequality.data());
  }
  bool evaluate(const Number* x) {
    program_.x = Eigen::Map<const Vector>(x, s_.variables());
    ++report_.evaluations;
    return program_.evaluate(values_);
  }
  bool differentiate(const Number* x, const ProgramMultipliers* multipliers) {
    program_.x = Eigen::Map<const Vector>(x, s_.variables());
    ++report_.differentiations;
    return program_.differentiate(multipliers, derivatives_);
  }

  VectorProgram& program_;
  const ProgramStructure& s_;
  InteriorPointReport& report_;
  Vector start_;
  ProgramValues values_;
  ProgramDerivatives derivatives_;
  ProgramMultipliers multipliers_;
};

InteriorPointReport::Status statusOf(Ipopt::ApplicationReturnStatus status) {
  using Status = InteriorPointReport::Status;
  switch (status) {
  case Ipopt::Solve_Succeeded:
    return Status::Converged;
  case Ipopt::Solved_To_Acceptable_Level:
    return Status::Acceptable;
  case Ipopt::Infeasible_Problem_Detected:
    return Status::LocallyInfeasible;
  case Ipopt::Diverging_Iterates:
    return Status::Unbounded;
  case Ipopt::Maximum_Iterations_Exceeded:
    return Status::MaxIterations;
  case Ipopt::Invalid_Number_Detected:
    return Status::NotFinite;
  default:
    return Status::Stalled;
  }
}

}

InteriorPointReport solveByIpopt(VectorProgram& program, const InteriorPointOptions& options) {
  requireConsistent(program);
  InteriorPointReport report;
  const auto begin = std::chrono::steady_clock::now();
  const std::lock_guard lock(mumpsLock());
  Ipopt::SmartPtr<Ipopt::IpoptApplication> application = new Ipopt::IpoptApplication(false);
  application->Options()->SetIntegerValue("print_level", 0);
  application->Options()->SetStringValue("sb", "yes"); // no banner
  application->Options()->SetNumericValue("tol", options.tolerance);
  application->Options()->SetNumericValue("mu_init", options.initialBarrier);
  application->Options()->SetIntegerValue("max_iter", options.maxIterations);
  if (application->Initialize() != Ipopt::Solve_Succeeded) throw std::logic_error("solveByIpopt: Ipopt refuses its options");
  Ipopt::SmartPtr<Ipopt::TNLP> adapter = new Adapter(program, report);
  const Ipopt::ApplicationReturnStatus status = application->OptimizeTNLP(adapter);
  report.status = statusOf(status);
  if (report.status != InteriorPointReport::Status::Converged) report.message = fmt::format("Ipopt ended with its status {}", int(status));
  const Ipopt::SmartPtr<Ipopt::SolveStatistics> statistics = application->Statistics();
  if (Ipopt::IsValid(statistics)) report.iterations = statistics->IterationCount();
  report.totalTime = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

#else

bool ipoptAvailable() { return false; }

InteriorPointReport solveByIpopt(VectorProgram&, const InteriorPointOptions&) {
  throw std::logic_error("solveByIpopt: this build has no Ipopt; install coinor-libipopt-dev and configure with TENDRIL_WITH_IPOPT=ON");
}

#endif

}
