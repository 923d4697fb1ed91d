#pragma once
#include "tendril/contact/line_contacts.h"
#include "tendril/elements/mechanism.h"
#include "tendril/statics/load_stepping.h"

#include <functional>
#include <memory>

namespace tendril::test {

/// Statics of a mechanism with contacts, run to the end.
struct ContactRun {
  Mechanism mechanism;
  ContactModel parts;
  std::unique_ptr<LoadStepping> analysis;
  int steps = 0;
  long iterations = 0;

  /// `look` sees every equilibrium, with its load parameter.
  void run(
      const LineContactOptions& line, const LoadSteppingOptions& options, const std::function<void(double)>& look = [](double) {}) {
    analysis =
        std::make_unique<LoadStepping>(*mechanism.model, options, parts, std::make_unique<LineContacts>(*mechanism.model, parts, line));
    analysis->start();
    while (!analysis->finished()) {
      iterations += analysis->advance().iterations, ++steps;
      look(analysis->state().t);
    }
  }
  Pose node(int beam, int i) const {
    return loadPose(analysis->state().q.data() + mechanism.model->blocks()[mechanism.beams[beam].nodes[i]].q);
  }
  double total() const {
    double sum = 0;
    for (const ContactRecord& c : analysis->contacts()->contacts) sum += c.impulse[0];
    return sum;
  }
};

}
