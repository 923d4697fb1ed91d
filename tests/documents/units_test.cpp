#include "support/files.h"
#include "tendril/documents/nearest_name.h"
#include "tendril/documents/units.h"

#include <cmath>
#include <numbers>

using namespace tendril;
using tendril::testing::expectError;

TEST(Units, ConvertToCoherentSi) {
  EXPECT_EQ(parseUnit("mm").factor, 1e-3);
  EXPECT_EQ(parseUnit("GPa").factor, 1e9);
  EXPECT_EQ(parseUnit("kg").factor, 1.0);
  EXPECT_EQ(parseUnit("mg").factor, 1e-6);
  EXPECT_EQ(parseUnit("t").factor, 1e3);
  EXPECT_EQ(parseUnit("min").factor, 60);
  EXPECT_EQ(parseUnit("ms").factor, 1e-3);
  EXPECT_EQ(parseUnit("\u00b5m").factor, 1e-6);
  EXPECT_DOUBLE_EQ(parseUnit("deg").factor, std::numbers::pi / 180);
  EXPECT_DOUBLE_EQ(parseUnit("N/mm^2").factor, 1e6);
  EXPECT_DOUBLE_EQ(parseUnit("g/cm^3").factor, 1e3);
  EXPECT_DOUBLE_EQ(parseUnit("t/mm^3").factor, 1e12);
  EXPECT_DOUBLE_EQ(parseUnit("km/h").factor, 1 / 3.6);
}

TEST(Units, CarryTheirDimension) {
  EXPECT_EQ(parseUnit("kg/m^3").dimension, dimension::density);
  EXPECT_EQ(parseUnit("N m").dimension, dimension::moment);
  EXPECT_EQ(parseUnit("N*m").dimension, dimension::energy);
  EXPECT_EQ(parseUnit("kN m^2").dimension, dimension::bendingRigidity);
  EXPECT_EQ(parseUnit("m/s/s").dimension, dimension::acceleration);
  EXPECT_EQ(parseUnit("m s^-2").dimension, dimension::acceleration);
  EXPECT_EQ(parseUnit("1/s").dimension, dimension::frequency);
  EXPECT_EQ(parseUnit("rpm").dimension, dimension::angularVelocity);
}

TEST(Units, AnglesAreOptionalInsideCompoundUnitsOnly) {
  EXPECT_TRUE(compatible(dimension::moment, dimension::torsionalStiffness));
  EXPECT_TRUE(compatible(dimension::frequency, dimension::angularVelocity));
  EXPECT_FALSE(compatible(dimension::angle, dimension::none));
  EXPECT_FALSE(compatible(dimension::none, dimension::angle));
  EXPECT_FALSE(compatible(dimension::force, dimension::moment));
}

TEST(Units, NamesReadBackAsTheSameDimension) {
  for (const Dimension& d :
       {dimension::length, dimension::density, dimension::force, dimension::moment, dimension::pressure, dimension::power,
        dimension::inertia, dimension::angularVelocity, dimension::bendingRigidity, dimension::curvature, dimension::angle,
        dimension::acceleration, dimension::damping, dimension::torsionalStiffness, dimension::lineDensity}) {
    EXPECT_EQ(parseUnit(siUnit(d)).dimension, d) << siUnit(d);
    EXPECT_EQ(parseUnit(siUnit(d)).factor, 1) << siUnit(d);
  }
  EXPECT_EQ(siUnit(dimension::none), "1");
}

TEST(Units, RefuseWhatTheyCannotRead) {
  expectError<Error>([] { parseUnit("furlong"); }, {"unknown unit 'furlong'"});
  expectError<Error>([] { parseUnit("kNn"); }, {"unknown unit 'kNn'", "did you mean 'kN'"});
  expectError<Error>([] { parseUnit("kdeg"); }, {"unknown unit 'kdeg'"});
  expectError<Error>([] { parseUnit("N/"); }, {"incomplete"});
  expectError<Error>([] { parseUnit("N//m"); }, {"misplaced '/'"});
  expectError<Error>([] { parseUnit("^2"); }, {"misplaced '^'"});
  expectError<Error>([] { parseUnit("m^x"); }, {"power"});
  expectError<Error>([] { parseUnit("m^999"); }, {"power"});
  expectError<Error>([] { parseUnit(""); }, {"incomplete"});
}

TEST(NearestName, CountsEditsAndPrefersTheClosest) {
  EXPECT_EQ(editDistance("radius", "raduis"), 1);
  EXPECT_EQ(editDistance("kitten", "sitting"), 3);
  EXPECT_EQ(editDistance("", "abc"), 3);
  EXPECT_EQ(editDistance("Length", "length"), 0);
  const std::vector<std::string> names{"elements", "element_order", "radius", "E"};
  EXPECT_EQ(nearestName("elemnts", names), "elements");
  EXPECT_EQ(nearestName("zzz", names), "");
  EXPECT_EQ(nearestName("q", names), "");
  EXPECT_EQ(adviceForName("zzz", names), "use one of elements, element_order, radius, E");
}
