#include "control/node_space.h"

#include "control/forward_runs.h"
#include "tendril/discrete/null_space.h"

#include <gtest/gtest.h>

namespace tendril {
namespace {

// Which side rounding puts a number on that should be zero does not change the basis; it spans what the constraints leave.
TEST(NodeSpace, ItsBasisDoesNotDependOnRounding) {
  const ForwardSample arm = robotArm({});
  const Model& model = *arm.mechanism->model;
  const DirectorSystem system(model);
  const VectorX q = model.initialState().q;
  const std::vector<int> rows = NullSpace(system, q, 0).keptConstraints();
  const NodeSpace space(system, rows, q, 0);
  ASSERT_EQ(space.dimension(), 6);
  EXPECT_LT((space.basis().transpose() * space.basis() - MatrixX::Identity(6, 6)).norm(), 1e-14);
  SparseMatrix G = system.gradient();
  system.constraintGradient(q, 0, G);
  EXPECT_LT((G * space.unit().asDiagonal() * space.basis()).norm(), 1e-14);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const NodeSpace other(space, q + randomVector(q.size(), seed, 1e-16), 0);
    EXPECT_LT((other.basis() - space.basis()).norm(), 1e-13) << seed;
  }
}

}
}
