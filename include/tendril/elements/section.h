#pragma once
#include "tendril/lie/types.h"

#include <string>

namespace tendril {

/// Isotropic linear elastic material. Units: Pa, -, kg/m^3. Refuses (InputError) E <= 0, density < 0 and nu outside (-1, 0.5].
struct Material {
  double youngsModulus = 0;
  double poissonRatio = 0;
  double density = 0;
  /// Damping stress = time x stiffness x strain rate [s] (stiffness-proportional, Kelvin-Voigt).
  double dampingTime = 0;

  double shearModulus() const { return youngsModulus / (2 * (1 + poissonRatio)); }
  void check(const std::string& name) const;
};

/// Torsion constant of a rectangle: Saint-Venant's, or the polar moment I2 + I3 (one sixth of the fourth power of a square's side).
enum class Torsion { SaintVenant, Polar };

/// Geometry of a cross-section in its own frame: d1 along the beam, d2 and d3 the principal axes through the centroid.
struct Section {
  enum class Shape { Circle, Tube, Rectangle, General };

  Shape shape = Shape::Circle;
  double area = 0;    ///< A [m^2]
  double I2 = 0;      ///< second moment for bending about d2 [m^4]
  double I3 = 0;      ///< second moment for bending about d3 [m^4]
  double torsion = 0; ///< torsion constant J [m^4]
  double shear2 = 1;  ///< shear factors: GA2 = shear2 G A, GA3 = shear3 G A
  double shear3 = 1;
  double width = 0;       ///< outline for pictures and contact: extent along d2 [m] (diameter of a circle)
  double height = 0;      ///< extent along d3 [m]
  double innerRadius = 0; ///< of a tube [m]

  static Section circle(double radius);
  static Section tube(double outerRadius, double innerRadius);
  /// width along d2, height along d3.
  static Section rectangle(double width, double height, Torsion torsion = Torsion::SaintVenant);
};

/// What a beam is made of, per unit of reference length: force resultants n = K eps with eps = (axial, shear, shear, torsion, bending,
/// bending), and the inertia of a slice, both resolved in the section frame. Stiffness [N, N m^2], mass [kg/m, kg m].
struct SectionProperties {
  Matrix6 stiffness = Matrix6::Zero();
  Matrix6 mass = Matrix6::Zero();
  double dampingTime = 0;
  Section outline; ///< for pictures

  /// K = diag(EA, k2 GA, k3 GA, GJ, E I2, E I3), M = rho diag(A, A, A, I2 + I3, I2, I3).
  static SectionProperties of(const Section& section, const Material& material);
  /// Any symmetric positive definite stiffness and positive semidefinite mass.
  static SectionProperties general(const Matrix6& stiffness, const Matrix6& mass, double dampingTime = 0);
  /// Refuses (InputError) what is not symmetric positive (semi)definite; name appears in the message.
  void check(const std::string& name) const;
};

/// Saint-Venant's torsion constant of a rectangle a x b [m^4], by its series to round-off.
double saintVenantTorsion(double a, double b);

}
