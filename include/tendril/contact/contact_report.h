#pragma once
#include "tendril/lie/types.h"

#include <string>
#include <vector>

namespace tendril {

class ContactModel;

enum class ContactStatus { Open, Stick, Slip };

/// One contact in a step, as results and measures see it. Vectors are in the contact frame: normal, first and second tangent. In statics a
/// step takes the time 1, so that impulses are forces and velocities the slips of the step.
struct ContactRecord {
  int first = 0, second = 0;          ///< parts; the impulse acts on the first, its opposite on the second
  Vector3 position = Vector3::Zero(); ///< inertial frame
  /// Columns: normal (towards the first part) and tangents. Along a curve their means, a little shorter than 1 where they turn: frame x
  /// impulse is what acts on the first part.
  Matrix3 frame = Matrix3::Identity();
  double gap = 0;                           ///< where the contact was looked for
  Vector3 impulse = Vector3::Zero();        ///< [N s] of the step
  Vector3 moment = Vector3::Zero();         ///< [N m s]: pivoting about the normal, rolling about the tangents
  Vector3 velocityBefore = Vector3::Zero(); ///< of the first part relative to the second, at the begin of the step
  Vector3 velocity = Vector3::Zero();       ///< the same at the end of the step
  ContactStatus status = ContactStatus::Open;
  /// Contact along a curve (the first part): the reference length for which it stands [m], and where on either part; zero elsewhere.
  double length = 0;
  double arclength = 0, otherArclength = 0;
};

/// All contacts of the last step of an analysis, and how well their problem was solved.
struct ContactReport {
  const ContactModel* model = nullptr;
  std::vector<ContactRecord> contacts;
  double step = 0;        ///< [s]: impulse = step x mean force
  double residual = 0;    ///< of the friction problem, scaled by the norm of q
  long sweeps = 0;        ///< of Gauss-Seidel
  long newtonSteps = 0;   ///< of the friction solver
  long ambiguous = 0;     ///< contacts that allow several solutions or none (Painleve)
  double penetration = 0; ///< largest overlap at the end of the step [m]
  double dissipation = 0; ///< energy that the contacts took in the step, - sum P . (U- + U+) / 2 [J]
  double work = 0;        ///< of parts in prescribed motion, through the contacts, in the step [J]
  double projection = 0;  ///< potential energy that bodies got by being moved out of overlaps, in the step [J]
  double seconds = 0;     ///< spent on the step
  std::string note;       ///< several or no solution, bodies at rest put to sleep, ...
};

}
