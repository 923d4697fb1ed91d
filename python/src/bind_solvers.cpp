#include "trampolines.h"

#include "module.h"

#include "tendril/lie/types.h"
#include "tendril/solvers/friction_reduction.h"
#include "tendril/solvers/friction_solver.h"
#include "tendril/solvers/interior_point.h"
#include "tendril/solvers/lcp.h"

#include <optional>

namespace tendril::python {

namespace {

void requireSound(const FrictionProblem& problem) {
  const std::string defect = findDefect(problem);
  if (!defect.empty()) throw nb::value_error(defect.c_str());
}

VectorX startOf(const FrictionProblem& problem, const std::optional<VectorX>& r) {
  if (!r) return VectorX::Zero(problem.rows());
  requireSize("r", r->size(), problem.rows());
  return *r;
}

/// A problem with a dense W: what is most easily written down by hand.
FrictionProblem problemOf(const MatrixX& W, const VectorX& q, const std::vector<FrictionLaw>& laws) {
  FrictionProblem problem;
  problem.laws = laws;
  problem.layOut();
  problem.q = q;
  requireSize("q", q.size(), problem.rows());
  requireSize("W (rows)", W.rows(), problem.rows());
  requireSize("W (columns)", W.cols(), problem.rows());
  problem.W = toBlocks(W.sparseView(), problem.firstRow);
  requireSound(problem);
  return problem;
}

}

void defineSolvers(nb::module_& m) {
  classOf<FrictionProblem>().def_static("dense", problemOf, nb::arg("W"), nb::arg("q"), nb::arg("laws"),
                                        "The problem u = W r + q with a dense W (rows, rows), q (rows,) and a law for each contact, whose "
                                        "rows follow one another, the normal first.");
  classOf<FrictionSolver>().def(
      "solve",
      [](FrictionSolver& self, const FrictionProblem& problem, const FrictionOptions& options, const std::optional<VectorX>& r) {
        requireSound(problem);
        VectorX impulses = startOf(problem, r);
        FrictionReport report;
        {
          const nb::gil_scoped_release released;
          report = self.solve(problem, options, impulses);
        }
        return std::make_pair(std::move(impulses), std::move(report));
      },
      nb::arg("problem"), nb::arg("options") = FrictionOptions{}, nb::arg("r").none() = nb::none(),
      "The impulses (rows,), the best that were found, and the report. `r`: where to start, e.g. the impulses of the last step; zero if "
      "not given.");
  m.def(
      "solve_frictionless",
      [](const FrictionProblem& problem, FrictionlessMethod method) {
        requireSound(problem);
        VectorX impulses = VectorX::Zero(problem.rows());
        FrictionlessReport report = solveFrictionless(problem, method, impulses);
        return std::make_pair(std::move(impulses), std::move(report));
      },
      nb::arg("problem"), nb::arg("method") = FrictionlessMethod::ActiveSet,
      "Impulses and report of a problem whose coefficients are all zero, by a pivoting method.");
  classOf<FrictionReduction>().def(
      "__init__", [](FrictionReduction* self, const GlobalFrictionProblem& global) { new (self) FrictionReduction(global); },
      nb::arg("problem"));
  nb::class_<VectorProgram, NonlinearProgram, PythonProgram>(
      m, "VectorProgram",
      "A program whose points are vectors, moved by x <- x + increment. Derive from it: structure() returns a ProgramStructure, "
      "evaluate(values) and "
      "differentiate(multipliers, derivatives) fill their arguments and return True, or False where functions do not exist.")
      .def(nb::init<>())
      .def_prop_rw(
          "x", [](const VectorProgram& self) { return self.x; }, [](VectorProgram& self, const VectorX& x) { self.x = x; },
          "The current point, one number per variable.");
}

}
