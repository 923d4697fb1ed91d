#pragma once
#include "tendril/shells/sheet_shape.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tendril {

/// Lengths are kept, curvatures are those of the surface, derivatives those of the shape.
inline void checkShape(const SheetShape& shape, const Vector3& q, const Vector2& s) {
  const double h = 1e-4;
  const SheetPoint<double> p = shape.at(q.data(), s);
  const auto at = [&](double a, double b) { return shape.frame(q.data(), s + Vector2(a, b)); };
  const auto slope = [&](const auto& f) { return ((8 * (f(h) - f(-h)) - f(2 * h) + f(-2 * h)) / (12 * h)).eval(); };
  const Vector3 r1 = slope([&](double t) { return at(t, 0).x; }), r2 = slope([&](double t) { return at(0, t).x; });
  const Pose H = at(0, 0);
  EXPECT_LT((H.R.transpose() * H.R - Matrix3::Identity()).norm(), 1e-13);
  EXPECT_LT((r1 - H.R.col(0)).norm() + (r2 - H.R.col(1)).norm(), 1e-10);
  const Vector3 n1 = slope([&](double t) { return Vector3(at(t, 0).R.col(2)); }),
                n2 = slope([&](double t) { return Vector3(at(0, t).R.col(2)); });
  EXPECT_NEAR(-n1.dot(H.R.col(0)), p.k[0], 1e-9 * (1 + std::abs(p.k[0])));
  EXPECT_NEAR(-n2.dot(H.R.col(1)), p.k[1], 1e-9 * (1 + std::abs(p.k[1])));
  EXPECT_NEAR(-n1.dot(H.R.col(1)), p.k[2], 1e-9 * (1 + std::abs(p.k[2])));
  EXPECT_NEAR(p.k[0] * p.k[1], p.k[2] * p.k[2], 1e-13);

  const SheetPoint<Taylor<3>> third = shape.thirdOrder(q.data(), s);
  const SheetPoint<Taylor<2>> second = shape.secondOrder(q.data(), s);
  for (int k = 0; k < shape.size(); ++k) {
    const Vector3 ahead = q + h * Vector3::Unit(k), behind = q - h * Vector3::Unit(k);
    const auto a = shape.secondOrder(ahead.data(), s), b = shape.secondOrder(behind.data(), s);
    const auto compare = [&](const auto& of3, const auto& of2, const auto& ofA, const auto& ofB) {
      for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_NEAR((ofA[c].value() - ofB[c].value()) / (2 * h), of3[c].first(k), 1e-6);
        EXPECT_EQ(of2[c].first(k), of3[c].first(k));
        for (int i = 0; i < shape.size(); ++i) {
          EXPECT_NEAR((ofA[c].first(i) - ofB[c].first(i)) / (2 * h), of3[c].second(i, k), 1e-6);
          for (int j = 0; j < shape.size(); ++j)
            EXPECT_NEAR((ofA[c].second(i, j) - ofB[c].second(i, j)) / (2 * h), of3[c].third(i, j, k), 2e-5);
        }
      }
    };
    compare(third.r, second.r, a.r, b.r), compare(third.d1, second.d1, a.d1, b.d1);
    compare(third.d2, second.d2, a.d2, b.d2), compare(third.k, second.k, a.k, b.k);
  }
}

}
