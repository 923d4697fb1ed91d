#include "io/run_totals.h"
#include "tendril/model/error.h"

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

ControlEnergy controlEnergy(Analysis& analysis) {
  ControlEnergy energy;
  analysis.monitor("control work", nullptr, &energy.work);
  analysis.monitor("impact loss", nullptr, &energy.lost);
  return energy;
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

}
