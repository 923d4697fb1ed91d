#include "io/step_series.h"

namespace tendril {

void StepSeries::declare(ResultWriter& writer, bool isDynamic, bool hasContacts) {
  isDynamic_ = isDynamic, hasContacts_ = hasContacts;
  const auto add = [&](Quantity quantity, const char* name, const char* unit, const char* description) {
    series_[quantity] = writer.addStep(name, {unit, description, ""});
  };
  add(StepSize, "step_size", isDynamic ? "s" : "1", isDynamic ? "Length of the step." : "Change of the load parameter in the step.");
  add(Iterations, "iterations", "1", "Iterations of Newton's method in the step.");
  add(Residual, "residual", "1", "Largest residual of the step, relative to its threshold.");
  add(Elastic, "elastic_energy", "J", "Elastic energy.");
  add(Gravitational, "gravitational_energy", "J", "Gravitational energy, from the plane through the origin.");
  add(Total, "total_energy", "J", "Kinetic, elastic and gravitational energy.");
  if (isDynamic) {
    add(Kinetic, "kinetic_energy", "J", "Kinetic energy.");
    add(Work, "work", "J", "Work of loads, drives, dampers, controls and moving obstacles since the start.");
  }
  if (!hasContacts) return;
  add(Dissipated, "dissipated", "J", "Energy that contacts have taken since the start.");
  add(ContactResidual, "contact_residual", "1", "Residual of the friction problem of the step, scaled.");
  add(Sweeps, "sweeps", "1", "Sweeps of Gauss-Seidel in the step.");
  add(ContactNewtonSteps, "contact_newton_steps", "1", "Newton steps of the friction solver in the step.");
  add(Penetration, "penetration", "m", "Largest overlap at the end of the step.");
}

void StepSeries::write(ResultWriter& writer, const Energy& energy, const ContactReport* contacts, const RunTotals& totals) const {
  const auto set = [&](Quantity quantity, double value) { writer.set(series_[quantity], value); };
  set(StepSize, size_);
  set(Iterations, iterations_);
  set(Residual, residual_);
  set(Elastic, energy.elastic);
  set(Gravitational, energy.gravitational);
  set(Total, energy.total());
  if (isDynamic_) {
    set(Kinetic, energy.kinetic);
    set(Work, totals.totalWork());
  }
  if (!hasContacts_) return;
  set(Dissipated, totals.totalLoss());
  if (!contacts || totals.step == 0) return; // the initial state has had no step
  set(ContactResidual, contacts->residual);
  set(Sweeps, double(contacts->sweeps));
  set(ContactNewtonSteps, double(contacts->newtonSteps));
  set(Penetration, contacts->penetration);
}

}
