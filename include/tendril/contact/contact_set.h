#pragma once
#include "tendril/contact/line_contacts.h"

#include <memory>

namespace tendril {

/// All inequalities of a model: those of curves (LineContacts) and the points where rigid parts touch one another.
std::unique_ptr<ContactConstraints> makeContactConstraints(const Model& model, const ContactModel& parts,
                                                           const LineContactOptions& options);

}
