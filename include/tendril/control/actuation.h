#pragma once
#include "tendril/model/actuator.h"
#include "tendril/model/director_system.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace tendril {

/// Controls tau of a director system, but for muscles, and the covectors that they exert on the redundant coordinates, f = B(q)^T tau, with
///
///     f_x = F,      f_I = m x d_I / 2,      d_I the directors of the frame,
///
/// so that sum_I d_I x f_I = m and momentum maps change by exactly what the controls apply (Leyendecker 2011, 5.22 ff.). Linear in the
/// coordinates for components that are fixed in space and for cables, quadratic for those that follow their frame.
class Actuation {
 public:
  Actuation(const DirectorSystem& system, std::vector<Actuator> actuators);

  int size() const { return int(actuators_.size()); }
  const std::vector<Actuator>& actuators() const { return actuators_; }

  /// B(q)^T, dense (n x controls).
  void columns(const VectorX& q, double t, MatrixX& Bt) const;
  /// d(a^T B^T)/dq, one column (n) per control.
  void powerGradient(const VectorX& q, double t, const VectorX& a, MatrixX& gradient) const;
  /// f += scale B(q)^T tau.
  void addForce(const VectorX& q, double t, const Eigen::Ref<const VectorX>& tau, double scale, VectorX& f) const;
  /// K += scale d(B^T tau)/dq; K has the pattern of DirectorSystem::matrix().
  void addGradient(const VectorX& q, double t, const Eigen::Ref<const VectorX>& tau, double scale, SparseMatrix& K) const;
  /// K += scale d2(a^T B^T tau)/dq2, which does not depend on q.
  void addCurvature(const VectorX& a, const Eigen::Ref<const VectorX>& tau, double scale, SparseMatrix& K) const;

 private:
  struct Site {
    DirectorFrame frame;
    bool follows = true;
    Vector6 wrench;
    int control = 0;
    std::array<std::array<int, 2>, 2> places{}; ///< [j][k]: first value of the rows of block j in the columns of block k
    std::array<int, 2> strides{};               ///< values from one column of block k to the next
  };
  /// d = x_to - x_from = constant + sum c_j q_j, j the first of three coordinates each.
  struct Cable {
    int control = 0;
    std::vector<std::pair<int, double>> parts;
    std::array<const Marker*, 2> ends{};
    std::vector<std::array<int, 3>> places; ///< of the diagonals of all pairs of parts among the values of a matrix
    Vector3 line(const VectorX& q, double t) const;
  };
  void addSites(int control, const SparseMatrix& pattern);
  void addCables(int control, const SparseMatrix& pattern);
  const DirectorSystem& system_;
  std::vector<Actuator> actuators_;
  std::vector<Site> sites_;
  std::vector<Cable> cables_;
};

}
