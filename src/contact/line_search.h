#pragma once
#include "tendril/contact/broad_phase.h"
#include "tendril/contact/contact_curve.h"
#include "tendril/contact/contact_model.h"

#include <span>
#include <vector>

namespace tendril {

/// Where all parts are: curves segment by segment, rigid parts by the frames of their markers. Both lists go by part.
struct LineGeometry {
  std::vector<CurveConfiguration> curves; ///< empty for rigid parts
  std::vector<Pose> frames;               ///< of rigid parts

  LineGeometry() = default;
  LineGeometry(const Model& model, const ContactModel& parts);
  void set(const ContactModel& parts, const State& state);
};

/// A segment of a curve that may meet a segment of a curve, or a shape of a rigid part.
struct LineCandidate {
  int first = 0, second = 0; ///< parts; the first is a curve
  int segment = 0;           ///< of the first
  int other = 0;             ///< segment of the second curve, or shape of the second part
  const ContactLaw* law = nullptr;

  bool isOfRun(const LineCandidate& c) const { return first == c.first && second == c.second && segment == c.segment; }
};

bool isClosed(const ContactCurve& curve);
/// The segment that follows, or -1 at the end of an open curve.
int segmentAfter(const ContactCurve& curve, int segment);
int segmentBefore(const ContactCurve& curve, int segment);
double totalLength(const ContactCurve& curve);
/// Whether a place at arclength s2 of a curve can touch one at s1 of the same curve and counts: s2 > s1 + pi R, since a curve whose
/// curvature stays below 1/R cannot meet itself nearer, and only the later place is faced, so that a pair counts once. On a closed curve
/// the way round the other side is as long, too.
bool facesItself(const ContactCurve& curve, double s1, double s2);

/// Which segments may meet what, while every point moves by up to a reach.
///
/// Two parts meet if the contact model has a law for them; a curve meets itself if there is a law for the pair of it with itself. Of two
/// curves the first, whose points look for the other, is the one with the shorter mean segment, at a tie the one with the lower number.
/// Segments that share a block do not meet. Bounds of a segment hold its helix: the box of its ends, widened by the sagitta
/// |d_u| |d_Omega| / 8, its radius, the reach and a quarter of its length, which lets a segment that leaves the other at up to 30 degrees
/// be seen whole.
class LineSearch {
 public:
  explicit LineSearch(const ContactModel& parts);

  /// Sorted by first part, second part, segment, other.
  const std::vector<LineCandidate>& find(const LineGeometry& geometry, double reach);

 private:
  struct Item {
    int part, index; ///< segment of a curve or shape of a rigid part
  };
  struct Lookup {
    bool isKnown = false;
    const ContactLaw* law = nullptr;
  };
  Bounds bounds(const Item& item, const LineGeometry& geometry, double reach) const;
  void add(Item a, Item b);
  const ContactLaw* law(int first, int second);

  const ContactModel& parts_;
  std::vector<Item> items_;
  std::vector<Bounds> bounds_;
  std::vector<double> meanLength_; ///< of the segments of a part
  double longest_ = 0;
  std::vector<int> classOf_; ///< parts that every law treats alike
  int classes_ = 0;
  std::vector<Lookup> laws_, selfLaws_;
  BroadPhase broadPhase_;
  std::vector<LineCandidate> candidates_;
};

}
