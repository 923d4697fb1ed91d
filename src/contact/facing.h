#pragma once
#include "contact/line_search.h"
#include "tendril/contact/section_contact.h"

#include <span>
#include <vector>

namespace tendril {

/// A place on a curve that faces a section of another, or of the same.
struct FacingPlace {
  CurvePlace place;
  double arclength = 0; ///< [m]
  double distance = 0;  ///< of the centrelines [m]
};

/// What finding facing places works with; keeps its memory.
struct FacingSearch {
  const LineGeometry* geometry = nullptr;
  const ContactModel* parts = nullptr;
  Projection projection = Projection::ClosestPoint;

  /// Places on the second part of a run of candidates (a curve) that face the section C at arclength s1 of the first, in the order of
  /// arclength.
  ///
  /// With Projection::ClosestPoint these are local minima of the distance: on a segment where (x_F - x_C) . x_F' changes sign from below,
  /// and nodes that are nearer than what lies on both sides of them, as on the outside of a kink. At the inside of a kink two segments have
  /// a minimum each. With Projection::SectionPlane they are where the curve passes the plane of the section. Of places nearer to each other
  /// in arclength than pi times their distance (or the sum of the radii, if that is more) only the nearest is taken: they are the same
  /// contact. Others, of a loop or a knot, are contacts of their own. No place beyond the ends of a curve faces anything.
  const std::vector<FacingPlace>& find(std::span<const LineCandidate> run, const Pose& C, double s1);

 private:
  void addInterior(const CurveConfiguration& curve, int segment, const Pose& C, double begin, double end);
  void addNode(const CurveConfiguration& curve, int before, const Pose& C);
  void keepNearest(double radii);

  std::vector<FacingPlace> places_;
};

/// Derivative of the position along xi at the begin and end of a segment, and anywhere.
Vector3 tangentAtBegin(const CurveConfiguration& curve, int segment);
Vector3 tangentAtEnd(const CurveConfiguration& curve, int segment);
inline Vector3 tangentAt(const CurveConfiguration& curve, int segment, const Pose& frame) {
  return frame.R * curve.relative(segment).head<3>();
}

}
