#pragma once
#include "contact/shape_data.h"

/// One function per pair of families; a is of the lower family, and sits at the origin of the sink.
namespace tendril {

void sphereAndSolid(const PlacedShape& a, const PlacedShape& b, ContactSink& sink);
/// b is a hollow sphere or, in the plane, a hollow disc: gap = R - r - |d|, the normal points to its centre.
void solidInHollow(const PlacedShape& a, const PlacedShape& b, ContactSink& sink);
void capsuleAndCapsule(const PlacedShape& a, const PlacedShape& b, ContactSink& sink);
/// a is a capsule or a polyhedron, b a polyhedron.
void polyhedronAndPolyhedron(const PlacedShape& a, const PlacedShape& b, ContactSink& sink);
/// b, or both, have round surfaces.
void convexAndRound(const PlacedShape& a, const PlacedShape& b, ContactSink& sink);
void shapeAndHalfSpace(const PlacedShape& a, const PlacedShape& b, ContactSink& sink);
void convexAndMesh(const PlacedShape& a, const PlacedShape& b, ContactSink& sink);
void planeShapes(const PlacedShape& a, const PlacedShape& b, ContactSink& sink);

}
