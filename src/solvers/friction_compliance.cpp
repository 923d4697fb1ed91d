#include "tendril/solvers/friction_compliance.h"

namespace tendril {

Eigen::VectorXd addCompliance(FrictionProblem& problem, const Eigen::VectorXd& compliance) {
  if (problem.hasBodies()) problem.W = delassus(problem);
  Eigen::VectorXd before(problem.rows());
  BlockMatrix& W = problem.W;
  for (int i = 0; i < problem.contacts(); ++i) {
    for (int b = W.start[std::size_t(i)]; b < W.start[std::size_t(i) + 1]; ++b) {
      const BlockMatrix::Block& block = W.blocks[std::size_t(b)];
      if (block.column != i) continue;
      const int size = problem.laws[std::size_t(i)].size, first = problem.firstRow[std::size_t(i)];
      auto diagonal = Eigen::Map<Eigen::MatrixXd>(W.values.data() + block.offset, size, size).diagonal();
      before.segment(first, size) = diagonal;
      diagonal += compliance.segment(first, size);
    }
  }
  return before;
}

}
