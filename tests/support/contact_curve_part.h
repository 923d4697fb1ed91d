#pragma once
#include "tendril/contact/contact_model.h"
#include "tendril/elements/mechanism.h"

namespace tendril::test {

/// The centreline of a beam as what touches.
inline ContactModel::Part curvePart(const BeamPart& beam, double radius) {
  ContactModel::Part part{.name = beam.name, .surface = "", .marker = nullptr, .shapes = {}, .curve = ContactCurve{radius, {}}};
  for (std::size_t e = 0; e + 1 < beam.nodes.size(); ++e) {
    part.curve->segments.push_back({{beam.nodes[e], beam.nodes[e + 1]}, beam.arclength[e + 1] - beam.arclength[e]});
  }
  return part;
}

}
