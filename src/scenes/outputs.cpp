#include "tendril/scenes/outputs.h"

#include "scenes/contact_outputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

namespace tendril {

ControlEnergy controlEnergy(Analysis& analysis) {
  ControlEnergy energy;
  analysis.monitor("control work", nullptr, &energy.work);
  analysis.monitor("impact loss", nullptr, &energy.lost);
  return energy;
}

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
  std::vector<std::pair<int, int>> sources; ///< of an array or an integral: output and column
  std::vector<double> scale;                ///< SI value of the unit of each measured column
  std::vector<double> measured, initial;    ///< by the measure, before a component is taken
  std::vector<double> row, result;
  std::vector<Samples> samples;                           ///< per column
  bool found = false;                                     ///< the extremum occurred, the time was reached
  bool held = false;                                      ///< the condition, at the last step
  std::optional<Expression> ofRows, ofResults, condition; ///< a formula of the values at a step, and of the results; `where`
  long taken = 0;                                         ///< steps that count in the result

  const OutputDefinition::Formula* formula() const { return std::get_if<OutputDefinition::Formula>(&definition.quantity); }
  const OutputDefinition::Gather* gather() const { return std::get_if<OutputDefinition::Gather>(&definition.quantity); }
  const OutputDefinition::Integral* integral() const { return std::get_if<OutputDefinition::Integral>(&definition.quantity); }
  const EventQuantity* event() const { return std::get_if<EventQuantity>(&definition.quantity); }
  const ContactQuantity* contact() const { return std::get_if<ContactQuantity>(&definition.quantity); }
  const MonitorQuantity* monitor() const { return std::get_if<MonitorQuantity>(&definition.quantity); }
  bool isMeasured() const { return measure || contact() || monitor(); }
  /// The values from which formulas and arrays of results are made.
  const std::vector<double>& resultOrRow() const { return grows() ? row : result; }
  /// The result has as many elements as were found.
  bool grows() const { return definition.reduction == Reduction::All || event(); }
  bool looksBack() const { return !samples.empty(); }
};

}

struct Outputs::Impl {
  /// The names a formula sees: outputs first, then the parameters of the scene.
  class FormulaScope final : public Scope {
   public:
    /// Values come from the results of the outputs, or from their rows.
    FormulaScope(const Impl& owner, bool results, std::set<int>* used = nullptr) : owner_(owner), results_(results), used_(used) {}

    const double* variable(std::string_view name) const override {
      for (int i = 0; i < int(owner_.items.size()); ++i) {
        const int column = owner_.columnOf(i, name);
        if (column < 0) continue;
        if (used_) used_->insert(i);
        const Item& item = owner_.items[i];
        return &(results_ ? item.resultOrRow() : item.row)[column];
      }
      return name == "h" && !owner_.parameters->find(name) ? &owner_.stepShown : nullptr;
    }
    const Symbol* find(std::string_view name) const override {
      if (const double* place = variable(name)) return &(symbol_ = *place);
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
  double second = 1;    ///< SI value of the unit of t
  double stepShown = 0; ///< size of the present one, in this unit
  std::vector<Item> items;
  std::vector<Info> infos;
  std::vector<int> order; ///< every output after those that it uses
  bool readsMultipliers = false, readsBalance = false;
  ContactObserver contacts;

  // Memory of the path.
  State state; ///< with the multipliers to report
  VectorX previousQ;
  Samples times{}, distances{};
  int count = 0;
  double energyNow = 0, initialEnergy = 0, work = 0, lastPower = 0;
  ControlEnergy control; ///< at the last step

  /// A formula or a condition.
  template <class Formula> Expression compile(const Formula& formula, const Scope& scope) const {
    try {
      return {formula.text, scope, Expression::Time::Allowed};
    } catch (const ExpressionError& error) {
      throw InputError(formula.where, formula.key, error.what(), error.remedy);
    }
  }

  int columnOf(int i, std::string_view name) const;
  void describe(Item& item, Info& info) const;
  void checkReference(const Item& item, const Info& info) const;
  void sort();
  void visit(int i, std::vector<int>& mark);
  /// The outputs that an output uses, itself not among them.
  std::set<int> usedBy(int i) const;
  void collect(Item& item, Info& info) const;
  void connect(Item& item, Info& info) const;
  void compileFormulas(Item& item) const;

  void notePath(Analysis& analysis, const StepReport& report);
  void measure(Item& item, Analysis& analysis, const StepReport& report);
  double ofStep(const Item& item, StepQuantity quantity, const StepReport& report) const;
  bool holds(const Item& item) const;
  void reduce(Item& item, const StepReport& report);
  void reduceWhere(Item& item) const;
  void gatherEvents(Item& item, const Analysis& analysis) const;
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

/// Sizes and description of an output, and whether its definition makes sense. Those of arrays follow from what they gather.
void Outputs::Impl::describe(Item& item, Info& info) const {
  const OutputDefinition& definition = item.definition;
  info = {definition.name, "1", "", "", 1, definition.series, false, item.grows()};
  info.isArray = info.grows || item.gather();
  if (item.measure) {
    info.unit = item.measure->unit, info.description = item.measure->description, info.frame = item.measure->frame;
    info.columns = item.measure->columns;
  } else if (const ContactQuantity* contact = item.contact()) {
    const ContactQuantityInfo& words = infoOf(contact->kind);
    info.unit = words.unit, info.description = words.description, info.frame = words.frame, info.columns = words.columns;
  } else if (const MonitorQuantity* monitor = item.monitor()) {
    info.unit = monitor->unit, info.description = monitor->description, info.frame = monitor->frame, info.columns = monitor->columns;
  } else if (item.event()) {
    info.unit = "s", info.description = "times of events";
  } else if (const auto* formula = item.formula()) {
    info.unit = formula->unit, info.description = formula->text;
  } else if (const auto* quantity = std::get_if<StepQuantity>(&definition.quantity)) {
    const std::array<std::array<std::string, 2>, 4> words{
        {{siUnit(units.argument), "size of the step, of time or of the load parameter"},
         {"1", "iterations of Newton's method in the step"},
         {"1", "first load parameter at which the number of unstable directions changed"},
         {"J", "total energy minus its initial value, the work of loads, drives, dampers and moving obstacles and what came by moving "
               "bodies out of overlaps, plus what contacts took"}}};
    info.unit = words[std::size_t(*quantity)][0], info.description = words[std::size_t(*quantity)][1];
  }
  if (!item.formula() && !item.gather() && !item.integral()) {
    item.scale = scalesOf(info.unit, info.columns, units.system);
    info.unit = translated(info.unit, units.system);
  }
  if (!definition.description.empty()) info.description = definition.description;
  checkReference(item, info);
  item.measured.assign(info.columns, nan);
  item.initial.assign(info.columns, 0);
  if (definition.component) info.columns = 1;
  if (item.integral()) item.initial.assign(2, 0); // of and over at the last step
  // Numbers until the first observation; a formula may be compiled with them.
  item.row.assign(info.columns, nan);
  if (!info.grows) item.result = item.row;
  if (definition.reduction >= Reduction::FirstMaximum) item.samples.assign(info.columns, Samples{});
}

void Outputs::Impl::checkReference(const Item& item, const Info& info) const {
  const OutputDefinition& definition = item.definition;
  const auto refuse = [&](const std::string& message) { throw InputError("output '" + definition.name + "': " + message); };
  const bool isPlain = !definition.component && definition.reference.empty() && !definition.relativeToInitial;
  if (!item.isMeasured() && !isPlain) refuse("a component or a reference needs a measured quantity");
  if (!definition.reference.empty() && int(definition.reference.size()) != info.columns) {
    refuse("the reference has " + std::to_string(definition.reference.size()) + " numbers, the quantity " + std::to_string(info.columns));
  }
  const auto& component = definition.component;
  if (component && !component->isNorm && component->index >= info.columns) {
    refuse("it has no component " + std::to_string(component->index + 1) + ", only " + std::to_string(info.columns));
  }
}

void Outputs::Impl::sort() {
  std::vector<int> mark(items.size(), 0);
  for (int i = 0; i < int(items.size()); ++i) visit(i, mark);
}

std::set<int> Outputs::Impl::usedBy(int i) const {
  std::set<int> used;
  const Item& item = items[i];
  const FormulaScope scope(*this, false, &used);
  if (item.definition.where) compile(*item.definition.where, scope);
  used.erase(i); // a condition may look at the value itself
  if (item.formula()) compile(*item.formula(), scope);
  for (int k = 0; item.integral() && k < int(items.size()); ++k) {
    if (columnOf(k, item.integral()->of) >= 0 || columnOf(k, item.integral()->over) >= 0) used.insert(k);
  }
  for (int k = 0; item.gather() && k < int(items.size()); ++k) {
    for (const std::string& name : item.gather()->names) {
      if (name == infos[k].name || columnOf(k, name) >= 0) used.insert(k);
    }
  }
  return used;
}

/// Depth first; mark 1 while an output waits for what it uses, 2 when it has its place.
void Outputs::Impl::visit(int i, std::vector<int>& mark) {
  if (mark[i] == 2) return;
  const OutputDefinition& definition = items[i].definition;
  if (mark[i] == 1) {
    const auto* formula = items[i].formula();
    const auto* gather = items[i].gather();
    const auto* integral = items[i].integral();
    const Location where = formula ? formula->where : gather ? gather->where : integral ? integral->where : definition.where->where;
    const std::string key = formula ? formula->key : gather ? gather->key : integral ? integral->key : definition.where->key;
    throw InputError(where, key, "the output '" + definition.name + "' depends on itself",
                     "outputs may use one another, but not in a circle");
  }
  mark[i] = 1;
  for (int other : usedBy(i)) visit(other, mark);
  if (items[i].gather()) collect(items[i], infos[i]);
  if (items[i].integral()) connect(items[i], infos[i]);
  compileFormulas(items[i]);
  mark[i] = 2;
  order.push_back(i);
}

/// Their variables are the rows and results of the outputs, whose sizes are known for all that this one uses.
void Outputs::Impl::compileFormulas(Item& item) const {
  const FormulaScope rows(*this, false), results(*this, true);
  if (item.definition.where) item.condition = compile(*item.definition.where, rows);
  if (!item.formula()) return;
  item.ofRows = compile(*item.formula(), rows);
  item.ofResults = compile(*item.formula(), results);
}

/// Finds what an array gathers; its unit is that of its members, if they agree.
void Outputs::Impl::collect(Item& item, Info& info) const {
  const OutputDefinition::Gather& gather = *item.gather();
  std::set<std::string> found;
  for (const std::string& name : gather.names) {
    const std::size_t before = item.sources.size();
    for (int k = 0; k < int(items.size()); ++k) {
      const int column = columnOf(k, name);
      for (int c = 0; c < infos[k].columns; ++c) {
        if (c == column || (column < 0 && name == infos[k].name)) item.sources.emplace_back(k, c), found.insert(infos[k].unit);
      }
    }
    if (item.sources.size() == before) {
      throw InputError(gather.where, gather.key, "there is no output '" + name + "'", "name outputs, or their components as NAME_x");
    }
  }
  if (found.size() == 1) info.unit = *found.begin();
  if (info.description.empty()) info.description = gather.names.front() + " to " + gather.names.back();
  info.columns = int(item.sources.size());
  item.row.assign(item.sources.size(), nan);
  if (!info.grows) item.result = item.row;
  if (item.looksBack()) item.samples.assign(item.sources.size(), Samples{});
}

/// Finds what an integral is of and over.
void Outputs::Impl::connect(Item& item, Info& info) const {
  const OutputDefinition::Integral& integral = *item.integral();
  for (const std::string& name : {integral.of, integral.over}) {
    const std::size_t before = item.sources.size();
    for (int k = 0; k < int(items.size()); ++k) {
      if (const int column = columnOf(k, name); column >= 0) item.sources.emplace_back(k, column);
    }
    if (item.sources.size() == before) {
      throw InputError(integral.where, integral.key, "there is no output '" + name + "' with one value",
                       "name an output, or one of its components as NAME_x");
    }
  }
  const std::string &of = infos[item.sources[0].first].unit, &over = infos[item.sources[1].first].unit;
  info.unit = over == "1" || over == "rad" ? of : of == "1" ? over : of + " " + over;
  if (info.description.empty()) info.description = "integral of " + integral.of + " over " + integral.over;
}

Outputs::Outputs(const Model& model, std::vector<OutputDefinition> definitions, const Scope& parameters, PathParameter path,
                 OutputUnits units, const ContactModel* contacts)
    : impl(std::make_unique<Impl>()) {
  impl->model = &model;
  impl->parameters = &parameters;
  impl->path = path;
  impl->contacts = ContactObserver(model, contacts);
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
  impl->sort();
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
  impl->contacts.observe(analysis.contacts());
  impl->notePath(analysis, report);
  for (int i : impl->order) {
    Item& item = impl->items[i];
    if (item.event()) {
      impl->gatherEvents(item, analysis);
      continue;
    }
    impl->measure(item, analysis, report);
    impl->reduce(item, report);
  }
}

void Outputs::Impl::notePath(Analysis& analysis, const StepReport& report) {
  stepShown = report.h / second;
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
    const Energy energy = analysis.energy(*model);
    energyNow = energy.total();
    if (count == 0) initialEnergy = energyNow;
    if (count > 0) work += report.h * (lastPower + energy.power) / 2;
    lastPower = energy.power;
    control = controlEnergy(analysis);
  }
  ++count;
}

void Outputs::Impl::measure(Item& item, Analysis& analysis, const StepReport& report) {
  const OutputDefinition& definition = item.definition;
  if (item.ofRows) {
    item.row[0] = item.ofRows->value(state.t / second);
    return;
  }
  if (item.gather()) {
    for (std::size_t c = 0; c < item.row.size(); ++c) item.row[c] = items[item.sources[c].first].row[item.sources[c].second];
    return;
  }
  if (item.integral()) {
    const auto value = [&](int i) { return items[item.sources[std::size_t(i)].first].row[item.sources[std::size_t(i)].second]; };
    const double of = value(0), over = value(1);
    item.row[0] = count == 1 ? 0 : item.row[0] + (of + item.initial[0]) / 2 * (over - item.initial[1]);
    item.initial = {of, over};
    return;
  }
  if (const auto* quantity = std::get_if<StepQuantity>(&definition.quantity)) {
    item.row[0] = ofStep(item, *quantity, report) / item.scale[0];
    return;
  }
  // Condition numbers cost more than a step: what nobody wants of each step is measured once.
  if (item.monitor() && !definition.series && definition.reduction == Reduction::Last && !analysis.finished()) return;
  if (const MonitorQuantity* monitor = item.monitor())
    analysis.monitor(monitor->name, monitor->on, item.measured.data());
  else if (item.measure)
    item.measure->evaluate(state, item.measured.data());
  else
    contacts.evaluate(*item.contact(), state, item.measured.data());
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

double Outputs::Impl::ofStep(const Item& item, StepQuantity quantity, const StepReport& report) const {
  switch (quantity) {
  case StepQuantity::StepSize:
    return report.h;
  case StepQuantity::Iterations:
    return double(report.iterations);
  case StepQuantity::CriticalLoad:
    return std::isnan(item.result[0]) ? report.critical.value_or(nan) : item.result[0];
  default:
    return energyNow - initialEnergy - work - control.work - contacts.work - contacts.projection + contacts.dissipation + control.lost;
  }
}

/// Adds the events since the last step; `taken` is the number of those looked at.
void Outputs::Impl::gatherEvents(Item& item, const Analysis& analysis) const {
  const auto* source = dynamic_cast<const EventDriven*>(&analysis);
  if (!source) return;
  const EventQuantity& wanted = *item.event();
  const auto matches = [&](int a, int b) { return (wanted.first < 0 || wanted.first == a) && (wanted.second < 0 || wanted.second == b); };
  for (; item.taken < long(source->events().size()); ++item.taken) {
    const ContactEvent& event = source->events()[std::size_t(item.taken)];
    if (wanted.kind && *wanted.kind != event.kind) continue;
    if (matches(event.first, event.second) || matches(event.second, event.first)) item.result.push_back(event.time / item.scale[0]);
  }
  item.row[0] = double(item.result.size());
}

/// Whether the step counts in the result.
bool Outputs::Impl::holds(const Item& item) const {
  if (!item.condition) return true;
  const double value = item.condition->value(state.t / second);
  return value > 0 || value < 0;
}

/// First, last, largest, smallest, mean or all values of the steps that count.
void Outputs::Impl::reduceWhere(Item& item) const {
  const Reduction reduction = item.definition.reduction;
  const bool isInitialOfMean = reduction == Reduction::Mean && count == 1;
  const bool counts = holds(item) && !isInitialOfMean, begins = counts && !item.held;
  item.held = counts;
  if (!counts) return;
  if (reduction == Reduction::All) {
    if (begins) item.result.insert(item.result.end(), item.row.begin(), item.row.end());
    return;
  }
  const double weight = 1 / double(++item.taken);
  // The last value of a formula, or of an array, is that of the results it uses; under a condition, of the step.
  const bool isOfResults = reduction == Reduction::Last && !item.definition.where;
  for (std::size_t c = 0; c < item.row.size(); ++c) {
    const double value = item.row[c];
    double& result = item.result[c];
    if (isOfResults && item.ofResults)
      result = item.ofResults->value(state.t / second);
    else if (isOfResults && item.gather())
      result = items[item.sources[c].first].resultOrRow()[item.sources[c].second];
    else if (reduction == Reduction::Last || item.taken == 1)
      result = value;
    else if (reduction == Reduction::Max)
      result = std::max(result, value);
    else if (reduction == Reduction::Min)
      result = std::min(result, value);
    else if (reduction == Reduction::Mean)
      result += weight * (value - result);
  }
}

void Outputs::Impl::reduce(Item& item, const StepReport& report) {
  const Reduction reduction = item.definition.reduction;
  if (!item.looksBack()) return reduceWhere(item);
  const double T = item.definition.at;
  const bool hits = std::abs(times.back() - T) <= 1e-9 * std::max(std::abs(T), std::abs(report.h));
  const bool passes = count > 1 && (times[depth - 2] - T) * (times.back() - T) < 0;
  for (std::size_t c = 0; c < item.row.size(); ++c) {
    double& result = item.result[c];
    const Samples& f = item.samples[c];
    push(item.samples[c], item.row[c]);
    if (reduction == Reduction::At) {
      if (!item.found && (hits || passes)) result = hits ? item.row[c] : interpolate(times, f, count, T);
    } else {
      const double sign = reduction == Reduction::FirstMaximum ? 1 : -1;
      if (std::isnan(result) && count >= 3 && sign * (f[2] - f[1]) > 0 && sign * (f[2] - f[3]) >= 0) result = vertex(distances, f);
    }
  }
  item.found = item.found || (reduction == Reduction::At && (hits || passes));
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
    } else if (definition.where && item.taken == 0) {
      list.push_back(label + "the condition '" + definition.where->text + "' never held");
    } else {
      list.push_back(label + (item.formula() ? "its formula '" + item.formula()->text + "' is not a number" : "it is not a number"));
    }
  }
  return list;
}

// ---- memory ----------------------------------------------------------------------------------------------------------------------------

void Outputs::save(Snapshot& snapshot) const {
  std::vector<double> common{double(impl->count), impl->initialEnergy,      impl->work, impl->lastPower, impl->contacts.dissipation,
                             impl->contacts.work, impl->contacts.projection};
  common.insert(common.end(), impl->times.begin(), impl->times.end());
  common.insert(common.end(), impl->distances.begin(), impl->distances.end());
  snapshot["outputs/path"] = common;
  snapshot["outputs/configuration"].assign(impl->previousQ.data(), impl->previousQ.data() + impl->previousQ.size());
  for (const Item& item : impl->items) {
    std::vector<double>& values = snapshot["outputs/of/" + item.definition.name];
    values = {double(item.found), double(item.held), double(item.taken)};
    for (const auto* part : {&item.initial, &item.row}) values.insert(values.end(), part->begin(), part->end());
    for (const Samples& samples : item.samples) values.insert(values.end(), samples.begin(), samples.end());
    values.insert(values.end(), item.result.begin(), item.result.end()); // the last, since it may grow
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
  impl->contacts.dissipation = *common++, impl->contacts.work = *common++, impl->contacts.projection = *common++;
  take(common, impl->times);
  take(common, impl->distances);
  const std::vector<double>& q = entry("outputs/configuration");
  impl->previousQ = Eigen::Map<const VectorX>(q.data(), Eigen::Index(q.size()));
  for (Item& item : impl->items) {
    const std::vector<double>& values = entry("outputs/of/" + item.definition.name);
    const std::size_t fixed = 3 + item.initial.size() + item.row.size() + depth * item.samples.size();
    if (item.grows() ? values.size() < fixed : values.size() != fixed + item.result.size()) {
      throw InputError("the checkpoint's output '" + item.definition.name + "' has another size");
    }
    auto from = values.begin();
    item.found = *from++ != 0;
    item.held = *from++ != 0;
    item.taken = long(*from++);
    take(from, item.initial);
    take(from, item.row);
    for (Samples& samples : item.samples) take(from, samples);
    item.result.assign(from, values.end());
  }
}

}
