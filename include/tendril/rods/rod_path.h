#pragma once
#include "tendril/rods/rod_equilibrium.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tendril {

/// A rod and its supports that depend on a parameter: distance or rotation of the ends, weight, natural strains, stiffness.
struct RodFamily {
  std::function<RodProperties(double)> rod;
  std::function<RodEnds(double)> ends; ///< what is held, and what not, is the same for all parameters
};

struct RodPathOptions {
  int elements = 50;
  se3::StepMap map = se3::StepMap::Exponential;
  RodWeight weight = RodWeight::Trapezoid;
  double from = 0, to = 1; ///< parameter: a path begins at the first and ends where it leaves the interval
  VectorX start;           ///< strains of the first guess at `from`; empty: the natural ones
  /// Arclength of a step, and the largest; of (L u in the mean square, multipliers over those of the first buckling, parameter over the
  /// interval).
  double step = 0.2, largestStep = 0.5;
  int branchPoints = 1; ///< after so many the first path ends
  bool follows = true;  ///< also the branches, both signs
  int maxPoints = 500;  ///< of a branch
};

/// An equilibrium on a path, stable or not.
struct RodPathPoint {
  int branch = 0; ///< 0 the first path; 2k - 1 and 2k the two halves of the branch at the k-th branch point
  double parameter = 0;
  RodSupport end;
  double energy = 0;    ///< [J]
  int unstable = 0;     ///< directions that the supports allow in which the energy falls to second order
  bool isFold = false;  ///< the parameter has turned since the point before
  bool isEnd = false;   ///< of its branch
  int branchPoint = -1; ///< number of the branch point that lies between this and the point before
  int iterations = 0;
  double residual = 0;
  std::string note;
  bool isStable() const { return unstable == 0; }
};

/// A simple branch point of the first path.
struct RodBranchPoint {
  double parameter = 0;
  RodSupport end;
  VectorX strains;   ///< there
  VectorX direction; ///< of the strains along the branch, of unit length in L u
};

/// Equilibria of a strain rod along a parameter p: the path of y = (u, mu, p) in
///
///     G(y) = [ dE/du + J^T mu ; c ] = 0        c: r_N - r*(p), log(R*(p)^T R_N), J = dc/du,
///
/// by pseudo-arclength (Keller 1977): a step along the unit tangent t, then Newton's method on G = 0 within the plane t . (y - y0) = ds.
/// The multipliers are on the path too: a straight rod that is pressed has the same strains and parameter for all forces.
///
/// At a simple branch point the determinant of [G'; t^T] changes its sign, at a fold that of dp/ds. A branch point is located by the
/// bordered system [G' 0; t^T q; ...] whose last unknown vanishes there (Griewank & Reddien 1984), and its null vector is the direction of
/// the branch, along which both halves begin. The inertia of [H J^T; J 0] counts the directions in which the energy falls. Where two cross
/// at once the point is not simple, and is told: bent alike about d1 and d2, a straight rod buckles in all directions; give it two
/// stiffnesses. NumericalFailure where the path is lost.
class RodPath {
 public:
  RodPath(RodFamily family, RodPathOptions options);
  ~RodPath();
  RodPath(RodPath&&) noexcept;

  bool finished() const;
  /// The next point of the branch, or of the next branch that is to be followed.
  const RodPathPoint& advance();
  const RodPathPoint& point() const { return point_; }
  const std::vector<RodBranchPoint>& branchPoints() const { return branchPoints_; }
  /// The rod at the present point.
  const StrainRod& rod() const;

 private:
  class Equations;
  struct Place {
    VectorX y, tangent;
    double sign = 1; ///< of the determinant
    int unstable = 0;
  };
  struct Start {
    VectorX y, direction;
    int branch = 0;
  };

  void begin();
  void beginBranch();
  void step();
  bool tryStep(double ds, Place& next);
  /// Newton's method within the plane border . (y - at) = 0; false where it does not converge fast.
  bool correct(VectorX& y, const VectorX& border, const VectorX& at);
  /// Tangent with border . tangent > 0, sign and inertia.
  void complete(Place& place, const VectorX& border);
  void passBranchPoint(const Place& from, const Place& to);
  bool leaves(const Place& next, double& bound) const;
  void endAt(const Place& next, double bound);
  void report();

  RodPathOptions options_;
  std::unique_ptr<Equations> equations_;
  Place place_;
  RodPathPoint point_;
  std::vector<RodBranchPoint> branchPoints_;
  std::deque<Start> pending_;
  double ds_ = 0;
  int points_ = 0, iterations_ = 0;
  double residual_ = 0;
  bool isAtEnd_ = false, hasBegun_ = false;
};

}
