#pragma once

#include "numerics.h"

namespace tendril::oracles {

/// A perfectly flexible, linearly elastic cable between the origin and (span, rise), in the plane, gravity along -y (Irvine's elastic
/// catenary). Along the unstretched arclength s, the force of the part after s on the part before it is (H, -V), with V(s) = V0 - w s minus
/// the loads passed:
///     x' = (1 + T/EA) H/T,   y' = -(1 + T/EA) V/T,   T = sqrt(H^2 + V^2).
struct ElasticCable {
  double span = 100, rise = 0;
  double length = 104; ///< unstretched
  double weight = 100; ///< w, per unstretched length
  double EA = 1e9;
};

namespace detail {

/// Advance of (x, y) over a stretch `l` without point loads, in closed form, with H and V at its start. With a = V/H and b = V1/H at the
/// ends, (H/w) (asinh a - asinh b) is written as a logarithm of 1 + small, so that a weightless cable is no special case.
inline Vector2d catenaryStretch(const ElasticCable& cable, double H, double V, double l) {
  const double V1 = V - cable.weight * l, T = std::hypot(H, V), T1 = std::hypot(H, V1);
  const double perWeight = l * (1 + (V + V1) / (T + T1)) / (V1 + T1), small = cable.weight * perWeight;
  const double x = H * perWeight * (std::abs(small) < 1e-12 ? 1 : std::log1p(small) / small);
  return {H * l / cable.EA + x, -(V + V1) * (l / (2 * cable.EA) + l / (T + T1))};
}

/// Start (H, V0) from a parabola under the total weight with the right sag for the length.
inline Vector2d cableStart(const ElasticCable& cable, double total) {
  const double chord = std::hypot(cable.span, cable.rise);
  const double sag = std::sqrt(std::max(1e-4, 3.0 / 8 * chord * (cable.length - chord))), H = total * cable.span / (8 * sag);
  return {H, total / 2 - H * cable.rise / cable.span};
}

}

/// Solved cable: reactions of the supports on the cable and the points at the requested unstretched arclengths.
struct CableShape {
  Vector2d leftReaction, rightReaction;
  std::vector<Vector2d> points;
  double sag = 0; ///< greatest vertical distance below the chord
};

/// A free-hanging elastic catenary.
inline CableShape elasticCatenary(const ElasticCable& cable, const std::vector<double>& at = {}) {
  const Vector2d scale = detail::cableStart(cable, cable.weight * cable.length);
  const auto gap = [&](const VectorXd& z) -> VectorXd {
    return (detail::catenaryStretch(cable, z[0], z[1], cable.length) - Vector2d(cable.span, cable.rise)) / cable.span;
  };
  const VectorXd z = solveNewton(gap, scale, scale.cwiseAbs(), 1e-13);
  CableShape shape{{-z[0], z[1]}, {z[0], cable.weight * cable.length - z[1]}, {}};
  for (double s : at) shape.points.push_back(detail::catenaryStretch(cable, z[0], z[1], s));
  for (int k = 0; k <= 10000; ++k) {
    const Vector2d p = detail::catenaryStretch(cable, z[0], z[1], cable.length * k / 10000);
    shape.sag = std::max(shape.sag, cable.rise * p[0] / cable.span - p[1]);
  }
  return shape;
}

/// A footbridge: a cable whose natural shape is a parabola of the given sag below the chord, with `hangers` hangers at equal distances of x
/// that carry a rigid deck. A hanger is a massless straight link, hinged at both ends; in the natural shape all hangers are vertical and
/// the deck is level, `clearance` below the lowest point of the cable. The deck spans from the first to the last hanger and hangs freely.
struct CableBridge {
  double span = 100, rise = 5, sagRatio = 0.1;
  int hangers = 20;
  double EA = 4.5e8;          ///< N
  double cableDensity = 22;   ///< kg per metre of cable
  double deckMass = 90000;    ///< kg
  double hangerEA = INFINITY; ///< N; infinite: rigid links
  double clearance = 2;
  double g = 9.81;

  double natural(double x) const { return rise * x / span - 4 * sagRatio * span * (x / span) * (1 - x / span); }

  /// Arclength of the natural shape from 0 to x, in closed form.
  double arclength(double x) const {
    const double curvature = 8 * sagRatio / span, start = rise / span - 4 * sagRatio, end = start + curvature * x;
    const auto primitive = [](double p) { return (p * std::sqrt(1 + p * p) + std::asinh(p)) / 2; };
    return (primitive(end) - primitive(start)) / curvature;
  }

  double hangerAt(int i) const { return span * (i + 1) / (hangers + 1); } ///< x of hanger i = 0 ... hangers - 1 in the natural shape

  double deckLevel() const {
    const double lowest = std::clamp(span / 2 - rise / (8 * sagRatio), 0.0, span);
    return natural(lowest) - clearance;
  }
};

struct BridgeState {
  Vector2d leftReaction, rightReaction; ///< of the supports on the cable
  std::vector<double> hangerForces;
  std::vector<Vector2d> cablePoints; ///< at the hangers
  Vector2d deckCentre;
  double deckAngle, sag; ///< sag: greatest distance of a hanger point below the chord
};

/// Equilibrium of the bridge: Newton's method for (H, V0), the hanger forces and the place of the deck (centre and angle). Between the
/// hangers the cable is an exact elastic catenary; equations: the right support, the length of each hanger, and the equilibrium of the
/// deck.
inline BridgeState solveBridge(const CableBridge& bridge) {
  const int n = bridge.hangers;
  const double weight = bridge.deckMass * bridge.g;
  ElasticCable cable{bridge.span, bridge.rise, bridge.arclength(bridge.span), bridge.cableDensity * bridge.g, bridge.EA};
  const double middle = (bridge.hangerAt(0) + bridge.hangerAt(n - 1)) / 2;
  BridgeState state;

  const auto equations = [&](const VectorXd& z) {
    VectorXd r(n + 5);
    state.hangerForces.clear();
    state.cablePoints.clear();
    double H = z[0], V = z[1], s = 0;
    Vector2d c(0, 0), onDeck(0, -weight);
    double torque = 0;
    state.deckCentre = z.segment<2>(n + 2);
    state.deckAngle = z[n + 4];
    state.leftReaction = {-H, V};
    for (int i = 0; i <= n; ++i) {
      const double next = i < n ? bridge.arclength(bridge.hangerAt(i)) : cable.length;
      c += detail::catenaryStretch(cable, H, V, next - s);
      V -= cable.weight * (next - s);
      s = next;
      if (i == n) break;
      const double x = bridge.hangerAt(i) - middle, natural = bridge.natural(bridge.hangerAt(i)) - bridge.deckLevel(), force = z[2 + i];
      const Vector2d arm(x * std::cos(z[n + 4]), x * std::sin(z[n + 4])), hanger = state.deckCentre + arm - c;
      const Vector2d pull = force * hanger.normalized(); // on the cable
      r[2 + i] = (hanger.norm() - natural * (1 + force / bridge.hangerEA)) / bridge.span;
      H -= pull[0];
      V += pull[1];
      onDeck -= pull;
      torque -= arm[0] * pull[1] - arm[1] * pull[0];
      state.hangerForces.push_back(force);
      state.cablePoints.push_back(c);
    }
    state.rightReaction = {H, -V};
    r.head<2>() = (c - Vector2d(bridge.span, bridge.rise)) / bridge.span;
    r.segment<2>(n + 2) = onDeck / weight;
    r[n + 4] = torque / (weight * bridge.span);
    return r;
  };

  VectorXd start(n + 5), scale(n + 5);
  start << detail::cableStart(cable, weight + cable.weight * cable.length), VectorXd::Constant(n, weight / n), middle, bridge.deckLevel(),
      0;
  scale << start.head<2>().cwiseAbs(), VectorXd::Constant(n, weight / n), bridge.span, bridge.span, 1;
  const VectorXd z = solveNewton(equations, start, scale, 1e-12);
  equations(z);
  state.sag = 0;
  for (const Vector2d& c : state.cablePoints) state.sag = std::max(state.sag, bridge.rise * c[0] / bridge.span - c[1]);
  return state;
}

}
