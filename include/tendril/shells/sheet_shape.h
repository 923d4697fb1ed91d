#pragma once
#include "tendril/shells/patch.h"
#include "tendril/shells/taylor.h"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tendril {

class Model;
struct State;

/// A point of a sheet in the frame of s = 0: position, the directors along the lines of the flat sheet, and curvatures b11, b22, b12.
template <class T> struct SheetPoint { std::array<T, 3> r, d1, d2, k; };

/// Bending of a sheet as a whole: its elastic energy, and an amplitude whose rate y' meets the damping force tau y' dy/dq.
struct SheetBending {
  Taylor<3> energy, amplitude;
};

/// The shape of a developable sheet as a function of coordinates, at most three; lengths are kept to round-off. With d1, d2 the directors
/// along the lines of the flat sheet, and their cross product the normal, d_i r = d_i.
class SheetShape {
 public:
  virtual ~SheetShape() = default;
  virtual int size() const = 0;
  SheetPoint<double> at(const double* q, const Vector2& s) const { return evaluated<double>(q, s); }
  /// With all derivatives by the coordinates.
  SheetPoint<Taylor<2>> secondOrder(const double* q, const Vector2& s) const { return evaluated<Taylor<2>>(q, s); }
  SheetPoint<Taylor<3>> thirdOrder(const double* q, const Vector2& s) const { return evaluated<Taylor<3>>(q, s); }
  /// How much a rectangle turns along its sides [rad], for quadrature.
  virtual Vector2 turns(const double* q, const PatchDomain& domain) const = 0;
  /// Whether the coordinates are regular and the sheet exists on the rectangle; and, if not, what is wrong.
  virtual bool accepts(const double* q, const PatchDomain& domain) const;
  std::string refusal(const double* q, const PatchDomain& domain) const;

  /// Calls visit(area, s) at material points that stand for the sheet. False if there are none for this shape.
  using Visit = std::function<void(double area, const Vector2& s)>;
  virtual bool visitPoints(const double* q, const PatchDomain& domain, const Visit& visit) const;
  /// Bending in closed form; without one, it is integrated over those points.
  virtual std::optional<SheetBending> bending(const double* q, const PatchProperties& properties) const;
  /// The material point at these shares of length and width, for meshes.
  virtual Vector2 meshPoint(const double* q, const PatchDomain& domain, const Vector2& shares) const;

  Pose frame(const double* q, const Vector2& s) const;

 protected:
  /// A point to fill, in numbers or in Taylor polynomials: shapes have one formula for all.
  using AnyPoint = std::variant<SheetPoint<double>*, SheetPoint<Taylor<2>>*, SheetPoint<Taylor<3>>*>;
  virtual void evaluate(const double* q, const Vector2& s, const AnyPoint& point) const = 0;
  virtual std::string wrong(const double* q, const PatchDomain& domain) const;

 private:
  template <class T> SheetPoint<T> evaluated(const double* q, const Vector2& s) const {
    SheetPoint<T> point;
    evaluate(q, s, &point);
    return point;
  }
};

/// A circular cylinder: (kappa, phi), as ConePoint.
class CircularSheet final : public SheetShape {
 public:
  int size() const override { return 2; }
  Vector2 turns(const double* q, const PatchDomain& domain) const override;
  /// Not where it is flat, and phi has no meaning.
  bool accepts(const double* q, const PatchDomain& domain) const override;

 protected:
  void evaluate(const double* q, const Vector2& s, const AnyPoint& point) const override;
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
  Vector2 turns(const double* q, const PatchDomain& domain) const override;
  /// Not where it is flat.
  bool accepts(const double* q, const PatchDomain& domain) const override;

 protected:
  void evaluate(const double* q, const Vector2& s, const AnyPoint& point) const override;
  std::string wrong(const double* q, const PatchDomain& domain) const override;
};

/// A circular cone: (kappa, phi, epsilon), its curvature kappa at s = 0 across the ruling there, on which its apex lies at the distance
/// 1 / epsilon in the direction b = (sin phi, -cos phi). A cylinder where epsilon vanishes. It must not reach its apex: epsilon s . b < 1.
class ConicalSheet final : public SheetShape {
 public:
  int size() const override { return 3; }
  Vector2 turns(const double* q, const PatchDomain& domain) const override;
  bool accepts(const double* q, const PatchDomain& domain) const override;

 protected:
  void evaluate(const double* q, const Vector2& s, const AnyPoint& point) const override;
  std::string wrong(const double* q, const PatchDomain& domain) const override;
};

/// A patch of a strip: the circular cone, or cylinder, between two rulings of a rectangle along e1, the first through s = 0, the second at
/// the distance h along the middle line s2 = 0. Its coordinates (eta0, eta1, beta) are the slopes of the rulings, which run along (eta, 1)
/// in the flat sheet, and the angle by which the patch bends from the one to the other. Rulings between have slopes between,
///
///     s1 = psi + eta s2,      eta = eta0 + (eta1 - eta0) psi / h      (shells.6),
///
/// and meet at the apex s2 = -h / (eta1 - eta0), beyond the width w: |x| < 1, x = w (eta1 - eta0) / (2 h). The bending energy, exact for
/// this shape (shells.8), is that of Wunderlich (1962) (shells.7),
///
///     U = D w beta^2 atanh(x) / (2 h x d) - w beta m . K k0 + h w k0 . K k0 / 2,      d = (atan eta1 - atan eta0) / (eta1 - eta0),
///
/// m the mean of (cos phi, sin phi tan phi, sin phi) from one ruling to the other, phi = -atan eta, and k0 natural curvatures that go with
/// the rulings. It is Sadowsky's D w h kappa^2 (1 + eta^2)^2 / 2 where both are parallel, with the curvature kappa = beta / (h sqrt(1 +
/// eta^2)) of the middle line. Nothing is singular where beta vanishes; there slopes cost no energy and carry no inertia.
///
/// What has mass is a lattice of material points, `columns` to a length h and `rows` Gauss points across. Rulings that turn pass over them:
/// a point belongs to the patch between whose rulings it lies.
class StripSheet final : public SheetShape {
 public:
  /// InputError unless the length h is positive, and the lattice has points.
  explicit StripSheet(double length, int columns = 2, int rows = 4);

  int size() const override { return 3; }
  Vector2 turns(const double* q, const PatchDomain& domain) const override;
  bool accepts(const double* q, const PatchDomain& domain) const override;
  bool visitPoints(const double* q, const PatchDomain& domain, const Visit& visit) const override;
  std::optional<SheetBending> bending(const double* q, const PatchProperties& properties) const override;
  Vector2 meshPoint(const double* q, const PatchDomain& domain, const Vector2& shares) const override;

 protected:
  void evaluate(const double* q, const Vector2& s, const AnyPoint& point) const override;
  std::string wrong(const double* q, const PatchDomain& domain) const override;

 private:
  double length_;
  int columns_, rows_;
};

/// A uniform patch by its three curvatures, to be shown; it has no derivatives, which UniformPatch gives.
class ThreeCurvatureSheet final : public SheetShape {
 public:
  int size() const override { return 3; }
  Vector2 turns(const double* q, const PatchDomain& domain) const override;

 protected:
  void evaluate(const double* q, const Vector2& s, const AnyPoint& point) const override;
};

/// A shell by name in a model: the pose block that carries it, the vector block of its coordinates, and what shows it. A strip is one that
/// is made of others, side by side along e1.
struct ShellPart {
  std::string name;
  int frame = 0;
  int coordinates = 0;
  PatchDomain domain;
  double thickness = 1e-3;
  std::shared_ptr<const SheetShape> shape;
  int rows = 16, columns = 16;      ///< faces of the mesh in pictures, along e2 and e1
  std::vector<ShellPart> patches{}; ///< of a strip, which has no coordinates of its own
  int end = -1;                     ///< pose block of a strip at the middle of its other end

  /// Frame at a material point, in the inertial frame.
  Pose at(const Model& model, const State& state, const Vector2& s) const;
  std::size_t vertices() const { return std::size_t(rows + 1) * std::size_t(columns + 1); }
  /// Frame at a vertex of the mesh.
  Pose vertex(const Model& model, const State& state, int row, int column) const;
};

}
