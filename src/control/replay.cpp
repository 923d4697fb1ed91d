#include "tendril/control/replay.h"

#include "tendril/control/forward_path.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <string>

namespace tendril {

double replayDifference(const Model& model, const Transcription& path) {
  if (path.node(0).size() != model.nq())
    throw InputError("the path has " + std::to_string(path.node(0).size()) + " coordinates in its nodes, the model " +
                     std::to_string(model.nq()) + "; give the model of the path");
  const ControlProblem& problem = path.problem();
  ForwardPath forward(model, problem.actuators, {.steps = path.intervals(), .duration = path.duration(), .quadrature = problem.quadrature});
  forward.run(path.controls());

  VectorX unit(model.nq());
  for (const Block& block : model.blocks()) {
    unit.segment(block.q, block.nq).setConstant(1);
    if (block.kind == Block::Kind::Pose) unit.segment<3>(block.q).setConstant(model.characteristicLength());
  }
  double largest = 0;
  for (int n = 0; n <= path.intervals(); ++n)
    largest = std::max(largest, (forward.node(n) - path.node(n)).cwiseQuotient(unit).lpNorm<Eigen::Infinity>());
  return largest;
}

}
