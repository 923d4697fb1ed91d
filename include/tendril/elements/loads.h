#pragma once
#include "tendril/elements/relative_motion.h"
#include "tendril/model/term.h"
#include "tendril/model/time_function.h"

#include <string>
#include <vector>

namespace tendril {

/// How a load follows the frame it acts on.
enum class LoadDirection {
  Dead,    ///< components fixed in the inertial frame
  Follower ///< components fixed in the frame of the marker
};

/// Concentrated forces F [N] and moments M [N m] at markers, times a function of time f(t). The load acts at the origin of the marker:
///
///     r -= J^T f (R^T F, R^T M)  (dead),      r -= J^T f (F, M)  (follower).
///
/// The tangent is exact and contains the rotation of the frame under a dead load and the Hessian of a marker between two nodes; for
/// followers and for moments it is unsymmetric, as the loads have no potential. Their work is counted as power, also where a potential
/// exists.
class Loads final : public Term {
 public:
  int add(const std::string& name, const Marker& marker, LoadDirection direction, const Vector3& force,
          const Vector3& moment = Vector3::Zero(), TimeFunction factor = TimeFunction::constant());

  int size() const { return int(loads_.size()); }
  int find(const std::string& name) const;
  /// (force, moment) in the inertial frame.
  Vector6 wrench(const State& state, int load) const;

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  void addEnergy(const State& state, Energy& energy) const override;
  void embed(DirectorSystem& system) const override;

 private:
  struct Load {
    std::string name;
    MarkerPair pair; // the inertial frame and the marker
    LoadDirection direction;
    Vector6 components;
    TimeFunction factor;
  };
  static Vector6 localWrench(const Load& load, const Matrix3& R);

  std::vector<Load> loads_;
};

}
