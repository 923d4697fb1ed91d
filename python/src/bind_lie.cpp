#include "module.h"

#include "tendril/lie/rkmk.h"

namespace tendril::python {

namespace {

using Strains = std::function<Vector6(double)>;

Pose reconstruct(se3::StepMap map, const Strains& strains, double length, int steps, const Pose& begin, int order) {
  if (steps < 1) throw nb::value_error("steps: expected at least 1");
  if (order == 1) return se3::reconstruct<1>(map, strains, length, steps, begin);
  if (order == 2) return se3::reconstruct<2>(map, strains, length, steps, begin);
  if (order == 4) return se3::reconstruct<4>(map, strains, length, steps, begin);
  throw nb::value_error("order: expected 1, 2 or 4");
}

}

void defineLie(nb::module_& m) {
  classOf<Pose>()
      .def(
          "__init__",
          [](Pose* self, const Matrix3& R, const Vector3& x) {
            new (self) Pose{R, x};
          },
          nb::arg("R"), nb::arg("x"), "From a rotation matrix (3, 3) and a position (3,) [m].")
      .def(
          "__mul__", [](const Pose& self, const Pose& other) { return self * other; }, nb::is_operator())
      .def(
          "__mul__", [](const Pose& self, const Vector3& point) -> Vector3 { return self * point; }, nb::is_operator())
      .def(
          "matrix",
          [](const Pose& self) {
            Eigen::Matrix4d H = Eigen::Matrix4d::Identity();
            H.topLeftCorner<3, 3>() = self.R;
            H.topRightCorner<3, 1>() = self.x;
            return H;
          },
          "The homogeneous matrix [R x; 0 1], (4, 4).");
  nb::module_ space = submodule(m, "se3");
  space.def("reconstruct", reconstruct, nb::arg("map"), nb::arg("strains"), nb::arg("length"), nb::arg("steps"), nb::arg("begin") = Pose{},
            nb::arg("order") = 4,
            "H(length) from H(0) = begin in equal steps of a method of order 1, 2 or 4; strains(s) gives the six strains at s.");
}

}
