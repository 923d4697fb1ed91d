#include "solvers/friction_neighbourhood.h"

#include <numeric>

#include <gtest/gtest.h>

#include "friction_problems.h"

namespace tendril {
namespace {

using Eigen::VectorXd;

/// A column of ten bodies with impulses that solve nothing; contact i is between the bodies i - 1 and i.
struct Column {
  Column() {
    const FrictionProblem problem = test::column(10);
    std::vector<int> all(problem.contacts());
    std::iota(all.begin(), all.end(), 0);
    system.pack(problem, all);
    r.resize(system.rows());
    for (int k = 0; k < r.size(); ++k) r[k] = 1 + 0.1 * k;
    system.velocities(r, w, u);
  }
  FrictionSystem system;
  VectorXd r, w, u;
};

VectorXd rowsOf(const VectorXd& x, const FrictionSystem& part) {
  VectorXd rows(part.rows());
  for (int i = 0; i < part.contacts(); ++i)
    rows.segment(part.first[i], part.laws[i].size) = x.segment(part.globalFirst[i], part.laws[i].size);
  return rows;
}

TEST(FrictionPart, HasTheVelocitiesOfTheWholeWhileTheOthersKeepTheirImpulses) {
  Column whole;
  FrictionSystem part;
  part.packPart(whole.system, {3, 4, 7}, whole.r, whole.u);
  for (const int contact : {3, 4, 7}) whole.r.segment(whole.system.first[contact], 3) << 5, -2, 0.5 * contact;
  whole.system.velocities(whole.r, whole.w, whole.u);
  VectorXd w, u;
  part.velocities(rowsOf(whole.r, part), w, u);
  EXPECT_LT((u - rowsOf(whole.u, part)).norm(), 1e-12 * whole.u.norm());
  double published = 0, scaled = 0;
  for (const int contact : {3, 4, 7}) {
    const FrictionSystem::Squares squares = whole.system.residualOf(contact, whole.r, whole.u);
    published += squares.published;
    scaled += squares.scaled;
  }
  const FrictionSystem::Squares squares = part.residual(rowsOf(whole.r, part), u);
  EXPECT_NEAR(squares.published, published, 1e-12 * published);
  EXPECT_NEAR(squares.scaled, scaled, 1e-12 * scaled);
}

TEST(FrictionNeighbourhood, SurroundsTheWorstContact) {
  Column column;
  column.r.setZero();
  column.u.setZero();
  FrictionNeighbourhood neighbourhood;
  EXPECT_EQ(neighbourhood.find(column.system, column.r, column.u, 1), 0);
  column.u[column.system.first[5]] = -3; // approaches: violates the law
  column.u[column.system.first[1]] = -1;
  const double square = column.system.residualOf(5, column.r, column.u).scaled,
               other = column.system.residualOf(1, column.r, column.u).scaled;
  EXPECT_NEAR(neighbourhood.find(column.system, column.r, column.u, 2), square / (square + other), 1e-12);
  EXPECT_EQ(neighbourhood.contacts(), (std::vector<int>{4, 5, 6}));
  neighbourhood.find(column.system, column.r, column.u, 4);
  EXPECT_EQ(neighbourhood.contacts(), (std::vector<int>{4, 5, 6, 7}));
  EXPECT_NEAR(neighbourhood.find(column.system, column.r, column.u, 1000), 1, 1e-12);
  EXPECT_EQ(int(neighbourhood.contacts().size()), column.system.contacts());
}

}
}
