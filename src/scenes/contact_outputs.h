#pragma once
#include "tendril/contact/contact_curve.h"
#include "tendril/contact/contact_report.h"
#include "tendril/scenes/outputs.h"

#include <string>
#include <vector>

namespace tendril {

/// What a contact quantity is, as results describe it.
struct ContactQuantityInfo {
  int columns = 1;
  std::string unit = "1";
  std::string description;
  std::string frame;
};
const ContactQuantityInfo& infoOf(ContactQuantity::Kind kind);

/// Reads quantities off the contacts of a step.
class ContactObserver {
 public:
  ContactObserver() = default;
  /// Both must outlive the observer; null where nothing touches.
  ContactObserver(const Model& model, const ContactModel* contacts);

  /// Takes the contacts of a step; null where there are none (the initial state).
  void observe(const ContactReport* report);
  void evaluate(const ContactQuantity& quantity, const State& state, double* values);

  /// Energy that the contacts have taken since the start.
  double dissipation = 0;
  /// Work of parts in prescribed motion, through the contacts.
  double work = 0;
  /// Potential energy that came by taking overlaps out of positions.
  double projection = 0;

 private:
  void alongBeam(const ContactQuantity& quantity, double* values);
  double gap(const ContactQuantity& quantity, const State& state);
  double gapOfParts(int first, int second, const State& state);
  const CurveConfiguration& curve(int part, const State& state);

  const ContactModel* model_ = nullptr;
  const ContactReport* report_ = nullptr;
  std::vector<CurveConfiguration> curves_;         ///< by part; empty for rigid ones
  std::vector<std::pair<double, double>> profile_; ///< arclength and load per length
};

}
