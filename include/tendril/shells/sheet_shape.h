#pragma once
#include "tendril/shells/patch.h"
#include "tendril/shells/taylor.h"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tendril {

class Model;
struct State;

/// A point of a sheet in the frame of s = 0: position, the directors along the lines of the flat sheet, and curvatures b11, b22, b12.
template <class T> struct SheetPoint { std::array<T, 3> r, d1, d2, k; };

/// The shape of a developable sheet as a function of coordinates, at most three; lengths are kept to round-off. With d1, d2 the directors
/// along the lines of the flat sheet, and their cross product the normal, d_i r = d_i.
class SheetShape {
 public:
  virtual ~SheetShape() = default;
  virtual int size() const = 0;
  virtual SheetPoint<double> at(const double* q, const Vector2& s) const = 0;
  /// With all derivatives by the coordinates.
  virtual SheetPoint<Taylor<2>> secondOrder(const double* q, const Vector2& s) const = 0;
  virtual SheetPoint<Taylor<3>> thirdOrder(const double* q, const Vector2& s) const = 0;
  /// How much a rectangle turns along its sides [rad], for quadrature.
  virtual Vector2 turns(const double* q, const PatchDomain& domain) const = 0;
  /// Whether the coordinates are regular and the sheet exists on the rectangle; and, if not, what is wrong.
  virtual bool accepts(const double* q, const PatchDomain& domain) const;
  std::string refusal(const double* q, const PatchDomain& domain) const;

  Pose frame(const double* q, const Vector2& s) const;

 protected:
  virtual std::string wrong(const double* q, const PatchDomain& domain) const;
};

/// A circular cylinder: (kappa, phi), as ConePoint.
class CircularSheet final : public SheetShape {
 public:
  int size() const override { return 2; }
  SheetPoint<double> at(const double* q, const Vector2& s) const override;
  SheetPoint<Taylor<2>> secondOrder(const double* q, const Vector2& s) const override;
  SheetPoint<Taylor<3>> thirdOrder(const double* q, const Vector2& s) const override;
  Vector2 turns(const double* q, const PatchDomain& domain) const override;
  /// Not where it is flat, and phi has no meaning.
  bool accepts(const double* q, const PatchDomain& domain) const override;

 protected:
  std::string wrong(const double* q, const PatchDomain& domain) const override;
};

/// A cylinder whose section is a clothoid: (k0, k1, phi), its curvature k0 + k1 u at the distance u = s . (cos phi, sin phi) from the
/// ruling through s = 0. In the coordinates of the source (Blumentals 2017, 9.5), b = (beta (s1 + alpha s2) + gamma) [1 alpha; alpha
/// alpha^2], phi = atan(alpha), k0 = (1 + alpha^2) gamma, k1 = (1 + alpha^2)^(3/2) beta; here no direction of the rulings is singular.
class ClothoidSheet final : public SheetShape {
 public:
  static Vector3 fromSource(double alpha, double beta, double gamma);
  /// (alpha, beta, gamma).
  static Vector3 toSource(const Vector3& q);

  int size() const override { return 3; }
  SheetPoint<double> at(const double* q, const Vector2& s) const override;
  SheetPoint<Taylor<2>> secondOrder(const double* q, const Vector2& s) const override;
  SheetPoint<Taylor<3>> thirdOrder(const double* q, const Vector2& s) const override;
  Vector2 turns(const double* q, const PatchDomain& domain) const override;
  /// Not where it is flat.
  bool accepts(const double* q, const PatchDomain& domain) const override;

 protected:
  std::string wrong(const double* q, const PatchDomain& domain) const override;
};

/// A circular cone: (kappa, phi, epsilon), its curvature kappa at s = 0 across the ruling there, on which its apex lies at the distance
/// 1 / epsilon in the direction b = (sin phi, -cos phi). A cylinder where epsilon vanishes. It must not reach its apex: epsilon s . b < 1.
class ConicalSheet final : public SheetShape {
 public:
  int size() const override { return 3; }
  SheetPoint<double> at(const double* q, const Vector2& s) const override;
  SheetPoint<Taylor<2>> secondOrder(const double* q, const Vector2& s) const override;
  SheetPoint<Taylor<3>> thirdOrder(const double* q, const Vector2& s) const override;
  Vector2 turns(const double* q, const PatchDomain& domain) const override;
  bool accepts(const double* q, const PatchDomain& domain) const override;

 protected:
  std::string wrong(const double* q, const PatchDomain& domain) const override;
};

/// A uniform patch by its three curvatures, to be shown; it has no derivatives, which UniformPatch gives.
class ThreeCurvatureSheet final : public SheetShape {
 public:
  int size() const override { return 3; }
  SheetPoint<double> at(const double* q, const Vector2& s) const override;
  SheetPoint<Taylor<2>> secondOrder(const double* q, const Vector2& s) const override;
  SheetPoint<Taylor<3>> thirdOrder(const double* q, const Vector2& s) const override;
  Vector2 turns(const double* q, const PatchDomain& domain) const override;
};

/// A shell by name in a model: the pose block that carries it, the vector block of its coordinates, and what shows it.
struct ShellPart {
  std::string name;
  int frame = 0;
  int coordinates = 0;
  PatchDomain domain;
  double thickness = 1e-3;
  std::shared_ptr<const SheetShape> shape;
  int rows = 16, columns = 16; ///< faces of the mesh in pictures, along e2 and e1

  /// Frame at a material point, in the inertial frame.
  Pose at(const Model& model, const State& state, const Vector2& s) const;
  std::size_t vertices() const { return std::size_t(rows + 1) * std::size_t(columns + 1); }
  /// Material coordinates of a vertex of the mesh.
  Vector2 vertex(int row, int column) const;
};

}
