#include "module.h"

#include "tendril/contact/contact_constraints.h"

namespace tendril::python {

namespace {

/// What C++ asks of a constraint that lies in the list, Python asks by its number there: what it has of the list are copies.
const ContactConstraint& constraintOf(const ContactConstraints& self, int number) {
  const auto all = self.constraints();
  requireIndex("number", number, long(all.size()));
  return all[std::size_t(number)];
}

}

void defineContact(nb::module_&) {
  classOf<ContactConstraints>()
      .def(
          "gradient",
          [](nb::handle self, int number) {
            const ContactConstraints& contacts = nb::cast<const ContactConstraints&>(self);
            return listOf(self, give(contacts.gradient(constraintOf(contacts, number))));
          },
          nb::arg("number"),
          "The entries (block, B) of a constraint of constraints(): (normal, t, s) = sum of B v over the blocks + drift.")
      .def(
          "drift", [](const ContactConstraints& self, int number) { return self.drift(constraintOf(self, number)); }, nb::arg("number"),
          "Relative velocity (normal, t, s) that parts in prescribed motion add to a constraint of constraints().")
      .def(
          "describe", [](const ContactConstraints& self, int number) { return self.describe(constraintOf(self, number)); },
          nb::arg("number"), "A constraint of constraints() in words: \"beam 'a' at 0.31 m and beam 'b' at 0.29 m\".");
}

}
