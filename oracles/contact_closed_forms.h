#pragma once

#include "numerics.h"

#include <cmath>
#include <numbers>
#include <vector>

/// Closed forms of motions with impacts and Coulomb friction. SI units; g = 9.81 m/s^2 where not given.
namespace tendril::oracles {

inline constexpr double earthGravity = 9.81;

/// A ball dropped from a height that rebounds with Newton's coefficient e: impacts at t_1 (1 + 2 sum_{j<n} e^j), accumulating at
/// t_1 (1 + e) / (1 - e).
struct BouncingBall {
  double height = 1, restitution = 0.5, g = earthGravity;

  double firstImpact() const { return std::sqrt(2 * height / g); }
  /// n from 1.
  double impact(int n) const { return firstImpact() * (1 + 2 * restitution * (1 - std::pow(restitution, n - 1)) / (1 - restitution)); }
  double zeno() const { return firstImpact() * (1 + restitution) / (1 - restitution); }
  double path() const { return height * (1 + restitution * restitution) / (1 - restitution * restitution); }
  double apex(int n) const { return std::pow(restitution, 2 * n) * height; }
};

/// A body resting on a table that moves by a sin(omega t) leaves it where the table falls faster than g.
struct VibratingTable {
  double amplitude = 0.01, omega = 40, g = earthGravity;

  bool leaves() const { return amplitude * omega * omega > g; }
  double leaveTime() const { return std::asin(g / (amplitude * omega * omega)) / omega; }
  double leaveSpeed() const { return amplitude * omega * std::cos(omega * leaveTime()); }
};

/// A block that slides on a level floor until friction stops it.
struct SlidingBlock {
  double speed = 2, friction = 0.3, g = earthGravity;

  double time() const { return speed / (friction * g); }
  double distance() const { return speed * speed / (2 * friction * g); }
};

/// A block on an incline, from rest.
struct InclinedBlock {
  double angle = 0, friction = 0, g = earthGravity;

  bool sticks() const { return std::tan(angle) <= friction; }
  double acceleration() const { return sticks() ? 0 : g * (std::sin(angle) - friction * std::cos(angle)); }
};

/// A round body of moment of inertia kappa m R^2 (disc 1/2, sphere 2/5) under Coulomb friction.
struct RoundBody {
  double kappa = 0.5;

  static RoundBody disc() { return {0.5}; }
  static RoundBody sphere() { return {0.4}; }
  /// W_tt m = 1 + 1 / kappa: 3 of a disc, 7/2 of a sphere.
  double compliance() const { return 1 + 1 / kappa; }

  /// On an incline, from rest: rolls iff tan(angle) <= mu (1 + 1 / kappa).
  bool rolls(double angle, double friction) const { return std::tan(angle) <= friction * compliance(); }
  double acceleration(double angle, double friction, double g = earthGravity) const {
    return rolls(angle, friction) ? g * std::sin(angle) / (1 + kappa) : g * (std::sin(angle) - friction * std::cos(angle));
  }
  /// R times the angular acceleration.
  double spinAcceleration(double angle, double friction, double g = earthGravity) const {
    return rolls(angle, friction) ? acceleration(angle, friction, g) : friction * g * std::cos(angle) / kappa;
  }

  /// On a level floor with speed v and spin R omega (rolling: v = R omega): time until it rolls, and its speed then.
  double rollingTime(double speed, double spin, double friction, double g = earthGravity) const {
    return std::abs(speed - spin) / (friction * g * compliance());
  }
  double rollingSpeed(double speed, double spin) const { return (speed + kappa * spin) / (1 + kappa); }

  /// Oblique impact without spin on a floor: tangential speed after, with normal restitution e and no tangential one.
  bool sticks(double along, double normal, double friction, double e) const {
    return std::abs(along) <= friction * compliance() * (1 + e) * normal;
  }
  double speedAfter(double along, double normal, double friction, double e) const {
    if (sticks(along, normal, friction, e)) return along / (1 + kappa);
    return along - std::copysign(friction * (1 + e) * normal, along);
  }
};

/// A disc that spins about its vertical axis on its face until friction stops it.
struct SpinningDisc {
  double radius = 0.1, spin = 10, friction = 0.3, g = earthGravity;

  /// Weight on pads at the rim: torque mu m g R.
  double stopOnRim() const { return radius * spin / (2 * friction * g); }
  /// Uniform pressure: torque 2/3 mu m g R.
  double stopOnFace() const { return 3 * radius * spin / (4 * friction * g); }
};

/// A row of N equal balls that touch, hit by the first at unit speed, in Moreau's law of impact with one coefficient e: all impulses at
/// once. (The toy, whose last ball alone flies off, has gaps.)
struct Cradle {
  int balls = 3;
  double restitution = 1;

  double speedAfter(int ball) const { return (1 + restitution) / balls - (ball == 0 ? restitution : 0); }
  /// Impulse between balls k and k + 1 (from 1), per mass and speed.
  double impulse(int k) const { return (1 + restitution) * (balls - k) / balls; }
};

/// Two bodies on a line.
struct BinaryImpact {
  double firstMass = 1, secondMass = 1, restitution = 0;

  Vector2d speedsAfter(double first, double second) const {
    const double impulse = (1 + restitution) * (first - second) / (1 / firstMass + 1 / secondMass);
    return {first - impulse / firstMass, second + impulse / secondMass};
  }
};

/// A block of half width b and half height H that rocks on its lower corners without rebound (Housner 1963).
struct RockingBlock {
  double b = 1, H = 2, g = earthGravity;

  double radius() const { return std::hypot(b, H); }
  /// Angle at which it stands on its diagonal.
  double slenderness() const { return std::atan2(b, H); }
  double frequency() const { return std::sqrt(3 * g / (4 * radius())); }
  /// Angular velocity after the change of corners over that before, with corners that do not slide.
  double ratio() const { return 1 - 1.5 * b * b / (b * b + H * H); }
  double frictionNeeded() const { return 3 * H * b / (4 * H * H + b * b); }
  double frictionlessRatio() const { return (H * H - 2 * b * b) / (H * H + 4 * b * b); }
  /// Time from rest at the angle theta0 to the change of corners, linearised in small angles.
  double quarterPeriod(double theta0) const { return std::acosh(1 / (1 - theta0 / slenderness())) / frequency(); }
  /// The same without linearisation: theta'' = -p^2 sin(alpha - theta), by quadrature in s = sqrt(theta0 - theta), where it is smooth.
  double quarterPeriodExact(double theta0) const {
    const double alpha = slenderness(), p = frequency(), end = std::sqrt(theta0);
    const auto f = [&](double s) { // ds d(theta)/ds over theta'; cos a - cos b as a product, exact near s = 0
      const double drop = 2 * std::sin(alpha - theta0 + 0.5 * s * s) * std::sin(0.5 * s * s);
      return s == 0 ? 2 / std::sqrt(2 * std::sin(alpha - theta0)) / p : 2 * s / (p * std::sqrt(2 * drop));
    };
    const int n = 2000;
    double sum = f(0) + f(end);
    for (int i = 1; i < n; ++i) sum += (i % 2 ? 4 : 2) * f(end * i / n);
    return sum * end / (3 * n);
  }
  /// Angular velocity at the change of corners.
  double speedAtImpact(double theta0) const {
    return frequency() * std::sqrt(2 * (std::cos(slenderness() - theta0) - std::cos(slenderness())));
  }
};

/// Three equal discs, two on the floor that just touch and one on top.
struct DiscPyramid {
  static double frictionBetweenDiscs() { return 2 - std::sqrt(3.0); }
  static double frictionOnFloor() { return (2 - std::sqrt(3.0)) / 3; }
  /// Normal forces over the weight of one disc.
  static double forceBetweenDiscs() { return 0.5; }
  static double forceOnFloor() { return 1.5; }
};

/// A uniform rod of length 2 l between a smooth wall and a smooth floor, released at the angle theta0 to the floor.
struct Ladder {
  double l = 1, theta0 = std::numbers::pi / 3, g = earthGravity;

  double spin(double theta) const { return std::sqrt(1.5 * g / l * (std::sin(theta0) - std::sin(theta))); }
  /// Where it leaves the wall: sin(theta) = 2/3 sin(theta0).
  double leaveAngle() const { return std::asin(2.0 / 3 * std::sin(theta0)); }
  /// Until then, by quadrature in s = sqrt(theta0 - theta).
  double leaveTime() const {
    const double end = std::sqrt(theta0 - leaveAngle());
    const auto f = [&](double s) {
      const double drop = 2 * std::cos(theta0 - 0.5 * s * s) * std::sin(0.5 * s * s);
      return s == 0 ? 2 / std::sqrt(1.5 * g / l * std::cos(theta0)) : 2 * s / std::sqrt(1.5 * g / l * drop);
    };
    const int n = 2000;
    double sum = f(0) + f(end);
    for (int i = 1; i < n; ++i) sum += (i % 2 ? 4 : 2) * f(end * i / n);
    return sum * end / (3 * n);
  }
  /// With friction on the floor and a smooth wall it rests down to this angle.
  static double leastAngle(double floorFriction) { return std::atan(1 / (2 * floorFriction)); }
};

/// A uniform rod of length 2 l and mass m whose tip slides on a floor, away from its centre, at the angle theta (Painleve 1895).
struct SlidingRod {
  double l = 1, mass = 1, theta = std::atan(2.0), g = earthGravity;

  double sine() const { return std::sin(theta); }
  double cosine() const { return std::cos(theta); }
  double Wnn() const { return (1 + 3 * cosine() * cosine()) / mass; }
  double Wtt() const { return (1 + 3 * sine() * sine()) / mass; }
  double Wnt() const { return -3 * sine() * cosine() / mass; }
  /// Normal acceleration of the tip per normal force, and without contact.
  double p(double friction) const { return Wnn() - friction * std::abs(Wnt()); }
  double b(double spin) const { return l * spin * spin * sine() - g; }
  double normalForce(double spin, double friction) const { return -b(spin) / p(friction); }
  /// p < 0 is possible above this friction; its least value over theta is 4/3, at tan(theta) = 2.
  double criticalFriction() const { return (1 + 3 * cosine() * cosine()) / (3 * sine() * cosine()); }

  enum class Branch { Unique, Leaves, Several, None };
  Branch branch(double spin, double friction) const {
    const bool pulls = b(spin) < 0;
    if (p(friction) > 0) return pulls ? Branch::Unique : Branch::Leaves;
    return pulls ? Branch::None : Branch::Several;
  }
  /// Impact without collision at sliding speed v: the tip stops.
  double jamNormal(double v) const { return 0.75 * mass * v * sine() * cosine(); }
  double jamTangential(double v) const { return 0.25 * mass * v * (1 + 3 * cosine() * cosine()); }
  double jamSpin(double v) const { return 3 * v * sine() / (4 * l); }
  double jamLoss(double v) const { return mass * v * v * (1 + 3 * cosine() * cosine()) / 8; }
};

/// A point in a round room of radius R whose centre moves along x with speed v, pushed by the wall alone (tractrix); starts at the angle
/// psi0 seen from the centre, with cos(psi0) < 0.
struct Tractrix {
  double R = 1, v = 1, psi0 = 2;

  double angle(double t) const { return 2 * std::atan(std::tan(psi0 / 2) * std::exp(v * t / R)); }
  Vector2d position(double t) const { return {v * t + R * std::cos(angle(t)), R * std::sin(angle(t))}; }
};

}
