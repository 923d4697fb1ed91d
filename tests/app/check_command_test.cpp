// tendril check on what slides: bounds in words, the margin along a run, a run that is stopped.
#include "app/program.h"
#include "support/places.h"

#include <filesystem>
#include <fstream>

using namespace tendril::testing;

namespace {

const std::string painleve = tendril::test::sourceFolder() + "/scenes/contact/painleve-rod.yaml";

}

using CheckCommand = Program;

TEST_F(CheckCommand, SaysUpToWhichFrictionForcesAreUnique) {
  const Answer answer = tendril({"check", painleve, "--set", "mu=1.5"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  for (const char* part : {"exact 1.33333", "At risk: the contact of 'rod' and 'floor'", "no solution"})
    EXPECT_NE(answer.out.find(part), std::string::npos) << answer.out << "\nmissing: " << part;
}

TEST_F(CheckCommand, WritesTheMarginAlongARun) {
  ASSERT_EQ(tendril({"run", painleve, "--set", "mu=1.2", "--set", "analysis.duration=20*h", "-o", "out", "--quiet"}).code, 0);
  const Answer answer = tendril({"check", painleve, "--set", "mu=1.2", "--along", "out"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  std::ifstream table(folder / "out" / "solvability.csv");
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line, "time,contacts,margin,bound,unique,solutions,at_risk");
  int rows = 0;
  while (std::getline(table, line)) {
    ++rows;
    EXPECT_NE(line.find(",1,1.1111"), std::string::npos) << line; // one contact, 4/3 over 1.2
  }
  EXPECT_EQ(rows, 21);
}

TEST_F(CheckCommand, AWatchedRunStopsWhereForcesAreLost) {
  const std::vector<std::string> run{
      "run", painleve, "-o", "out", "--set", "analysis.monitor=solvability", "--set", "analysis.on_loss=stop"};
  expectOneError(tendril(run), 3, {"'rod' and 'floor'", "Painleve"});
}
