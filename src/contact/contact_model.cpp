#include "tendril/contact/contact_model.h"

#include "tendril/model/error.h"

#include <algorithm>

namespace tendril {

namespace {

constexpr const char* everything = "all";

/// How narrowly a word names a part: by its own name, by its surface, as one of all; 0 if not at all.
int precision(const std::string& word, const ContactModel::Part& part) {
  if (word == part.name) return 5;
  if (!part.surface.empty() && word == part.surface) return 2;
  return word == everything ? 1 : 0;
}

}

int ContactModel::addPart(Part part) {
  if (!part.marker) throw InputError("part '" + part.name + "' has no marker that carries it");
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

const ContactLaw* ContactModel::law(int first, int second) const {
  const Part &a = parts_[first], &b = parts_[second];
  for (const auto& [x, y] : excluded_) {
    if ((precision(x, a) && precision(y, b)) || (precision(x, b) && precision(y, a))) return nullptr;
  }
  const ContactLaw* found = nullptr;
  int best = 0;
  for (const PairLaw& law : laws_) {
    if (const int r = rank(law, a, b); r > 0 && r >= best) best = r, found = &law.law;
  }
  return found;
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
}

}
