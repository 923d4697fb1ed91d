#pragma once

#include "numerics.h"

namespace tendril::oracles {

/// A helical spring of round wire with a rigid body on its axis: the Wilberforce pendulum.
///
/// The wire carries, under an axial force F and a moment M about the axis, the torque F a cos(alpha) + M sin(alpha) and the bending moment
/// -F a sin(alpha) + M cos(alpha), alpha the pitch angle: the compliances follow from Castigliano's theorem (Love),
///     c_FF = l a^2 (cos^2/GJ + sin^2/EI),   c_MM = l (sin^2/GJ + cos^2/EI),   c_FM = l a sin cos (1/GJ - 1/EI),
/// l = 2 pi n a / cos(alpha). For alpha -> 0: axial stiffness G r^4/(4 n a^3) and turning stiffness E r^4/(8 n a).
struct WilberforcePendulum {
  double coils = 3;
  double coilRadius = 0.016;  ///< a, m
  double wireRadius = 0.001;  ///< r, m
  double pitch = 0.01;        ///< advance per coil, m
  double E = 199e9, G = 81e9; ///< Pa
  double density = 7850;      ///< of the wire, kg/m^3
  double mass = 0.469;        ///< of the body, kg
  double inertia = 1.4e-4;    ///< of the body about the axis, kg m^2

  double axialStiffness() const { return G * std::pow(wireRadius, 4) / (4 * coils * std::pow(coilRadius, 3)); }
  double turningStiffness() const { return E * std::pow(wireRadius, 4) / (8 * coils * coilRadius); }
  /// Coil radius at which the two uncoupled frequencies agree (small pitch): a^2 = 2 G J / (E m).
  double resonantCoilRadius() const { return std::sqrt(2 * G * inertia / (E * mass)); }
};

struct WilberforceModes {
  double slow, fast; ///< angular frequencies, rad/s
  double beatPeriod; ///< 2 pi / (fast - slow), s
  double exchange;   ///< greatest share of the energy of an axial start that turns into rotation, 0 ... 1
};

/// Small vibrations, gyration of the coils neglected; a third of the wire's mass and rotary inertia counts with the body (Rayleigh).
inline WilberforceModes wilberforceModes(const WilberforcePendulum& p, bool springInertia = true) {
  const double alpha = std::atan2(p.pitch, 2 * M_PI * p.coilRadius), c = std::cos(alpha), s = std::sin(alpha);
  const double I = M_PI * std::pow(p.wireRadius, 4) / 4, GJ = 2 * p.G * I, EI = p.E * I, l = 2 * M_PI * p.coils * p.coilRadius / c,
               a = p.coilRadius;
  Matrix2d compliance;
  compliance << l * a * a * (c * c / GJ + s * s / EI), l * a * s * c * (1 / GJ - 1 / EI), 0, l * (s * s / GJ + c * c / EI);
  compliance(1, 0) = compliance(0, 1);
  const double wire = springInertia ? p.density * M_PI * p.wireRadius * p.wireRadius * l / 3 : 0;
  const double m = p.mass + wire, J = p.inertia + wire * a * a;
  const Matrix2d K = compliance.inverse();
  const double zz = K(0, 0) / m, tt = K(1, 1) / J, zt = K(0, 1) / std::sqrt(m * J);
  const double mean = (zz + tt) / 2, half = std::hypot((zz - tt) / 2, zt);
  WilberforceModes modes;
  modes.slow = std::sqrt(mean - half);
  modes.fast = std::sqrt(mean + half);
  modes.beatPeriod = 2 * M_PI / (modes.fast - modes.slow);
  modes.exchange = std::pow(zt / half, 2);
  return modes;
}

}
