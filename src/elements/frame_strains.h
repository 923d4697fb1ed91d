#pragma once
#include "tendril/model/director_system.h"

#include <vector>

namespace tendril {

using Matrix8 = Eigen::Matrix<double, 8, 8>;

/// Columns [x1 d1 d2 d3 x2 d1 d2 d3] of both frames.
using Columns = Eigen::Matrix<double, 3, 8>;
Columns columnsOf(const DirectorFrames& Y);

/// Weights W of a sum of dot products, tr(Y W Y^T) / 2 over the eight columns: its gradient is Y W, its Hessian W x I.
void addProduct(const DotProduct& product, double factor, Matrix8& W);
void addHessian(const Matrix8& W, double factor, Matrix24& H);

/// Displacement and rotation of frame 2 against frame 1 in dot products, the same seen from either frame (i, j, k cyclic):
///
///     e_i = (d_i^1 + d_i^2) . (x2 - x1) / 2,      e_{3+i} = (d_k^1 . d_j^2 - d_j^1 . d_k^2) / 2.
///
/// Where frame 2 is turned by the vector phi n against frame 1, the rotational part is sin(phi) n. Over a length L these are the strains
/// of a beam element that interpolates directors, at its one Gauss point: D^T x' and the axial vector of D^T D', with D and D' of the
/// middle (Romero & Armero 2002; Betsch & Steinmann 2002).
struct FrameStrains {
  static constexpr int size = 6;
  static std::vector<DotProduct> products(int strain);
};

/// Components of x2 - x1 in frame 1.
struct OriginStrains {
  static constexpr int size = 3;
  static std::vector<DotProduct> products(int strain);
};

/// Strains e and their gradient B, de = B dy, which is linear in y.
template <class Strains> struct StrainTable {
  static constexpr int size = Strains::size;
  using Values = Eigen::Matrix<double, size, 1>;
  using Stiffness = Eigen::Matrix<double, size, size>;
  using Gradient = Eigen::Matrix<double, size, 24>;

  StrainTable();
  Gradient gradient(const DirectorFrames& Y) const;
  /// e = B y / 2, as of forms of degree two.
  Values values(const Gradient& B, const DirectorFrames& Y) const;
  Matrix8 weights(const Values& n) const;

  std::array<Matrix8, size> W;
};

/// Pairs of frames with V = (e - e0)^T C (e - e0) / 2: elements of beams, and bushings. Rotations enter by their sine: V does not exist
/// (NaN) where the frames are turned by 90 degrees or more against each other, beyond which less moment would turn them further.
class ElasticFrames final : public DirectorPotential {
 public:
  void add(const std::array<DirectorFrame, 2>& frames, const Vector6& unstrained, const Matrix6& stiffness) {
    members_.push_back({frames, unstrained, stiffness});
  }
  int size() const override { return int(members_.size()); }
  const std::array<DirectorFrame, 2>& frames(int member) const override { return members_[member].frames; }
  double evaluate(int member, const DirectorFrames& Y, double t, Vector24* gradient, Matrix24* hessian) const override;
  /// With the mean of the strains at both ends: they are quadratic, so that B(middle) dy is their change.
  void discreteGradient(int member, const DirectorFrames& Y0, const DirectorFrames& Y1, double t, double length, Vector24& gradient,
                        Matrix24* byEnd) const override;

 private:
  struct Member {
    std::array<DirectorFrame, 2> frames;
    Vector6 unstrained;
    Matrix6 stiffness;
  };
  StrainTable<FrameStrains> strains_;
  std::vector<Member> members_;
};

/// Pairs of frames with dampers F = -B^T C e'.
template <class Strains> class ViscousFrames final : public DirectorForce {
 public:
  using Table = StrainTable<Strains>;
  void add(const std::array<DirectorFrame, 2>& frames, const typename Table::Stiffness& damping) { members_.push_back({frames, damping}); }
  int size() const override { return int(members_.size()); }
  const std::array<DirectorFrame, 2>& frames(int member) const override { return members_[member].frames; }
  void evaluate(int member, const DirectorFrames& Y, const DirectorFrames& rate, double t, Vector24& force, Matrix24* stiffness,
                Matrix24* damping) const override;

 private:
  struct Member {
    std::array<DirectorFrame, 2> frames;
    typename Table::Stiffness damping;
  };
  Table strains_;
  std::vector<Member> members_;
};

/// e of frame 2 at H12 against a frame 1 at the origin.
Vector6 frameStrains(const Pose& relative);
/// e' where frames 1 and 2 move with these twists, each in its own axes.
Vector6 frameStrainRates(const Pose& relative, const Vector6& twist1, const Vector6& twist2);

}
