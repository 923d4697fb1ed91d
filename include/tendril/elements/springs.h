#pragma once
#include "tendril/elements/relative_motion.h"
#include "tendril/model/term.h"

#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// Stiffness, damping and the unstressed state of a spring; all three non-negative, none of it a tuning parameter.
struct SpringParameters {
  double stiffness = 0;         ///< [N/m] or [N m/rad]
  double damping = 0;           ///< [N s/m] or [N m s/rad]
  std::optional<double> rest{}; ///< free length [m] or rest angle [rad]; that of the initial configuration if not given
};

/// Springs with dampers along the line between the origins of two markers, at the distance rho = |x12|:
///
///     V = k (rho - L)^2 / 2,      tension T = k (rho - L) + c rho'.
///
/// The direction of the force is undefined where the ends meet. With a free length L > 0 such an initial configuration is an InputError,
/// and one met later is refused, so that the solver shortens its step. A spring of free length zero has no such place: it pulls with k x12,
/// and its damper acts against the whole velocity of the second origin as seen from the first frame.
class LinearSprings final : public Term {
 public:
  int add(const std::string& name, const Marker& first, const Marker& second, const SpringParameters& parameters);

  int size() const { return int(springs_.size()); }
  int find(const std::string& name) const;
  const std::string& name(int spring) const { return springs_[std::size_t(spring)].name; }
  const MarkerPair& markers(int spring) const { return springs_[std::size_t(spring)].pair; }
  /// T, positive when the spring pulls its ends together; length rho.
  double tension(const State& state, int spring) const;
  double length(const State& state, int spring) const;

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  void embed(DirectorSystem& system) const override;

 private:
  struct Spring {
    std::string name;
    MarkerPair pair;
    double stiffness, damping;
    std::optional<double> rest;
    double freeLength = 0;
  };
  static PairWrench wrench(const Spring& spring, const RelativeMotion& motion, double damping, bool& isDefined);

  std::vector<Spring> springs_;
};

/// Torsional springs with dampers about the third axes of two markers, in the AxisAngle phi of frame 2 against frame 1:
///
///     V = k (phi - phi0)^2 / 2,      moment = k (phi - phi0) + c phi'.
///
/// The angle has no memory: it is taken within half a turn of the rest angle phi0. The moment jumps where the twist reaches half a turn;
/// use a bushing or a beam where more is needed. The axes are meant to be held in line by a joint; where they turn opposite, the
/// configuration is refused.
class TorsionSprings final : public Term {
 public:
  int add(const std::string& name, const Marker& first, const Marker& second, const SpringParameters& parameters);

  int size() const { return int(springs_.size()); }
  int find(const std::string& name) const;
  /// Moment about e3 with which the spring turns frame 2 back; angle phi.
  double moment(const State& state, int spring) const;
  double angle(const State& state, int spring) const;

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  void embed(DirectorSystem& system) const override;

 private:
  struct Spring {
    std::string name;
    MarkerPair pair;
    double stiffness, damping;
    std::optional<double> rest;
    double restAngle = 0;
  };
  std::vector<Spring> springs_;
};

/// Bushings: springs in all six directions, linear in e = log(H0^-1 H12) in R^6 (displacement, rotation vector), with 6x6 matrices of
/// stiffness K and damping C, symmetric and positive semidefinite:
///
///     V = e^T K e / 2,      w = T(e)^-T K e + C w12.
///
/// H0 is the unstressed relative pose. The elastic law is the same seen from either marker. Range: rotations below half a turn.
class Bushings final : public Term {
 public:
  /// Unstressed where the frames coincide, or in the initial configuration.
  enum class Rest { Coincident, Initial };
  int add(const std::string& name, const Marker& first, const Marker& second, const Matrix6& stiffness,
          const Matrix6& damping = Matrix6::Zero(), Rest rest = Rest::Coincident);

  int size() const { return int(bushings_.size()); }
  int find(const std::string& name) const;
  Vector6 deformation(const State& state, int bushing) const;

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  /// A law in dot products that agrees with this one to second order in e: e = (components of x2 - x1 in the mean of the directors,
  /// sin(phi) n) for a rotation (phi, n), and dampers on e'. Range: rotations below a quarter turn.
  void embed(DirectorSystem& system) const override;

 private:
  struct Bushing {
    std::string name;
    MarkerPair pair;
    Matrix6 stiffness, damping;
    Rest rest;
    Pose reference; // H0^-1
  };
  std::vector<Bushing> bushings_;
};

}
