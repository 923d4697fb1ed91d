#pragma once
#include "tendril/solvers/interior_point.h"

#include <Eigen/Core>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tendril {

/// A closed plane elastic rod of length 1 and EI = 1 in a disc of radius R about the origin (Blumentals 2017, 6.4.7): elements of constant
/// curvature, arcs of length h = 1/N,
///
///     min sum (h/2) kappa_k^2    s.t.  r_{k+1} = r_k + h s(h kappa_k) (cos a_k, sin a_k),   a_k = theta_k + h kappa_k / 2,   s(x) = 2
///     sin(x/2)/x,
///                                      theta_{k+1} = theta_k + h kappa_k,    r_N = r_0,    theta_N = theta_0 + 2 pi index,    |r_k| <= R.
///
/// The index counts the turns of the tangent: 1 for a circle that is folded inwards, 0 for a figure eight. The rod may cross itself. A
/// nonlinear program in stages, whose effort is linear in N.
struct PackedRing {
  double energy = 0;                  ///< in EI/L
  double largestRadius = 0;           ///< of a node
  double closure = 0;                 ///< |r_N - r_0|
  double index = 0;                   ///< (1/2 pi) sum h kappa
  std::vector<Eigen::Vector3d> nodes; ///< (x, y, theta), N + 1 of them
  std::vector<double> pressure;       ///< multipliers of the disc at nodes, not negative
  double complementarity = 0;         ///< largest product of a multiplier and R^2 - |r|^2
  /// How far the curvatures are from those of their mirror image, about the best of all axes: largest difference over the largest one.
  double asymmetry = 0;
  bool isSolved = false, isMinimum = false;
  int iterations = 0;
  std::string message;
};

struct PackedRingOptions {
  int elements = 100;
  double radius = 0.15;
  int index = 1;
  unsigned seed = 1; ///< of the first guess, a random closed tangle
  double tolerance = 1e-9;
  int maxIterations = 1000;
  std::function<bool()> stops; ///< asked in every iteration: gives up with Interrupted
};

/// InputError for a container that holds no element, and other numbers that make no ring.
void checkRing(const PackedRingOptions& options);

/// As checkRing() allows.
PackedRing packRing(const PackedRingOptions& options);

}
