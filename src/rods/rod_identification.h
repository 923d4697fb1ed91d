#pragma once
#include "tendril/rods/strain_rod.h"

namespace tendril {

/// The point at arclength s of a strain rod with the exponential map, and its derivative by all strains, 3 x 3N.
Vector3 pointAt(const StrainRod& rod, double s);
void addPointJacobian(const StrainRod& rod, double s, Eigen::Ref<MatrixX> J);

/// Places of points along a rod of this length.
std::vector<double> placesOf(const std::vector<Vector3>& points, double length);

/// Strains, constant all along, whose curve is nearest to a polyline in curvature and in the turn of its direction.
Vector3 strainsOf(const std::vector<Vector3>& points, const std::vector<double>& places, const Matrix3& begin);

}
