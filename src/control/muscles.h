#pragma once
#include "tendril/model/actuator.h"
#include "tendril/model/director_system.h"

#include <array>
#include <utility>
#include <vector>

namespace tendril {

/// What a muscle pulls with, F(l, l', a) [N], and its derivatives by length, its rate and the activation, which is linear in it.
struct MusclePull {
  double force = 0, byLength = 0, byRate = 0, byControl = 0;
  double lengthLength = 0, lengthRate = 0, rateRate = 0, lengthControl = 0, rateControl = 0;
};
MusclePull pullOf(const ActuatorMuscle& muscle, double length, double rate, double activation);

/// The muscles among the actuators of a director system. With the vector d = x_to - x_from = C q + c between their ends, e = C q' its rate,
/// u = d / |d|, l = |d| and l' = u . e, a muscle exerts the covector
///
///     f(q, q', a) = -F(l, l', a) C^T u.
///
/// Matrices have the pattern of DirectorSystem::matrix().
class Muscles {
 public:
  Muscles(const DirectorSystem& system, const std::vector<Actuator>& actuators);

  bool empty() const { return fibres_.empty(); }
  /// f += scale f(q, q', a).
  void addForce(const VectorX& q, double t, const VectorX& rate, const Eigen::Ref<const VectorX>& controls, double scale, VectorX& f) const;
  /// K += byPlace df/dq + byRate df/dq'.
  void addGradient(const VectorX& q, double t, const VectorX& rate, const Eigen::Ref<const VectorX>& controls, double byPlace,
                   double byRate, SparseMatrix& K) const;
  /// df/da, a column for each control: zero for those that are no muscles.
  void columns(const VectorX& q, double t, const VectorX& rate, MatrixX& Bt) const;
  /// K += second derivatives of alpha . f, weighed: by places, by place (rows) and rate, by rate and place, by rates.
  struct Weights {
    double pp = 0, pr = 0, rp = 0, rr = 0;
  };
  void addCurvature(const VectorX& q, double t, const VectorX& rate, const Eigen::Ref<const VectorX>& controls, const VectorX& alpha,
                    const Weights& weights, SparseMatrix& K) const;
  /// power += byPlace d2(alpha . f)/dq da + byRate d2(alpha . f)/dq' da, a column for each control.
  void addPower(const VectorX& q, double t, const VectorX& rate, const VectorX& alpha, double byPlace, double byRate, MatrixX& power) const;

 private:
  struct Fibre {
    ActuatorMuscle muscle;
    int control = 0;
    std::vector<std::pair<int, double>> parts; ///< C: first of three coordinates, and the factor
    std::vector<std::array<int, 9>> places;    ///< of the blocks of all pairs of parts among the values of a matrix, by columns
    Vector3 map(const VectorX& motion) const;  ///< C q'
    Vector3 line(const VectorX& q, double t) const;
    void add(const Matrix3& block, SparseMatrix& K) const; ///< C^T block C
  };
  /// Of one fibre at hand: u, p = dl'/dd, l, l'.
  struct Line {
    Vector3 u, p;
    double length, rate;
  };
  static Line lineOf(const Fibre& fibre, const VectorX& q, double t, const VectorX& rate);

  std::vector<Fibre> fibres_;
};

}
