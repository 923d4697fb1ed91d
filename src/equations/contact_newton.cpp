#include "tendril/equations/contact_newton.h"

#include "equations/contact_dual.h"
#include "equations/contact_iterate.h"
#include "equations/contact_semismooth.h"

#include <fmt/format.h>

namespace tendril {

using Method = ContactNewtonOptions::Method;

namespace {
/// Closed contacts up to which Automatic asks the dual method: its friction problem is dense, and beyond this a smaller step costs less.
constexpr int dualLimit = 200;
}

struct ContactNewton::Impl {
  ContactIterate iterate;
  ContactIncrement increment;
  ContactSemismoothStep semismooth;
  ContactDualStep dual;
  ContactNewtonReport report;
  Eigen::Matrix3Xd first;

  bool iterateBy(ContactStep& step, const char* name, int maxIterations);
  bool fail(const char* name, const std::string& why);
};

ContactNewton::ContactNewton() : impl_(std::make_unique<Impl>()) {}
ContactNewton::~ContactNewton() = default;

const ContactNewtonReport& ContactNewton::report() const { return impl_->report; }

const ContactNewtonReport& ContactNewton::solve(ContactProblem& problem, const ContactNewtonOptions& options, Eigen::Matrix3Xd& F) {
  ContactNewtonReport& report = impl_->report;
  report = {};
  impl_->iterate.begin(problem, options.weight, F);
  impl_->first = F;
  if (options.method != Method::Dual && impl_->iterateBy(impl_->semismooth, "Newton's method", options.maxIterations)) return report;
  // What floats without contact has no dual form either.
  if (options.method == Method::Newton || report.isSingular) return report;
  if (options.method == Method::Automatic) {
    if (impl_->iterate.closed() > dualLimit) return report;
    problem.restart();
    F = impl_->first;
  }
  report.usedDual = true;
  if (impl_->iterateBy(impl_->dual, "The dual method", options.maxIterations)) report.message.clear();
  return report;
}

bool ContactNewton::Impl::iterateBy(ContactStep& step, const char* name, int maxIterations) {
  step.begin();
  double before = 0;
  for (int iteration = 0;; ++iteration) {
    if (!iterate.evaluate()) return fail(name, "an element cannot represent the configuration");
    report.residual = iterate.residual();
    report.gapViolation = iterate.gapViolation();
    report.active = iterate.active();
    if (!iterate.isFinite()) return fail(name, "a residual is not finite");
    // Rounding counts as an excuse only once steps have stopped to help.
    const bool stagnates = iteration > 0 && iterate.merit() > 0.5 * before;
    if (iterate.passes() || (stagnates && iterate.isNegligible())) return report.converged = true;
    if (iteration >= maxIterations) return fail(name, "too many iterations");
    if (!step.compute(iterate, increment)) {
      report.isSingular = step.isSingular() && iteration == 0;
      return fail(name, step.failure());
    }
    before = iterate.merit();
    iterate.apply(increment);
    ++report.iterations;
    ++report.factorisations;
  }
}

bool ContactNewton::Impl::fail(const char* name, const std::string& why) {
  if (!report.message.empty()) report.message += ". ";
  report.message += fmt::format("{} with contact: {}", name, why);
  if (report.isSingular) return false;
  report.message += fmt::format(" after {} iterations; worst: {} remedy: take a smaller step", report.iterations, iterate.describeWorst());
  return false;
}

}
