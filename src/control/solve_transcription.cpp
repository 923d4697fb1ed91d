#include "tendril/control/solve_transcription.h"

#include "control/natural_program.h"
#include "tendril/model/error.h"
#include "tendril/solvers/ipopt_program.h"

namespace tendril {

namespace {

/// A program in R^n in units of its own, as one in R^n.
class NaturalVectorProgram final : public VectorProgram {
 public:
  NaturalVectorProgram(VectorProgram& program, NaturalProgram& natural, Eigen::VectorXd unit)
      : program_(program), natural_(natural), unit_(std::move(unit)) {
    x = program.x.cwiseQuotient(unit_);
  }
  ~NaturalVectorProgram() override { place(); }

  const ProgramStructure& structure() const override { return natural_.structure(); }
  bool evaluate(ProgramValues& values) override {
    place();
    return natural_.evaluate(values);
  }
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override {
    place();
    return natural_.differentiate(multipliers, derivatives);
  }
  std::string nameOfVariable(int i) const override { return natural_.nameOfVariable(i); }
  std::string nameOfEquality(int i) const override { return natural_.nameOfEquality(i); }
  std::string nameOfInequality(int i) const override { return natural_.nameOfInequality(i); }

 private:
  void place() { program_.x = x.cwiseProduct(unit_); }

  VectorProgram& program_;
  NaturalProgram& natural_;
  Eigen::VectorXd unit_;
};

}

void requireSolver(Transcription& transcription, ProgramSolver solver) {
  if (solver != ProgramSolver::Ipopt) return;
  if (!transcription.vectorProgram())
    throw InputError("solver: ipopt works on vectors, but nodes of method: dmocc are points of a manifold; take solver: interior-point, or "
                     "method: multipliers, which has the same solutions");
  if (!ipoptAvailable())
    throw InputError("solver: ipopt is not in this build; install coinor-libipopt-dev and configure with TENDRIL_WITH_IPOPT=ON, or take "
                     "solver: interior-point");
}

InteriorPointReport solve(Transcription& transcription, ProgramSolver solver, const InteriorPointOptions& options,
                          const InteriorPoint::Watch& watch) {
  const Transcription::Units units = transcription.units();
  NaturalProgram natural(transcription.program(), {units.objective, units.variable, units.equality, units.inequality});
  requireSolver(transcription, solver);
  InteriorPointReport report;
  if (solver == ProgramSolver::Ipopt) {
    NaturalVectorProgram vector(*transcription.vectorProgram(), natural, units.variable);
    report = solveByIpopt(vector, options);
  } else {
    InteriorPointOptions polished = options;
    polished.polishingSteps = 3; // forward runs under the controls magnify what the last digits lack
    InteriorPoint interior(polished);
    if (watch) interior.watch(watch);
    report = interior.solve(natural);
  }
  report.objective *= units.objective;
  return report;
}

}
