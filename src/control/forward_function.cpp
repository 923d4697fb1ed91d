#include "tendril/control/forward_function.h"

#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>

namespace tendril {

struct ForwardFunction::Impl {
  /// A case, ready to run.
  struct Prepared {
    Prepared(ForwardCase given_, const ForwardOptions& options) : given(std::move(given_)), path(*given.model, given.actuators, options) {}
    ForwardCase given;
    ForwardPath path;
  };

  /// Cases that were asked for lately: who varies controls, or looks at the same few values again and again, pays for no models.
  struct Kept {
    VectorX at;
    std::unique_ptr<Prepared> prepared;
  };
  static constexpr std::size_t most = 64;

  Prepared& prepare(const VectorX& at);
  void update(const VectorX& at);
  ForwardPath& run(const VectorX& x);
  double augmented(const VectorX& at);
  double slope(int parameter, double reach);

  ForwardFamily family;
  ForwardOptions options;
  VectorX scale, parameters, errors;
  std::list<Kept> kept; ///< the latest first
  Prepared* present = nullptr;
  int controls = 0;
};

ForwardFunction::Impl::Prepared& ForwardFunction::Impl::prepare(const VectorX& at) {
  const auto found = std::find_if(kept.begin(), kept.end(), [&](const Kept& one) { return one.at == at; });
  if (found != kept.end()) {
    kept.splice(kept.begin(), kept, found);
    return *kept.front().prepared;
  }
  ForwardCase given = family(at);
  if (!given.model) throw InputError("forward function: the family gives no model");
  kept.push_front({at, std::make_unique<Prepared>(std::move(given), options)});
  if (kept.size() > most) kept.pop_back();
  return *kept.front().prepared;
}

void ForwardFunction::Impl::update(const VectorX& at) {
  if (parameters == at) return;
  Prepared& found = prepare(at);
  if (found.path.actuators() != controls) {
    throw InputError(
        fmt::format("forward function: there are {} actuators with some parameters and {} with others", controls, found.path.actuators()));
  }
  present = &found, parameters = at;
}

double ForwardFunction::Impl::augmented(const VectorX& at) {
  Prepared& other = prepare(at);
  return present->path.augmented(other.path, other.given.function);
}

/// Central difference of the augmented function.
double ForwardFunction::Impl::slope(int parameter, double reach) {
  VectorX above = parameters, below = parameters;
  above[parameter] += reach, below[parameter] -= reach;
  return (augmented(above) - augmented(below)) / (above[parameter] - below[parameter]);
}

ForwardFunction::ForwardFunction(ForwardFamily family, const ForwardOptions& options, const VectorX& parameters)
    : impl_(std::make_unique<Impl>()) {
  if (!parameters.allFinite()) throw InputError("forward function: parameters must be finite");
  impl_->family = std::move(family), impl_->options = options;
  impl_->scale = parameters.unaryExpr([](double value) { return value != 0 ? std::abs(value) : 1.0; });
  impl_->errors.setZero(parameters.size());
  impl_->present = &impl_->prepare(parameters);
  impl_->parameters = parameters;
  impl_->controls = impl_->present->path.actuators();
}

ForwardFunction::~ForwardFunction() = default;

int ForwardFunction::parameters() const { return int(impl_->scale.size()); }
int ForwardFunction::controls() const { return impl_->controls; }
int ForwardFunction::size() const { return parameters() + controls() * impl_->options.steps; }
const VectorX& ForwardFunction::errors() const { return impl_->errors; }
const ForwardPath& ForwardFunction::path() const { return impl_->present->path; }

ForwardPath& ForwardFunction::Impl::run(const VectorX& x) {
  const Eigen::Index first = scale.size(), size = first + controls * options.steps;
  if (x.size() != size) throw InputError(fmt::format("forward function: it has {} inputs, not {}", size, x.size()));
  if (!x.allFinite()) throw InputError("forward function: inputs must be finite");
  update(x.head(first));
  present->path.run(Eigen::Map<const MatrixX>(x.data() + first, controls, options.steps));
  return present->path;
}

VectorX ForwardFunction::numbers(const VectorX& x, MatrixX& slopes) {
  ForwardPath& path = impl_->run(x);
  const std::vector<PathFunction::Value>& values = impl_->present->given.function.values;
  VectorX y(Eigen::Index(values.size()));
  slopes.setZero(y.size(), size());
  for (Eigen::Index k = 0; k < y.size(); ++k) {
    const auto& [row, node, other] = values[std::size_t(k)];
    const ForwardPath::Gradient& found = path.differentiate(valueOf(row, node, other));
    y[k] = found.value;
    slopes.row(k).tail(found.controls.size()) = found.controls.reshaped().transpose();
  }
  return y;
}

double ForwardFunction::operator()(const VectorX& x, VectorX* gradient, bool byParameters) {
  Impl& i = *impl_;
  ForwardPath& path = i.run(x);
  if (!gradient) return path.value(i.present->given.function);

  const ForwardPath::Gradient& found = path.differentiate(i.present->given.function);
  gradient->resize(size());
  gradient->tail(found.controls.size()) = found.controls.reshaped();
  if (!byParameters) {
    gradient->head(parameters()).setZero();
    return found.value;
  }
  for (int k = 0; k < parameters(); ++k) {
    i.prepare(i.parameters); // remains the latest but for the four beside it
    const double reach = i.scale[k] / 256, coarse = i.slope(k, reach), fine = i.slope(k, reach / 2);
    (*gradient)[k] = fine + (fine - coarse) / 3;
    i.errors[k] = std::abs(fine - coarse) / 3;
  }
  return found.value;
}

}
