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

TEST_F(CheckCommand, ResultsOfAnotherSceneAreRefusedAndOtherValuesTold) {
  ASSERT_EQ(tendril({"run", painleve, "-o", "out", "--quiet"}).code, 0);
  const Answer other = tendril({"check", painleve, "--set", "mu=1.2", "--along", "out"});
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_NE(other.out.find("here is set mu=1.2"), std::string::npos) << other.out;
  // One body each, so that sizes agree.
  expectOneError(tendril({"check", tendril::test::sourceFolder() + "/scenes/contact/rocking-block.yaml", "--along", "out"}), 2,
                 {"another scene, 'The sliding rod of Painleve'", "out/scene.yaml"});
}

TEST_F(CheckCommand, OverlapOfSurfacesIsSaid) {
  const Answer answer = tendril({"check", painleve, "--set", "bodies.rod.position=[0.447213595, 0.894427191 - 1e-3, 0]", "--set",
                                 "analysis.project_initial=false", "--set", "analysis.method=moreau"});
  EXPECT_NE((answer.out + answer.err).find("overlap"), std::string::npos) << answer.out << answer.err;
}

TEST_F(CheckCommand, ContactsAtRiskGiveWayWhereThatIsAskedFor) {
  const std::vector<std::string> run{"run",   painleve,
                                     "-o",    "out",
                                     "--set", "analysis.monitor=solvability",
                                     "--set", "analysis.on_loss=regularise",
                                     "--set", "analysis.duration=50*h"};
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> words = run;
    for (const char* value : more) words.insert(words.end(), {"--set", value});
    return tendril(words);
  };
  expectOneError(with({}), 2, {"compliance"});
  expectOneError(with({"analysis.compliance=-1e-8"}), 2, {"compliance", "positive"});
  expectOneError(with({"analysis.compliance=1e-8", "analysis.method=event-driven"}), 2, {"on_loss", "moreau"});
  expectOneError(tendril({"run", painleve, "-o", "out", "--set", "analysis.compliance=1e-8"}), 2, {"compliance", "monitor"});
  const Answer answer = with({"analysis.compliance=1e-8"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  const std::string log = readAll(folder / "out" / "log.txt");
  EXPECT_NE(log.find("no solution"), std::string::npos) << log;
  EXPECT_NE(log.find("'rod' and 'floor' give way along their tangents by 1e-08 m/N"), std::string::npos) << log;
}

TEST_F(CheckCommand, AWatchedRunStopsWhereForcesAreLost) {
  const std::vector<std::string> run{
      "run", painleve, "-o", "out", "--set", "analysis.monitor=solvability", "--set", "analysis.on_loss=stop"};
  expectOneError(tendril(run), 3, {"'rod' and 'floor'", "Painleve"});
}
