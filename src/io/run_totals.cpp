#include "io/run_totals.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace tendril {

void PhaseClock::enter(Phase phase) {
  const Clock::time_point now = Clock::now();
  seconds_[current_] += std::chrono::duration<double>(now - since_).count();
  since_ = now;
  current_ = phase;
}

double PhaseClock::seconds(Phase phase) {
  enter(current_);
  return seconds_[phase];
}

void PhaseClock::store(Checkpoint& checkpoint) {
  enter(current_);
  checkpoint.set("run/seconds", seconds_);
}

void PhaseClock::load(const Checkpoint& checkpoint) {
  const auto saved = checkpoint.get("run/seconds");
  for (std::size_t i = 0; i < std::min(saved.size(), seconds_.size()); ++i) seconds_[i] += saved[i];
}

void ContactTotals::add(const ContactReport& report) {
  penetration = std::max(penetration, report.penetration);
  residual = std::max(residual, report.residual);
  dissipation += report.dissipation, work += report.work, projection += report.projection;
  ++steps;
  sweeps += report.sweeps, worstSweeps = std::max(worstSweeps, report.sweeps);
  newtonSteps += report.newtonSteps, worstNewtonSteps = std::max(worstNewtonSteps, report.newtonSteps);
  mostContacts = std::max(mostContacts, long(report.contacts.size()));
  ambiguousSteps += report.ambiguous > 0;
}

Summary::Contact ContactTotals::summary() const {
  const auto average = [&](long sum) { return steps > 0 ? double(sum) / double(steps) : 0; };
  return {penetration, residual, average(sweeps), average(newtonSteps), worstSweeps, worstNewtonSteps, mostContacts, ambiguousSteps};
}

void ContactTotals::store(Checkpoint& checkpoint) const {
  checkpoint.set("run/contact numbers", std::array{penetration, residual, dissipation, work, projection});
  checkpoint.setIntegers("run/contact counters", std::array<std::int64_t, 7>{steps, sweeps, worstSweeps, newtonSteps, worstNewtonSteps,
                                                                             mostContacts, ambiguousSteps});
}

void ContactTotals::load(const Checkpoint& checkpoint) {
  const auto numbers = checkpoint.get("run/contact numbers");
  const auto counters = checkpoint.integers("run/contact counters");
  if (numbers.size() != 5 || counters.size() != 7) throw InputError("the checkpoint was written by another version; run without --resume");
  penetration = numbers[0], residual = numbers[1], dissipation = numbers[2], work = numbers[3], projection = numbers[4];
  steps = counters[0], sweeps = counters[1], worstSweeps = counters[2], newtonSteps = counters[3], worstNewtonSteps = counters[4];
  mostContacts = counters[5], ambiguousSteps = counters[6];
}

void RunTotals::note(std::string text) {
  if (notes.size() < maxNotes)
    notes.push_back(std::move(text));
  else
    ++notesDropped;
}

void RunTotals::store(Checkpoint& checkpoint) const {
  contact.store(checkpoint);
  checkpoint.set("run/numbers", std::array{residual, initialEnergy, work, t, power});
  checkpoint.setIntegers("run/counters", std::array<std::int64_t, 5>{step, iterations, worstIterations, stable, notesDropped});
  std::vector<std::int64_t> characters;
  for (const std::string& text : notes) {
    characters.insert(characters.end(), text.begin(), text.end());
    characters.push_back('\n');
  }
  checkpoint.setIntegers("run/notes", characters);
}

void RunTotals::load(const Checkpoint& checkpoint) {
  contact.load(checkpoint);
  const auto numbers = checkpoint.get("run/numbers");
  const auto counters = checkpoint.integers("run/counters");
  if (numbers.size() != 5 || counters.size() != 5) throw InputError("the checkpoint was written by another version; run without --resume");
  residual = numbers[0], initialEnergy = numbers[1], work = numbers[2], t = numbers[3], power = numbers[4];
  step = counters[0], iterations = counters[1], worstIterations = counters[2], stable = int(counters[3]), notesDropped = counters[4];
  notes.clear();
  std::string text;
  for (const std::int64_t character : checkpoint.integers("run/notes")) {
    if (character != '\n') {
      text += char(character);
      continue;
    }
    notes.push_back(text);
    text.clear();
  }
}

void RunTotals::begin(Analysis& analysis, const Model& model) {
  const Energy energy = analysis.energy(model);
  initialEnergy = energy.total();
  power = energy.power;
  t = analysis.state().t;
}

void RunTotals::add(const StepReport& report, Analysis& analysis, const Model& model, bool isDynamic) {
  step = report.step;
  iterations += report.iterations;
  worstIterations = std::max<long>(worstIterations, report.iterations);
  residual = std::max(residual, report.residual);
  if (const ContactReport* contacts = analysis.contacts()) contact.add(*contacts);
  if (isDynamic) {
    const Energy energy = analysis.energy(model);
    work += (report.t - t) * (energy.power + power) / 2;
    power = energy.power;
    control = controlEnergy(analysis);
  }
  t = report.t;
  const bool isNews = notes.empty() || !notes.back().ends_with(": " + report.note);
  if (!report.note.empty() && isNews) note(fmt::format("from step {}, t = {:.9g}: {}", report.step, report.t, report.note));
  if (report.tangent) noteStability(report);
  if (report.critical) note(fmt::format("step {}: stability changed at load parameter {:.9g}", report.step, *report.critical));
}

void RunTotals::noteStability(const StepReport& report) {
  const int isStable = report.stable();
  const bool isFirst = stable < 0;
  if (isFirst ? !isStable : isStable != stable) {
    const std::string change = isStable ? "stable again"
                               : report.tangent->negative > 0
                                   ? fmt::format("unstable (negative signs of the tangent: {})", report.tangent->negative)
                                   : "neutral (the tangent is singular)";
    note(fmt::format("step {}, load parameter {:.9g}: the equilibrium {} {}", report.step, report.t, isFirst ? "is" : "became", change));
  }
  stable = isStable;
}

void RunTotals::tellSteps(Summary& summary) const {
  summary.steps = step;
  summary.newton = {iterations, step > 0 ? double(iterations) / double(step) : 0, worstIterations};
  summary.residual = residual;
}

void RunTotals::tellEnergy(Analysis& analysis, const Model& model, bool isDynamic, Summary& summary) const {
  const double final = analysis.energy(model).total();
  summary.energy = {{"initial", initialEnergy}, {"final", final}};
  if (isDynamic) {
    const double lost = totalLoss();
    summary.energy["work"] = totalWork();
    summary.energy["balance"] = final - initialEnergy - totalWork() - contact.projection + lost;
    if (analysis.contacts() || lost != 0) summary.energy["dissipated"] = lost;
  }
  if (analysis.contacts()) {
    summary.energy["projection"] = contact.projection;
    summary.contact = contact.summary();
    summary.penetration = contact.penetration;
  }
}

void tellOutputs(const Outputs& outputs, Summary& summary) {
  for (int i = 0; i < outputs.size(); ++i) {
    const Outputs::Info& info = outputs.infos()[std::size_t(i)];
    const auto result = outputs.result(i);
    summary.outputs[info.name] = {{result.begin(), result.end()}, info.unit, info.description, outputs.isArray(i)};
  }
}

}
