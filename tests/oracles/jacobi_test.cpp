#include "jacobi.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

TEST(Jacobi, QuarterPeriodsAndDerivatives) {
  for (const double k : {0.01, 0.3, 0.7, 0.99}) {
    const double K = std::comp_ellint_1(k);
    EXPECT_NEAR(jacobi(K, k).sn, 1, 1e-14);
    EXPECT_NEAR(jacobi(2 * K, k).cn, -1, 1e-13);
    for (const double u : {-0.4, 0.3, 1.1, 5.0}) {
      const Jacobi f = jacobi(u, k), up = jacobi(u + 1e-5, k), down = jacobi(u - 1e-5, k);
      EXPECT_NEAR(f.sn * f.sn + f.cn * f.cn, 1, 1e-14);
      EXPECT_NEAR((up.sn - down.sn) / 2e-5, f.cn * f.dn, 1e-9);
      EXPECT_NEAR((up.cn - down.cn) / 2e-5, -f.sn * f.dn, 1e-9);
    }
  }
}

}
}
