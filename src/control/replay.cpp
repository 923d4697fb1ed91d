#include "tendril/control/replay.h"

#include "tendril/dynamics/variational.h"

#include <algorithm>

namespace tendril {

double replayDifference(const Model& model, const Transcription& path) {
  const ControlProblem& problem = path.problem();
  const DirectorSystem system(model);
  const Actuation actuation(system, problem.actuators);
  const double h = path.step();
  const int last = path.intervals() - 1;
  VariationalOptions options{.duration = path.duration(), .step = h, .quadrature = problem.quadrature};
  options.applied = [&](const VectorX& q, double t, double scale, VectorX& f) {
    actuation.addForce(q, 0, path.control(std::clamp(int(t / h), 0, last)), scale, f); // `last`: of the interval ahead of the end
  };
  VariationalIntegrator integrator(model, options);

  VectorX unit(system.size());
  for (const Block& block : model.blocks()) {
    unit.segment(block.q, block.nq).setConstant(1);
    if (block.kind == Block::Kind::Pose) unit.segment<3>(block.q).setConstant(model.characteristicLength());
  }
  double largest = 0;
  const auto compare = [&](int n) {
    largest = std::max(largest, (integrator.state().q - path.node(n)).cwiseQuotient(unit).lpNorm<Eigen::Infinity>());
  };
  integrator.start();
  compare(0);
  for (int n = 1; n <= path.intervals(); ++n) {
    integrator.advance();
    compare(n);
  }
  return largest;
}

}
