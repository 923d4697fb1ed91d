#pragma once
#include "dynamics/impulse_response.h"

#include <span>
#include <string>

namespace tendril {

/// Why the impulses of some contacts may not exist: a body is *wedged* between two contacts with what does not move by itself if the line
/// from one to the other lies within both cones of friction,
///
///     |d - (d . n) n| <= mu d . n,     d the direction of the line into the body.
///
/// Equal and opposite impulses along that line balance one another, however large they are; where the law asks for velocities against them
/// (restitution, walls that close in) no impulses need satisfy it. Two walls at a right angle wedge a ball from mu = 1 on.
///
/// In words, with the least friction at which the worst pair wedges; empty if nothing does. It costs a pass over the pairs of contacts of
/// each body, and is meant for messages of failure.
std::string describeWedge(std::span<const ContactBlock> contacts, const ContactDetection& detection);

}
