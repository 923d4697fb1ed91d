#include "tendril/model/pattern.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

using namespace tendril;

namespace {

/// Three blocks of sizes 2, 3, 1, coupled in an order unlike that of the matrix.
struct Example {
  Pattern pattern;
  int a = pattern.addUnknowns(2), b = pattern.addUnknowns(3), c = pattern.addUnknowns(1);
  int cb = pattern.couple(c, b), ab = pattern.couple(a, b), aa = pattern.couple(a, a), bb = pattern.couple(b, b);
};

}

TEST(PatternTest, CountsUnknowns) {
  const Example e;
  EXPECT_EQ(e.pattern.size(), 6);
  EXPECT_EQ(e.pattern.blocks(), 3);
  EXPECT_EQ(e.pattern.unknowns(e.b).offset, 2);
  EXPECT_EQ(e.pattern.unknowns(e.b).size, 3);
  EXPECT_EQ(e.pattern.unknowns(e.c).offset, 5);
}

TEST(PatternTest, GivesOneNumberPerPair) {
  Example e;
  EXPECT_EQ(e.pattern.couple(e.a, e.b), e.ab);
  EXPECT_NE(e.pattern.couple(e.b, e.a), e.ab);
}

TEST(PatternTest, PlacesEachCouplingWhereItBelongs) {
  Example e;
  e.pattern.freeze();
  SparseMatrix matrix = e.pattern.matrix();
  EXPECT_TRUE(matrix.isCompressed());
  EXPECT_EQ(matrix.nonZeros(), 1 * 3 + 2 * 3 + 2 * 2 + 3 * 3);
  for (int column = 0; column < matrix.outerSize(); ++column) {
    int last = -1;
    for (SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry) {
      EXPECT_GT(entry.row(), last) << "rows of column " << column << " are not in order";
      last = int(entry.row());
    }
  }

  MatrixX expected = MatrixX::Zero(6, 6);
  const auto fill = [&](int coupling, int row, int column, double value) {
    const UnknownBlock &r = e.pattern.unknowns(row), &c = e.pattern.unknowns(column);
    const Pattern::Slot& slot = e.pattern.slot(coupling);
    for (int j = 0; j < c.size; ++j) {
      for (int i = 0; i < r.size; ++i, ++value) {
        matrix.valuePtr()[slot.offset + j * slot.stride + i] += value;
        expected(r.offset + i, c.offset + j) += value;
      }
    }
  };
  fill(e.cb, e.c, e.b, 100);
  fill(e.ab, e.a, e.b, 200);
  fill(e.aa, e.a, e.a, 300);
  fill(e.bb, e.b, e.b, 400);
  EXPECT_EQ(MatrixX(matrix), expected);
  EXPECT_EQ(MatrixX(e.pattern.matrix()).norm(), 0);
}

TEST(PatternTest, FreezesWithoutCouplings) {
  Pattern pattern;
  pattern.addUnknowns(2);
  pattern.freeze();
  EXPECT_EQ(pattern.matrix().rows(), 2);
  EXPECT_EQ(pattern.matrix().nonZeros(), 0);
}
