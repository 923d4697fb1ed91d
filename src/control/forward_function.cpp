#include "tendril/control/forward_function.h"

#include "tendril/model/error.h"

#include <cmath>
#include <fmt/format.h>

namespace tendril {

struct ForwardFunction::Impl {
  /// A case, ready to run.
  struct Prepared {
    Prepared(ForwardCase given_, const ForwardOptions& options) : given(std::move(given_)), path(*given.model, given.actuators, options) {}
    ForwardCase given;
    ForwardPath path;
  };

  Prepared prepare(const VectorX& at) const;
  void update(const VectorX& at);
  double augmented(const VectorX& at);
  double slope(int parameter, double reach);

  ForwardFamily family;
  ForwardOptions options;
  VectorX scale, parameters, errors;
  std::optional<Prepared> present;
  int controls = 0;
};

ForwardFunction::Impl::Prepared ForwardFunction::Impl::prepare(const VectorX& at) const {
  ForwardCase given = family(at);
  if (!given.model) throw InputError("forward function: the family gives no model");
  return {std::move(given), options};
}

void ForwardFunction::Impl::update(const VectorX& at) {
  if (parameters == at) return;
  Prepared next = prepare(at);
  if (const int now = next.path.actuators(); now != controls)
    throw InputError(fmt::format("forward function: there are {} actuators with some parameters and {} with others", controls, now));
  present.emplace(std::move(next));
  parameters = at;
}

double ForwardFunction::Impl::augmented(const VectorX& at) {
  Prepared other = prepare(at);
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
  impl_->present.emplace(impl_->prepare(parameters));
  impl_->parameters = parameters;
  impl_->controls = impl_->present->path.actuators();
}

ForwardFunction::~ForwardFunction() = default;

int ForwardFunction::parameters() const { return int(impl_->scale.size()); }
int ForwardFunction::controls() const { return impl_->controls; }
int ForwardFunction::size() const { return parameters() + controls() * impl_->options.steps; }
const VectorX& ForwardFunction::errors() const { return impl_->errors; }
const ForwardPath& ForwardFunction::path() const { return impl_->present->path; }

double ForwardFunction::operator()(const VectorX& x, VectorX* gradient) {
  Impl& i = *impl_;
  if (x.size() != size()) throw InputError(fmt::format("forward function: it has {} inputs, not {}", size(), x.size()));
  if (!x.allFinite()) throw InputError("forward function: inputs must be finite");
  i.update(x.head(parameters()));
  ForwardPath& path = i.present->path;
  path.run(Eigen::Map<const MatrixX>(x.data() + parameters(), controls(), i.options.steps));
  if (!gradient) return path.value(i.present->given.function);

  const ForwardPath::Gradient& found = path.differentiate(i.present->given.function);
  gradient->resize(size());
  gradient->tail(found.controls.size()) = found.controls.reshaped();
  for (int k = 0; k < parameters(); ++k) {
    const double reach = i.scale[k] / 256, coarse = i.slope(k, reach), fine = i.slope(k, reach / 2);
    (*gradient)[k] = fine + (fine - coarse) / 3;
    i.errors[k] = std::abs(fine - coarse) / 3;
  }
  return found.value;
}

}
