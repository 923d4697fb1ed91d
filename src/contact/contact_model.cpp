#include "tendril/contact/contact_model.h"

#include "tendril/model/error.h"
#include "tendril/model/marker.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace tendril {

namespace {

constexpr const char* everything = "all";

/// How narrowly a word names a part: by its own name, by its surface, as one of all; 0 if not at all.
int precision(const std::string& word, const ContactModel::Part& part) {
  if (word == part.name) return 5;
  if (!part.surface.empty() && word == part.surface) return 2;
  return word == everything ? 1 : 0;
}

/// Curves always move.
bool isFixed(const ContactModel::Part& part) { return !part.curve && part.marker->blocks().empty(); }

void refuseUnusable(const ContactCurve& curve, const std::string& name) {
  if (!(curve.radius > 0) || !std::isfinite(curve.radius)) {
    throw InputError("the curve '" + name + "' cannot touch with a radius of " + std::to_string(curve.radius) +
                     " m; give it a positive one");
  }
  if (curve.segments.empty()) throw InputError("the curve '" + name + "' has no segments and so cannot touch anything");
}

}

int ContactModel::addPart(Part part) {
  if (part.curve) refuseUnusable(*part.curve, part.name);
  if (!part.curve && !part.marker) throw InputError("part '" + part.name + "' has no marker that carries it");
  const auto [entry, isNew] = partOfName_.try_emplace(part.name, int(parts_.size()));
  if (!isNew) throw InputError("two parts are named '" + part.name + "'; give each a name of its own");
  parts_.push_back(std::move(part));
  return entry->second;
}

void ContactModel::addLaw(PairLaw law) {
  law.law.check("contact of '" + law.first + "' and '" + law.second + "'");
  laws_.push_back(std::move(law));
}

void ContactModel::exclude(const std::string& first, const std::string& second) { excluded_.emplace_back(first, second); }

int ContactModel::find(const std::string& part) const {
  const auto found = partOfName_.find(part);
  return found == partOfName_.end() ? -1 : found->second;
}

/// The larger, the narrower the law names the two parts; 0 if it does not.
int ContactModel::rank(const PairLaw& law, const Part& first, const Part& second) const {
  const auto both = [&](const Part& a, const Part& b) {
    const int x = precision(law.first, a), y = precision(law.second, b);
    return x > 0 && y > 0 ? x + y : 0;
  };
  return std::max(both(first, second), both(second, first));
}

bool ContactModel::isExcluded(const Part& first, const Part& second) const {
  return std::any_of(excluded_.begin(), excluded_.end(), [&](const auto& pair) {
    const auto& [x, y] = pair;
    return (precision(x, first) && precision(y, second)) || (precision(x, second) && precision(y, first));
  });
}

const ContactLaw* ContactModel::law(int first, int second) const {
  const Part &a = parts_[first], &b = parts_[second];
  if (isExcluded(a, b)) return nullptr;
  const ContactLaw* found = nullptr;
  int best = 0;
  for (const PairLaw& law : laws_) {
    if (const int r = rank(law, a, b); r > best) best = r, found = &law.law;
  }
  return found;
}

/// Laws see of a part its name, if they use it, its surface and whether it moves: of those that are alike in all this two are enough.
std::vector<int> ContactModel::distinctParts() const {
  std::set<std::string> words;
  for (const PairLaw& law : laws_) words.insert({law.first, law.second});
  for (const auto& [first, second] : excluded_) words.insert({first, second});
  std::map<std::tuple<std::string, std::string, bool>, int> seen;
  std::vector<int> distinct;
  for (int i = 0; i < int(parts_.size()); ++i) {
    const Part& part = parts_[std::size_t(i)];
    if (part.shapes.empty() && !part.curve) continue;
    const std::string name = words.contains(part.name) ? part.name : "", surface = words.contains(part.surface) ? part.surface : "";
    if (++seen[{name, surface, isFixed(part)}] <= 2) distinct.push_back(i);
  }
  return distinct;
}

std::optional<ContactModel::Conflict> ContactModel::findConflict(int first, int second) const {
  const Part &a = parts_[std::size_t(first)], &b = parts_[std::size_t(second)];
  if ((isFixed(a) && isFixed(b)) || isExcluded(a, b)) return std::nullopt;
  std::optional<Conflict> conflict;
  int best = 0, holder = -1;
  for (int k = 0; k < int(laws_.size()); ++k) {
    const int r = rank(laws_[std::size_t(k)], a, b);
    if (r > best) {
      best = r, holder = k;
      conflict.reset();
    } else if (r > 0 && r == best && !conflict && !(laws_[std::size_t(k)].law == laws_[std::size_t(holder)].law)) {
      conflict = {holder, k, first, second};
    }
  }
  return conflict;
}

std::optional<ContactModel::Conflict> ContactModel::findConflict() const {
  if (laws_.size() < 2) return std::nullopt;
  const std::vector<int> parts = distinctParts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = parts_[std::size_t(parts[i])].curve ? i : i + 1; j < parts.size(); ++j) { // curves touch themselves, too
      if (const auto conflict = findConflict(parts[i], parts[j])) return conflict;
    }
  }
  return std::nullopt;
}

std::string ContactModel::describe(const Conflict& c) const {
  const auto words = [&](int k) { return "[" + laws_[std::size_t(k)].first + ", " + laws_[std::size_t(k)].second + "]"; };
  return "two laws that differ name the pair of '" + parts_[std::size_t(c.firstPart)].name + "' and '" +
         parts_[std::size_t(c.secondPart)].name + "' equally narrowly: " + words(c.firstLaw) + " and " + words(c.secondLaw);
}

std::string ContactModel::remedy(const Conflict& c) const {
  const PairLaw &a = laws_[std::size_t(c.firstLaw)], &b = laws_[std::size_t(c.secondLaw)];
  const bool isSame = (a.first == b.first && a.second == b.second) || (a.first == b.second && a.second == b.first);
  if (isSame) return "remove one of them";
  return "give the pair [" + parts_[std::size_t(c.firstPart)].name + ", " + parts_[std::size_t(c.secondPart)].name +
         "] a law of its own, exclude it, or let one of the two name it more narrowly";
}

bool ContactModel::isNamed(const std::string& part) const {
  return std::any_of(laws_.begin(), laws_.end(), [&](const PairLaw& law) { return law.first == part || law.second == part; }) ||
         std::any_of(excluded_.begin(), excluded_.end(), [&](const auto& pair) { return pair.first == part || pair.second == part; });
}

void ContactModel::check() const {
  const auto isKnown = [this](const std::string& word) {
    return word == everything || find(word) >= 0 ||
           std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.surface == word; });
  };
  const auto refuse = [this](const std::string& word) {
    std::string known = everything;
    int listed = 0;
    for (const Part& part : parts_) {
      if (++listed > 20) break;
      known += ", " + part.name;
    }
    throw InputError("contact: there is no part or surface named '" + word + "'; known are " + known + (listed > 20 ? ", ..." : ""));
  };
  for (const PairLaw& law : laws_) {
    for (const std::string& word : {law.first, law.second}) {
      if (!isKnown(word)) refuse(word);
    }
  }
  for (const auto& [first, second] : excluded_) {
    for (const std::string& word : {first, second}) {
      if (!isKnown(word)) refuse(word);
    }
  }
  if (const auto conflict = findConflict()) throw InputError("contact: " + describe(*conflict) + "; " + remedy(*conflict));
}

}
