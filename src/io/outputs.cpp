#include "tendril/io/outputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace tendril {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// Steps that a reduction looks back upon.
constexpr int depth = 4;

using Samples = std::array<double, depth>; // the newest last

void push(Samples& samples, double value) {
  std::rotate(samples.begin(), samples.begin() + 1, samples.end());
  samples.back() = value;
}

/// Value at the vertex of the parabola through the three newest samples, whose middle one is an extremum.
double vertex(const Samples& s, const Samples& f) {
  const double before = (f[2] - f[1]) / (s[2] - s[1]), after = (f[3] - f[2]) / (s[3] - s[2]);
  const double curvature = (after - before) / (s[3] - s[1]);
  const double slope = before + curvature * (s[2] - s[1]);
  return curvature != 0 && std::isfinite(curvature) ? f[2] - slope * slope / (4 * curvature) : f[2];
}

/// Polynomial through the newest samples at T: cubic if there are four in monotone order, else linear.
double interpolate(const Samples& t, const Samples& f, int count, double T) {
  const auto rises = [&](int i) { return (t[i + 1] - t[i]) * (t[depth - 1] - t[depth - 2]) > 0; };
  const int first = count >= depth && rises(0) && rises(1) ? 0 : depth - 2;
  double value = 0;
  for (int i = first; i < depth; ++i) {
    double weight = 1;
    for (int j = first; j < depth; ++j) {
      if (j != i) weight *= (T - t[j]) / (t[i] - t[j]);
    }
    value += weight * f[i];
  }
  return value;
}

/// Factors from the units of a system to SI for columns in the given SI unit. "A, B" stands for two columns, or for the position and the
/// directors of a frame.
std::vector<double> scalesOf(const std::string& unit, int columns, const UnitSystem& system) {
  const auto factor = [&](const std::string& part) { return system.factor(parseUnit(part).dimension); };
  const std::size_t comma = unit.find(',');
  std::vector<double> scales(columns, factor(unit.substr(0, comma)));
  if (comma != std::string::npos) std::fill(scales.begin() + (columns == 12 ? 3 : 1), scales.end(), factor(unit.substr(comma + 1)));
  return scales;
}

/// An SI unit, or two with a comma, in the words of the system.
std::string translated(const std::string& unit, const UnitSystem& system) {
  if (system.isSi()) return unit;
  const std::size_t comma = unit.find(',');
  const std::string first = system.unit(parseUnit(unit.substr(0, comma)).dimension);
  return comma == std::string::npos ? first : first + ", " + system.unit(parseUnit(unit.substr(comma + 1)).dimension);
}

struct Item {
  OutputDefinition definition;
  const Measure* measure = nullptr;
  std::vector<double> scale;             ///< SI value of the unit of each measured column
  std::vector<double> measured, initial; ///< by the measure, before a component is taken
  std::vector<double> row, result;
  std::vector<Samples> samples; ///< per column
  bool found = false;           ///< the extremum occurred, the time was reached

  const OutputDefinition::Formula* formula() const { return std::get_if<OutputDefinition::Formula>(&definition.quantity); }
  bool looksBack() const { return !samples.empty(); }
};

}

struct Outputs::Impl {
  /// The names a formula sees: outputs first, then the parameters of the scene.
  class FormulaScope final : public Scope {
   public:
    /// Values come from the results of the outputs, or from their rows.
    FormulaScope(const Impl& owner, bool results, std::set<int>* used = nullptr) : owner_(owner), results_(results), used_(used) {}

    const Symbol* find(std::string_view name) const override {
      for (int i = 0; i < int(owner_.items.size()); ++i) {
        const int column = owner_.columnOf(i, name);
        if (column < 0) continue;
        if (used_) used_->insert(i);
        const Item& item = owner_.items[i];
        symbol_ = (results_ ? item.result : item.row)[column];
        return &symbol_;
      }
      return owner_.parameters->find(name);
    }
    std::vector<std::string> names() const override {
      std::vector<std::string> list;
      for (const Info& info : owner_.infos) {
        if (info.columns == 1) list.push_back(info.name);
        for (int c = 0; c < info.columns && info.columns > 1; ++c) {
          list.push_back(info.name + "_" + (info.columns == 3 ? std::string(1, "xyz"[c]) : std::to_string(c + 1)));
        }
      }
      const std::vector<std::string> more = owner_.parameters->names();
      list.insert(list.end(), more.begin(), more.end());
      return list;
    }

   private:
    const Impl& owner_;
    bool results_;
    std::set<int>* used_;
    mutable Symbol symbol_;
  };

  const Model* model = nullptr;
  const Scope* parameters = nullptr;
  PathParameter path = PathParameter::Time;
  OutputUnits units;
  double second = 1; ///< SI value of the unit of t
  std::vector<Item> items;
  std::vector<Info> infos;
  std::vector<int> order; ///< measures first, then formulas after what they use
  bool readsMultipliers = false, readsBalance = false;

  // Memory of the path.
  State state; ///< with the multipliers to report
  VectorX previousQ;
  Samples times{}, distances{};
  int count = 0;
  double initialEnergy = 0, work = 0, lastPower = 0;

  Expression compile(const OutputDefinition::Formula& formula, const Scope& scope) const {
    try {
      return {formula.text, scope, Expression::Time::Allowed};
    } catch (const ExpressionError& error) {
      throw InputError(formula.where, formula.key, error.what(), error.remedy);
    }
  }

  int columnOf(int i, std::string_view name) const;
  void describe(Item& item, Info& info) const;
  void sortFormulas();
  void visit(int i, std::vector<int>& mark);

  void notePath(const StepReport& report);
  void measure(Item& item, const StepReport& report);
  void reduce(Item& item, const StepReport& report);
};

/// Column of output i that a name in a formula means, or -1.
int Outputs::Impl::columnOf(int i, std::string_view name) const {
  const Info& info = infos[i];
  if (!name.starts_with(info.name)) return -1;
  std::string_view suffix = name.substr(info.name.size());
  if (suffix.empty()) return info.columns == 1 ? 0 : -1;
  if (info.columns == 1 || suffix[0] != '_') return -1;
  suffix.remove_prefix(1);
  if (info.columns == 3 && suffix.size() == 1 && suffix[0] >= 'x' && suffix[0] <= 'z') return suffix[0] - 'x';
  for (int c = 0; c < info.columns; ++c) {
    if (suffix == std::to_string(c + 1)) return c;
  }
  return -1;
}

/// Sizes and description of an output, and whether its definition makes sense.
void Outputs::Impl::describe(Item& item, Info& info) const {
  const OutputDefinition& definition = item.definition;
  const auto refuse = [&](const std::string& message) { throw InputError("output '" + definition.name + "': " + message); };
  info = {definition.name, "1", "", "", 1, definition.series};
  if (item.measure) {
    info.unit = item.measure->unit, info.description = item.measure->description, info.frame = item.measure->frame;
    info.columns = item.measure->columns;
  } else if (const auto* formula = item.formula()) {
    info.unit = formula->unit, info.description = formula->text;
  } else {
    const std::array<std::array<std::string, 2>, 4> words{
        {{siUnit(units.argument), "size of the step, of time or of the load parameter"},
         {"1", "iterations of Newton's method in the step"},
         {"1", "first load parameter at which the number of unstable directions changed"},
         {"J", "total energy minus its initial value and the work of loads, drives and dampers"}}};
    const auto& [unit, text] = words[std::size_t(std::get<StepQuantity>(definition.quantity))];
    info.unit = unit, info.description = text;
  }
  if (!item.formula()) {
    item.scale = scalesOf(info.unit, info.columns, units.system);
    info.unit = translated(info.unit, units.system);
  }
  if (!definition.description.empty()) info.description = definition.description;
  const bool isPlain = !definition.component && definition.reference.empty() && !definition.relativeToInitial;
  if (!item.measure && !isPlain) refuse("a component or a reference needs a measured quantity");
  if (!definition.reference.empty() && int(definition.reference.size()) != info.columns) {
    refuse("the reference has " + std::to_string(definition.reference.size()) + " numbers, the quantity " + std::to_string(info.columns));
  }
  item.measured.assign(info.columns, nan);
  item.initial.assign(info.columns, 0);
  if (const auto& component = definition.component) {
    if (!component->isNorm && component->index >= info.columns) {
      refuse("it has no component " + std::to_string(component->index + 1) + ", only " + std::to_string(info.columns));
    }
    info.columns = 1;
  }
  // Numbers until the first observation; a formula may be compiled with them.
  item.row.assign(info.columns, nan);
  item.result = item.row;
  if (definition.reduction >= Reduction::FirstMaximum) item.samples.assign(info.columns, Samples{});
}

void Outputs::Impl::sortFormulas() {
  for (int i = 0; i < int(items.size()); ++i) {
    if (!items[i].formula()) order.push_back(i);
  }
  std::vector<int> mark(items.size(), 0);
  for (int i = 0; i < int(items.size()); ++i) visit(i, mark);
}

/// Depth first; mark 1 while an output waits for what it uses, 2 when it has its place.
void Outputs::Impl::visit(int i, std::vector<int>& mark) {
  const auto* formula = items[i].formula();
  if (!formula || mark[i] == 2) return;
  if (mark[i] == 1) {
    throw InputError(formula->where, formula->key, "the output '" + infos[i].name + "' depends on itself",
                     "outputs may use one another, but not in a circle");
  }
  mark[i] = 1;
  std::set<int> used;
  compile(*formula, FormulaScope(*this, false, &used));
  for (int other : used) visit(other, mark);
  mark[i] = 2;
  order.push_back(i);
}

Outputs::Outputs(const Model& model, std::vector<OutputDefinition> definitions, const Scope& parameters, PathParameter path,
                 OutputUnits units)
    : impl(std::make_unique<Impl>()) {
  impl->model = &model;
  impl->parameters = &parameters;
  impl->path = path;
  impl->units = std::move(units);
  impl->second = impl->units.system.factor(impl->units.argument);
  std::set<std::string> names;
  impl->items.resize(definitions.size());
  impl->infos.resize(definitions.size());
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (!names.insert(definitions[i].name).second) {
      throw InputError("two outputs are named '" + definitions[i].name + "'; give each a name of its own");
    }
    Item& item = impl->items[i];
    item.definition = std::move(definitions[i]);
    item.measure = std::get_if<Measure>(&item.definition.quantity);
    if (item.measure) impl->readsMultipliers = impl->readsMultipliers || item.measure->readsMultipliers;
    const auto* quantity = std::get_if<StepQuantity>(&item.definition.quantity);
    impl->readsBalance = impl->readsBalance || (quantity && *quantity == StepQuantity::EnergyBalance);
    impl->describe(item, impl->infos[i]);
  }
  impl->sortFormulas();
}

Outputs::Outputs(Outputs&&) noexcept = default;
Outputs& Outputs::operator=(Outputs&&) noexcept = default;
Outputs::~Outputs() = default;

int Outputs::size() const { return int(impl->items.size()); }
const std::vector<Outputs::Info>& Outputs::infos() const { return impl->infos; }
std::span<const double> Outputs::row(int i) const { return impl->items[i].row; }
std::span<const double> Outputs::result(int i) const { return impl->items[i].result; }

// ---- observation -----------------------------------------------------------------------------------------------------------------------

void Outputs::observe(Analysis& analysis, const StepReport& report) {
  impl->state = analysis.state();
  if (impl->readsMultipliers) impl->state.lambda = analysis.reactions();
  impl->notePath(report);
  for (int i : impl->order) {
    impl->measure(impl->items[i], report);
    impl->reduce(impl->items[i], report);
  }
}

void Outputs::Impl::notePath(const StepReport& report) {
  double moved = 0;
  if (path == PathParameter::Distance && count > 0) {
    const double length = model->characteristicLength();
    for (const Block& block : model->blocks()) {
      const auto change = state.q.segment(block.q, block.nq) - previousQ.segment(block.q, block.nq);
      const bool isPose = block.kind == Block::Kind::Pose;
      moved += isPose ? change.head<3>().squaredNorm() / (length * length) + change.tail<9>().squaredNorm() / 2 : change.squaredNorm();
    }
  }
  push(times, state.t);
  push(distances, path == PathParameter::Time ? state.t : distances.back() + std::sqrt(moved));
  if (path == PathParameter::Distance) previousQ = state.q;
  if (readsBalance) {
    const Energy energy = model->energy(state);
    if (count == 0) initialEnergy = energy.total();
    if (count > 0) work += report.h * (lastPower + energy.power) / 2;
    lastPower = energy.power;
  }
  ++count;
}

void Outputs::Impl::measure(Item& item, const StepReport& report) {
  const OutputDefinition& definition = item.definition;
  if (const auto* formula = item.formula()) {
    item.row[0] = compile(*formula, FormulaScope(*this, false)).value(state.t / second);
    return;
  }
  if (const auto* quantity = std::get_if<StepQuantity>(&definition.quantity)) {
    const double value =
        *quantity == StepQuantity::StepSize     ? report.h
        : *quantity == StepQuantity::Iterations ? double(report.iterations)
        : *quantity == StepQuantity::CriticalLoad
            ? (std::isnan(item.result[0]) ? report.critical.value_or(std::numeric_limits<double>::quiet_NaN()) : item.result[0])
            : model->energy(state).total() - initialEnergy - work;
    item.row[0] = value / item.scale[0];
    return;
  }
  item.measure->evaluate(state, item.measured.data());
  for (std::size_t c = 0; c < item.measured.size(); ++c) item.measured[c] /= item.scale[c];
  if (count == 1 && definition.relativeToInitial) item.initial = item.measured;
  const std::vector<double>& reference = definition.reference.empty() ? item.initial : definition.reference;
  Eigen::Map<VectorX> value(item.measured.data(), Eigen::Index(item.measured.size()));
  value -= Eigen::Map<const VectorX>(reference.data(), value.size());
  if (!definition.component) {
    std::copy(item.measured.begin(), item.measured.end(), item.row.begin());
  } else {
    item.row[0] = definition.component->isNorm ? value.norm() : value[definition.component->index];
  }
}

void Outputs::Impl::reduce(Item& item, const StepReport& report) {
  const Reduction reduction = item.definition.reduction;
  const double T = item.definition.at;
  const bool isFirst = count == 1;
  const bool hits = std::abs(times.back() - T) <= 1e-9 * std::max(std::abs(T), std::abs(report.h));
  const bool passes = !isFirst && (times[depth - 2] - T) * (times.back() - T) < 0;
  bool foundNow = false;
  for (std::size_t c = 0; c < item.row.size(); ++c) {
    const double value = item.row[c];
    double& result = item.result[c];
    if (item.looksBack()) push(item.samples[c], value);
    switch (reduction) {
    case Reduction::Last:
      result = item.formula() ? compile(*item.formula(), FormulaScope(*this, true)).value(state.t / second) : value;
      break;
    case Reduction::Max:
      result = isFirst ? value : std::max(result, value);
      break;
    case Reduction::Min:
      result = isFirst ? value : std::min(result, value);
      break;
    case Reduction::FirstMaximum:
    case Reduction::FirstMinimum: {
      const double sign = reduction == Reduction::FirstMaximum ? 1 : -1;
      const Samples& f = item.samples[c];
      if (std::isnan(result) && count >= 3 && sign * (f[2] - f[1]) > 0 && sign * (f[2] - f[3]) >= 0) result = vertex(distances, f);
      break;
    }
    case Reduction::At:
      if (item.found) break;
      if (hits)
        result = value;
      else if (passes)
        result = interpolate(times, item.samples[c], count, T);
      foundNow = hits || passes;
      break;
    }
  }
  item.found = item.found || foundNow;
}

std::vector<std::string> Outputs::messages() const {
  std::vector<std::string> list;
  for (const Item& item : impl->items) {
    const OutputDefinition& definition = item.definition;
    if (std::none_of(item.result.begin(), item.result.end(), [](double value) { return std::isnan(value); })) continue;
    const std::string label = "output '" + definition.name + "' has no value: ";
    if (definition.reduction == Reduction::At) {
      list.push_back(label + "the run did not reach t = " + std::to_string(definition.at / impl->second));
    } else if (definition.reduction == Reduction::FirstMaximum || definition.reduction == Reduction::FirstMinimum) {
      list.push_back(label + "it had no " + (definition.reduction == Reduction::FirstMaximum ? "maximum" : "minimum") + " inside the path");
    } else {
      list.push_back(label + (item.formula() ? "its formula '" + item.formula()->text + "' is not a number" : "it is not a number"));
    }
  }
  return list;
}

// ---- memory ----------------------------------------------------------------------------------------------------------------------------

void Outputs::save(Snapshot& snapshot) const {
  std::vector<double> common{double(impl->count), impl->initialEnergy, impl->work, impl->lastPower};
  common.insert(common.end(), impl->times.begin(), impl->times.end());
  common.insert(common.end(), impl->distances.begin(), impl->distances.end());
  snapshot["outputs/path"] = common;
  snapshot["outputs/configuration"].assign(impl->previousQ.data(), impl->previousQ.data() + impl->previousQ.size());
  for (const Item& item : impl->items) {
    std::vector<double>& values = snapshot["outputs/of/" + item.definition.name];
    values = {double(item.found)};
    for (const auto* part : {&item.initial, &item.row, &item.result}) values.insert(values.end(), part->begin(), part->end());
    for (const Samples& samples : item.samples) values.insert(values.end(), samples.begin(), samples.end());
  }
}

void Outputs::restore(const Snapshot& snapshot) {
  const auto entry = [&](const std::string& name) -> const std::vector<double>& {
    const auto found = snapshot.find(name);
    if (found == snapshot.end()) throw InputError("the checkpoint does not hold '" + name + "'; it belongs to another scene or version");
    return found->second;
  };
  const auto take = [](auto& from, auto& target) {
    for (double& value : target) value = *from++;
  };
  auto common = entry("outputs/path").begin();
  impl->count = int(*common++);
  impl->initialEnergy = *common++, impl->work = *common++, impl->lastPower = *common++;
  take(common, impl->times);
  take(common, impl->distances);
  const std::vector<double>& q = entry("outputs/configuration");
  impl->previousQ = Eigen::Map<const VectorX>(q.data(), Eigen::Index(q.size()));
  for (Item& item : impl->items) {
    const std::vector<double>& values = entry("outputs/of/" + item.definition.name);
    const std::size_t expected = 1 + item.initial.size() + item.row.size() + item.result.size() + depth * item.samples.size();
    if (values.size() != expected) throw InputError("the checkpoint's output '" + item.definition.name + "' has another size");
    auto from = values.begin();
    item.found = *from++ != 0;
    take(from, item.initial);
    take(from, item.row);
    take(from, item.result);
    for (Samples& samples : item.samples) take(from, samples);
  }
}

}
