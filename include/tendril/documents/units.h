#pragma once
#include <string>
#include <string_view>

namespace tendril {

/// Exponents of a physical dimension in length, mass, time and plane angle, e.g. force = {1, 1, -2, 0}.
///
/// The convention of a number written without a unit: SI, or the units that the scene states, with one exception. A pure angle
/// (dimension::angle) is in degrees. Angles inside compound units count as radians, so that `5 N m/rad` serves where a moment per angle and
/// `5 N m` where a moment is expected.
struct Dimension {
  int length = 0;
  int mass = 0;
  int time = 0;
  int angle = 0;

  friend constexpr bool operator==(const Dimension&, const Dimension&) = default;
};

namespace dimension {
inline constexpr Dimension none{};
inline constexpr Dimension length{1, 0, 0, 0};
inline constexpr Dimension area{2, 0, 0, 0};
inline constexpr Dimension secondMomentOfArea{4, 0, 0, 0};
inline constexpr Dimension curvature{-1, 0, 0, 0};
inline constexpr Dimension mass{0, 1, 0, 0};
inline constexpr Dimension inertia{2, 1, 0, 0};
inline constexpr Dimension density{-3, 1, 0, 0};
inline constexpr Dimension areaDensity{-2, 1, 0, 0};
inline constexpr Dimension lineDensity{-1, 1, 0, 0};
inline constexpr Dimension time{0, 0, 1, 0};
inline constexpr Dimension frequency{0, 0, -1, 0};
inline constexpr Dimension angle{0, 0, 0, 1};
inline constexpr Dimension velocity{1, 0, -1, 0};
inline constexpr Dimension acceleration{1, 0, -2, 0};
inline constexpr Dimension angularVelocity{0, 0, -1, 1};
inline constexpr Dimension momentum{1, 1, -1, 0};
inline constexpr Dimension angularMomentum{2, 1, -1, 0};
inline constexpr Dimension force{1, 1, -2, 0};
inline constexpr Dimension moment{2, 1, -2, 0};
inline constexpr Dimension energy{2, 1, -2, 0};
inline constexpr Dimension power{2, 1, -3, 0};
inline constexpr Dimension pressure{-1, 1, -2, 0};
inline constexpr Dimension forcePerLength{0, 1, -2, 0};
inline constexpr Dimension momentPerLength{1, 1, -2, 0};
inline constexpr Dimension stiffness{0, 1, -2, 0};
inline constexpr Dimension torsionalStiffness{2, 1, -2, -1};
inline constexpr Dimension damping{0, 1, -1, 0};
inline constexpr Dimension axialRigidity{1, 1, -2, 0};
inline constexpr Dimension bendingRigidity{3, 1, -2, 0};
}

/// A unit as a factor to coherent SI (radians for angles) and its dimension.
struct Unit {
  double factor = 1;
  Dimension dimension;
};

/// Reads a unit: symbols with SI prefixes, joined by blanks, `*` or `/` (each `/` divides by the one symbol after it), each with an
/// optional integer power: `mm`, `kN`, `N m`, `kg/m^3`, `m/s^2`, `1/s`. Throws Error naming the symbol and the nearest known one.
Unit parseUnit(std::string_view text);

/// Whether a unit of dimension `given` may stand where `expected` is asked for (angles inside compound units are optional).
bool compatible(const Dimension& given, const Dimension& expected);

/// Units of length, mass and time in which a scene writes its numbers and reads its results; all others follow from them: force is
/// mass length/time^2. SI unless stated. The equations are solved in SI.
class UnitSystem {
 public:
  UnitSystem() = default;
  /// Throws Error if a text is no unit of its dimension.
  UnitSystem(std::string_view length, std::string_view mass, std::string_view time);

  bool isSi() const { return length_ == 1 && mass_ == 1 && time_ == 1; }
  /// A number of this dimension times the factor is its value in SI.
  double factor(const Dimension& dimension) const;
  /// The coherent unit as text, e.g. "mm", "N/mm^2".
  std::string unit(const Dimension& dimension) const;

 private:
  double length_ = 1, mass_ = 1, time_ = 1;
  std::string lengthName_ = "m", massName_ = "kg", timeName_ = "s";
};

/// The factor that turns a number written without a unit into SI: pi/180 for a pure angle, else that of the unit system.
double plainFactor(const Dimension& expected, const UnitSystem& system = {});

/// The coherent SI unit as text for results and messages: "m", "N", "kg/m^3", "rad"; "1" for a pure number.
std::string siUnit(const Dimension& dimension);

/// A unit as a user would write it in a scene, for messages: that of the system, with "deg" for a pure angle.
std::string sceneUnit(const Dimension& dimension, const UnitSystem& system = {});

}
