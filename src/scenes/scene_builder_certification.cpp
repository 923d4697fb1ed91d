#include "scenes/scene_builder_class.h"
#include "scenes/scene_schema.h"
#include "tendril/scenes/certification.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tendril::scenes {

namespace {

Distribution readDistribution(const Record& r, const Dimension& of) {
  const std::string& kind = r.variant();
  if (kind == "values") {
    const VectorX values = r.node("values").toNumbers(-1, of);
    std::vector<double> weights;
    if (r.has("weights")) {
      const VectorX given = r.numbers("weights");
      weights.assign(given.data(), given.data() + given.size());
    }
    return Distribution::discrete({values.data(), values.data() + values.size()}, weights);
  }
  const VectorX range = r.node("range").toNumbers(2, of);
  if (kind == "normal")
    return Distribution::truncatedNormal(r.node("mean").toNumber(of), r.node("deviation").toNumber(of), range[0], range[1]);
  if (kind == "triangular") return Distribution::triangular(range[0], r.node("mode").toNumber(of), range[1]);
  if (kind == "beta") return Distribution::beta(r.number("a"), r.number("b"), range[0], range[1]);
  return Distribution::uniform(range[0], range[1]);
}

}

void SceneBuilder::readUncertainty(const Record& scene) {
  const std::vector<Record> inputs = scene.objects("uncertain");
  if (!scene.has("certify")) {
    if (!inputs.empty())
      inputs.front().node().refuse("nothing is asked of what is uncertain", "add `certify: {performance: OUTPUT, threshold: ...}`");
    return;
  }
  const Record r = scene.object("certify");
  if (inputs.empty()) r.node().refuse("nothing is uncertain", "add `uncertain: [{name: PARAMETER, range: [..., ...]}]`");
  certification_ = std::make_shared<CertificationOptions>();
  for (const Record& input : inputs) addUncertainInput(input);
  readPerformance(r);
  CertificateOptions& certificate = certification_->certificate;
  certificate.threshold = r.node("threshold").toNumber(certification_->miss ? dimension::length : dimension::none);
  certification_->where = r.node("threshold").location();
  certificate.samples = r.integer("samples");
  constexpr int most = 10'000'000;
  if (certificate.samples > most) r.node("samples").refuse("so many samples are not kept", "give up to 10000000");
  certificate.seed = std::uint64_t(r.integer("seed"));
  certificate.epsilon = r.number("epsilon");
  if (!(certificate.epsilon < 1)) r.node("epsilon").refuse("this is the probability that the samples mislead", "give a number below 1");
  if (r.has("mean")) {
    if (r.has("controls")) r.node("mean").refuse("the mean depends on the controls", "remove it, or `controls`");
    certificate.mean = r.node("mean").toNumber(certification_->miss ? dimension::length : dimension::none);
  }
  readDiameter(r);
}

/// An input is a value of the scene, or, with `on`, one force for each interval of a manoeuvre.
void SceneBuilder::addUncertainInput(const Record& r) {
  const std::string name = r.text("name");
  const bool isForce = r.has("on");
  if (isForce != r.has("force")) r.node().refuse("a force needs a place and a direction", "give both `on` and `force`, or neither");
  if (isForce && r.has("parameter")) r.node("parameter").refuse("this input is a force", "remove `parameter`, or `on` and `force`");
  if (isForce && !content_.isManoeuvre)
    r.node("on").refuse("forces that differ from interval to interval belong to optimal control",
                        "make a load whose force is a parameter, with `repeat` if there are many");
  for (const CertificationOptions::Input& other : certification_->inputs)
    if (other.name == name || other.name == name + "_1")
      r.node("name").refuse("two inputs are named '" + name + "'", "give each a name of its own");
  CertificationOptions::Input input{
      .name = name, .distribution = placed(r.node(), [&] { return readDistribution(r, isForce ? dimension::force : dimension::none); })};
  input.where = r.node().location(), input.key = r.node().path();
  if (r.has("slope")) input.slope = r.number("slope");
  if (!isForce) {
    input.path = r.has("parameter") ? r.text("parameter") : name;
    certification_->inputs.push_back(std::move(input));
    return;
  }
  input.on = &marker(r.node("on")), input.direction = direction(r, "force");
  for (int step = 1; step <= manoeuvre_.intervals; ++step) {
    certification_->inputs.push_back(input);
    certification_->inputs.back().name = name + "_" + std::to_string(step);
  }
}

void SceneBuilder::readPerformance(const Record& r) {
  if (r.has("performance") == r.has("miss")) r.node().refuse("say what must not be too large", "give either `performance` or `miss`");
  if (r.has("miss")) {
    const Record miss = r.object("miss");
    if (!content_.isManoeuvre)
      r.node("miss").refuse("it is that of a manoeuvre", "measure a distance by an output, and give `performance: OUTPUT`");
    if (manoeuvre_.beginIsFree || !manoeuvre_.contacts.empty())
      r.node("miss").refuse("forward runs know neither contacts nor a free beginning", "certify another scene");
    certification_->miss = &marker(miss.node("on")), certification_->place = miss.vector3("place");
  } else {
    if (content_.isManoeuvre)
      r.node("performance")
          .refuse("forward runs of a manoeuvre are judged by where a marker is at the end", "write `miss: {on: ..., place: [...]}`");
    certification_->output = r.text("performance");
  }
}

void SceneBuilder::readDiameter(const Record& r) {
  DiameterOptions& diameter = certification_->certificate.diameter;
  diameter.seed = certification_->certificate.seed;
  diameter.starts = r.integer("starts");
  for (const DiameterMethod method : {DiameterMethod::Gradient, DiameterMethod::Annealing, DiameterMethod::Bounds})
    if (r.choice("diameter") == nameOf(method)) diameter.method = method;
  if (diameter.method == DiameterMethod::Bounds) {
    diameter.slopes.resize(Eigen::Index(certification_->inputs.size()));
    for (Eigen::Index k = 0; k < diameter.slopes.size(); ++k) {
      const CertificationOptions::Input& input = certification_->inputs[std::size_t(k)];
      if (!input.slope)
        r.node("diameter").refuse("nothing bounds the slope of '" + input.name + "'", "give its `slope`, or write diameter: gradient");
      diameter.slopes[k] = *input.slope;
    }
  }
}

/// What a search for better controls may change: known once the actuators are.
void SceneBuilder::readBetterControls(const Record& r) {
  if (!r.has("controls")) return;
  const Record c = r.object("controls");
  CertificationOptions& o = *certification_;
  o.search = c.choice("search") == nameOf(ControlSearch::Annealing) ? ControlSearch::Annealing : ControlSearch::Gradient;
  o.control.rounds = c.integer("rounds"), o.control.gradient.maxEvaluations = c.integer("steps");
  o.control.annealing.maxEvaluations = c.integer("evaluations");
  o.control.gradientSamples = c.integer("samples");
  const std::vector<Record> parameters = c.objects("parameters");
  if (content_.isManoeuvre != parameters.empty())
    c.node().refuse(content_.isManoeuvre ? "the controls of a manoeuvre are those of its actuators" : "there are no controls",
                    content_.isManoeuvre ? "remove `parameters`" : "give `parameters: [{name: ..., range: [..., ...]}]`");
  for (const Record& parameter : parameters) {
    const VectorX range = parameter.numbers("range");
    if (!(range[0] < range[1])) parameter.node("range").refuse("the least value is not below the most", "exchange them");
    o.controls.push_back({parameter.text("name"), range[0], range[1]});
  }
  if (!content_.isManoeuvre) {
    for (const char* key : {"actuators", "least"})
      if (c.has(key)) c.node(key).refuse("this belongs to manoeuvres", "remove it: `parameters` have their ranges");
    return;
  }
  std::set<std::string> free;
  if (c.has("actuators")) {
    const std::vector<Node> names = c.node("actuators").isSequence() ? c.node("actuators").items() : std::vector<Node>{};
    if (names.empty()) c.node("actuators").refuse("expected names of actuators", "write [A, B], or remove `actuators`: all are free then");
    for (const Node& name : names) free.insert(controlName(name));
  }
  for (const Actuator& actuator : content_.manoeuvre->actuators) {
    const double least = c.has("least") ? c.node("least").toPositive(dimensionOf(actuator)) : 0;
    const bool isFree = free.empty() || free.contains(actuator.name);
    o.reaches.push_back(isFree ? CertificationOptions::Reach{c.number("neighbourhood"), least} : CertificationOptions::Reach{});
  }
}

void SceneBuilder::makeCertification(const Record& r) {
  if (certification_->miss && (content_.manoeuvre->durationBounds || content_.manoeuvre->refinements > 0))
    r.node("miss").refuse("forward runs have the intervals and the duration that the scene states",
                          "give the duration, and leave out `refine`");
  readBetterControls(r);
  const std::string& output = certification_->output;
  const auto& outputs = content_.outputs;
  if (!output.empty() && std::none_of(outputs.begin(), outputs.end(), [&](const OutputDefinition& o) { return o.name == output; })) {
    std::vector<std::string> names;
    for (const OutputDefinition& known : outputs) names.push_back(known.name);
    static_cast<void>(r.node("performance").toReference("output", names));
  }
  const std::shared_ptr<const CertificationOptions> options = certification_;
  content_.certification = options;
  content_.makeAnalysis = [forward = content_.makeAnalysis, options, text = document_.text(), file = document_.fileName(),
                           common = document_.overrides()](const Model& model, const ContactModel& contacts,
                                                           const FrictionObserver& observer) {
    const Certification::SceneMaker scenes = [source = DocumentSource::fromText(text, file),
                                              common](const std::vector<std::string>& overrides) {
      std::vector<std::string> all = common;
      all.insert(all.end(), overrides.begin(), overrides.end());
      return Scene::fromSource(source, all);
    };
    return std::make_unique<Certification>(forward(model, contacts, observer), *options, scenes);
  };
}

std::optional<MonitorQuantity> SceneBuilder::ofCertification(const Record& r) const {
  if (r.variant() != "certification") return {};
  if (!certification_) r.node("measure").refuse("the scene certifies nothing", "add `uncertain` and `certify`");
  static const std::map<std::string, MonitorQuantity> known{
      {"bound", {"", 1, "1", "probability of failure is at most this, by the sampled mean and its margin"}},
      {"exact mean bound", {"", 1, "1", "the same, as if the mean of the samples were exact"}},
      {"confidence", {"", 1, "1", "confidence factor, margin over diameter"}},
      {"diameter", {"", 1, "1", "diameter of the performance"}},
      {"diameters", {"", 1, "1", "largest change of the performance by each input alone"}},
      {"mean", {"", 1, "1", "mean of the performance over the samples"}},
      {"deviation", {"", 1, "1", "standard deviation of the performance over the samples"}},
      {"margin", {"", 1, "1", "margin alpha of the sampled mean"}},
      {"failures", {"", 1, "1", "share of the samples that fail"}},
      {"failure interval", {"", 2, "1", "confidence interval of the probability of failure, by Clopper and Pearson"}},
      {"hoeffding bound", {"", 1, "1", "bound of the probability of failure by Hoeffding"}},
      {"quantile", {"", 3, "1", "quantile of the performance, and its confidence interval"}},
      {"undefined", {"", 1, "1", "samples in which the performance does not exist"}},
      {"certified", {"", 1, "1", "1 where the diameter is an upper bound, 0 where it is an estimate"}},
      {"runs", {"", 1, "1", "forward runs"}},
      {"gradients", {"", 1, "1", "runs of which the gradient was taken, too"}}};
  const std::string what = r.choice("quantity");
  MonitorQuantity quantity = known.at(what);
  const bool isWhole = what == "runs" || what == "gradients";
  const bool isPerformance =
      what == "diameter" || what == "diameters" || what == "mean" || what == "deviation" || what == "margin" || what == "quantile";
  if (isPerformance && certification_->miss) quantity.unit = "m";
  if (what == "diameters") quantity.columns = int(certification_->inputs.size());
  if (r.has("share") != (what == "quantile"))
    r.node().refuse("a share belongs to a quantile", "give `share` with quantity: quantile alone");
  if (r.has("share") && !(r.number("share") > 0 && r.number("share") < 1))
    r.node("share").refuse("it lies between 0 and 1", "give such a number");
  quantity.name = "certification " + what + (what == "quantile" ? fmt::format(" {}", r.number("share")) : "") +
                  (isWhole ? "" : " " + r.choice("controls"));
  return quantity;
}

}
