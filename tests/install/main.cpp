#include <tendril/lie/types.h>

#include <cstdio>

int main() {
  tendril::Pose pose;
  pose.x = {1, 2, 3};
  const double error = (pose.inverse() * pose).x.norm();
  std::printf("error %g\n", error);
  return error < 1e-15 ? 0 : 1;
}
