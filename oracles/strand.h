#pragma once

#include "numerics.h"

namespace tendril::oracles {

/// A straight core and one layer of helical wires that touch it and not each other; all sections keep their shape.
///
/// Under a strain e of the axis and a twist w per length a wire stays a helix of radius r = Rc + Rw. With h = 1 + e, k = 2 pi/pitch + w and
/// the lay angle a, tan(a) = pitch/(2 pi r), its stretch, curvature and torsion per length at rest are
///
///     l = sin(a) sqrt(h^2 + r^2 k^2),   K = r k^2 sin^2(a)/l,   T = h k sin^2(a)/l
///
/// (Love, art. 253; Costello, Theory of Wire Rope, ch. 3). Force F along and torque M about the axis are the derivatives of the energy per
/// length of the axis; the shear of the wires, (r/l)^2 below it, is left out. Linearised at rest, with c = cos(a), s = sin(a):
///
///     dl = s^2 de + r s c dw,   dK = 2 s c dw - c^2/r dl,   dT = s c/r (de - dl) + s^2 dw
struct Strand {
  double coreRadius = 1.97e-3, wireRadius = 1.865e-3, pitch = 0.115; ///< m
  int wires = 6;
  double E = 197.9e9, nu = 0.3; ///< Pa, 1

  static double area(double radius) { return M_PI * radius * radius; }
  static double secondMoment(double radius) { return M_PI * std::pow(radius, 4) / 4; }
  double G() const { return E / (2 * (1 + nu)); }
  double helixRadius() const { return coreRadius + wireRadius; }
  double layAngle() const { return std::atan2(pitch, 2 * M_PI * helixRadius()); }
  /// Distance of the surfaces of neighbouring wires, in the section of two parallel ones: a little less, since they lie aslant.
  double slantedGap() const {
    const double s = std::sin(layAngle()), t = std::tan(M_PI / 2 - M_PI / wires);
    return helixRadius() - wireRadius * std::sqrt(1 + t * t / (s * s));
  }
};

/// Strains of a wire: stretch, curvature, torsion.
inline Vector3d wireStrains(const Strand& strand, double strain, double twist) {
  const double r = strand.helixRadius(), s = std::sin(strand.layAngle()), h = 1 + strain, k = 2 * M_PI / strand.pitch + twist;
  const double stretch = s * std::hypot(h, r * k);
  return {stretch, r * k * k * s * s / stretch, h * k * s * s / stretch};
}

/// d(F, M)/d(strain, twist) at rest [N, N m; N m, N m^2]; symmetric.
inline Matrix2d axialStiffness(const Strand& strand) {
  const double a = strand.layAngle(), s = std::sin(a), c = std::cos(a), r = strand.helixRadius();
  const Vector2d stretch(s * s, r * s * c);
  const Vector2d curvature = Vector2d(0, 2 * s * c) - c * c / r * stretch;
  const Vector2d torsion = Vector2d(s * c / r, s * s) - s * c / r * stretch;
  const double EA = strand.E * Strand::area(strand.wireRadius), EI = strand.E * Strand::secondMoment(strand.wireRadius),
               GJ = 2 * strand.G() * Strand::secondMoment(strand.wireRadius);
  Matrix2d K =
      strand.wires / s * (EA * stretch * stretch.transpose() + EI * curvature * curvature.transpose() + GJ * torsion * torsion.transpose());
  K(0, 0) += strand.E * Strand::area(strand.coreRadius);
  K(1, 1) += 2 * strand.G() * Strand::secondMoment(strand.coreRadius);
  return K;
}

/// Force and torque that a strand of given strain and twist takes.
inline Vector2d axialForces(const Strand& strand, double strain, double twist) {
  const double s = std::sin(strand.layAngle()), r = strand.helixRadius(), h = 1 + strain, k = 2 * M_PI / strand.pitch + twist;
  const Vector3d q = wireStrains(strand, strain, twist), q0 = wireStrains(strand, 0, 0);
  const double EA = strand.E * Strand::area(strand.wireRadius), EI = strand.E * Strand::secondMoment(strand.wireRadius),
               GJ = 2 * strand.G() * Strand::secondMoment(strand.wireRadius);
  const Vector2d stretch = s * s / q[0] * Vector2d(h, r * r * k);
  const Vector2d curvature = Vector2d(0, 2 * r * k * s * s / q[0]) - q[1] / q[0] * stretch;
  const Vector2d torsion = s * s / q[0] * Vector2d(k, h) - q[2] / q[0] * stretch;
  return strand.wires / s * (EA * (q[0] - 1) * stretch + EI * (q[1] - q0[1]) * curvature + GJ * (q[2] - q0[2]) * torsion) +
         Vector2d(strand.E * Strand::area(strand.coreRadius) * strain, 2 * strand.G() * Strand::secondMoment(strand.coreRadius) * twist);
}

/// Bending stiffness if all wires slide freely: the core and springs of round wire beside it (Costello, ch. 5).
inline double slidingBendingStiffness(const Strand& strand) {
  const double a = strand.layAngle(), c = std::cos(a);
  return strand.E * (Strand::secondMoment(strand.coreRadius) +
                     strand.wires * Strand::secondMoment(strand.wireRadius) * 2 * std::sin(a) / (2 + strand.nu * c * c));
}

/// Bending stiffness while no wire slides: wires are also stretched like fibres at their distance from the axis (Papailiou 1997).
inline double stickingBendingStiffness(const Strand& strand) {
  const double s = std::sin(strand.layAngle()), r = strand.helixRadius();
  return slidingBendingStiffness(strand) + strand.wires / 2. * strand.E * Strand::area(strand.wireRadius) * r * r * s * s * s;
}

/// Moment by which friction resists bending once every wire slides, to first order in the friction coefficient.
///
/// A wire under the tension T presses on the core by T c^2/r per length; the friction of half a lay builds up a tension between the inside
/// and the outside of the bend, mu T c^2/r * (r/c) (pi/2 - |psi|) at the angle psi from the outside, whose moment over all wires is
/// (2 wires/pi) mu T r s c.
inline double frictionMoment(const Strand& strand, double mu, double tension) {
  const double a = strand.layAngle();
  return 2 * strand.wires / M_PI * mu * tension * strand.helixRadius() * std::sin(a) * std::cos(a);
}

/// The same for a length of whole pitches between two clamps that hold the wires. A wire at the angle psi from the outside slips along its
/// line by u (sin(psi) - sin(psi_i)) from its clamp at psi_i = 2 pi i/wires, u = s^2 r^2/c times the curvature; the friction mu T c^2/r
/// takes the work of the moment, and the mean of |sin(psi) - a| is 2/pi (sqrt(1 - a^2) + a asin(a)).
inline double clampedFrictionMoment(const Strand& strand, double mu, double tension) {
  double mean = 0;
  for (int i = 0; i < strand.wires; ++i) {
    const double sine = std::sin(2 * M_PI * i / strand.wires);
    mean += (std::sqrt(1 - sine * sine) + sine * std::asin(sine)) / strand.wires;
  }
  return mean * frictionMoment(strand, mu, tension);
}

/// Tension of a wire, if the strand is stretched without turning.
inline double wireTension(const Strand& strand, double strain) {
  return strand.E * Strand::area(strand.wireRadius) * (wireStrains(strand, strain, 0)[0] - 1);
}

}
