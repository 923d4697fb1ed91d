#include "app/program.h"
#include "support/places.h"
#include "tendril/scenes/friction_methods.h"

#include <cmath>

namespace tendril {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using Json = nlohmann::json;

std::string data(const std::string& name) { return test::sourceFolder() + "/tests/data/fc3d/" + name; }

class ContactCommand : public Program {
 protected:
  Json json(std::vector<std::string> arguments, int code = 0) {
    arguments.insert(arguments.begin(), "contact");
    arguments.push_back("--json");
    const Answer answer = tendril(arguments);
    EXPECT_EQ(answer.code, code) << answer.err;
    return Json::parse(answer.out);
  }
};

TEST_F(ContactCommand, SolvesAFileAndSaysHow) {
  const Answer answer = tendril({"contact", data("Box_Stacks-i0122-82-5.hdf5")});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.err, "");
  for (const char* part : {"Box_stacks", "82 contacts, 246 rows", "175 of 246 rows, ratio 1.406", "0.547", "450 velocities",
                           "automatic:", "sweeps", "as published", "scaled", "time", "solved"}) {
    EXPECT_NE(answer.out.find(part), std::string::npos) << answer.out << "\nmissing: " << part;
  }
}

TEST_F(ContactCommand, JsonHoldsWhatIsPrinted) {
  const Json one = json({data("Rover1040.dat")})[0];
  EXPECT_EQ(one["contacts"], 5);
  EXPECT_EQ(one["rows"], 15);
  EXPECT_EQ(one["rank"], 14);
  EXPECT_TRUE(one["velocities"].is_null());
  EXPECT_NEAR(one["contact_density"].get<double>(), 15.0 / 14, 1e-12);
  EXPECT_TRUE(one["converged"].get<bool>());
  EXPECT_LE(one["residual"]["published"].get<double>(), 1e-8);
  EXPECT_LE(one["residual"]["scaled"].get<double>(), 1e-8);
  EXPECT_EQ(one["impulses"].size(), 15u);
  EXPECT_GT(one["seconds"].get<double>(), 0);
}

TEST_F(ContactCommand, SeveralFilesGiveATable) {
  const Answer answer = tendril({"contact", data("Rover1039.dat"), data("Rover1040.dat"), data("FC3D_Example1.dat")});
  EXPECT_EQ(answer.code, 0) << answer.err;
  for (const char* part : {"contacts", "density", "Rover1039.dat", "Rover1040.dat", "FC3D_Example1.dat"})
    EXPECT_NE(answer.out.find(part), std::string::npos) << answer.out;
  writeAll(folder / "bad.dat", "nonsense");
  const Answer mixed = tendril({"contact", data("Rover1039.dat"), "bad.dat"});
  expectOneError(mixed, 2, {"bad.dat", "nonsense"});
  EXPECT_NE(mixed.out.find("Rover1039.dat"), std::string::npos);
}

TEST_F(ContactCommand, SolvesToTheToleranceAskedFor) {
  for (const char* tolerance : {"1e-4", "1e-10"}) {
    const Json one = json({data("Confeti-ex13-Fc3D-SBM.dat"), "--tol", tolerance})[0];
    EXPECT_LE(one["residual"]["published"].get<double>(), std::stod(tolerance));
  }
}

TEST_F(ContactCommand, WithoutConvergenceTheBestImpulsesAreKept) {
  const Answer answer = tendril(
      {"contact", data("KaplasTower-i1061-4.hdf5.dat"), "--solver", "gauss-seidel", "--max-iterations", "2", "--write", "best.hdf5"});
  EXPECT_EQ(answer.code, 3) << answer.err;
  EXPECT_NE(answer.out.find("not converged"), std::string::npos) << answer.out;
  ASSERT_TRUE(fs::exists(folder / "best.hdf5"));
  EXPECT_EQ(json({"best.hdf5"})[0]["contacts"], 570);
}

TEST_F(ContactCommand, WritesAndConverts) {
  const std::string source = data("Box_Stacks-i0122-82-5.hdf5");
  EXPECT_EQ(tendril({"contact", source, "-o", "copy.dat"}).code, 0);
  EXPECT_EQ(tendril({"contact", source, "-o", "local.hdf5", "--format", "local"}).code, 0);
  EXPECT_EQ(tendril({"contact", source, "--write", "solved.hdf5"}).code, 0);
  for (const char* name : {"copy.dat", "local.hdf5", "solved.hdf5"}) {
    const Json one = json({name})[0];
    EXPECT_EQ(one["contacts"], 82) << name;
    EXPECT_EQ(one["rank"], 175) << name;
    EXPECT_EQ(one["velocities"].is_null(), std::string(name) != "solved.hdf5");
  }
}

TEST_F(ContactCommand, ReplacesAFileOnlyIfAsked) {
  writeAll(folder / "mine.hdf5", "precious");
  for (const char* option : {"-o", "--write"}) {
    expectOneError(tendril({"contact", data("Rover1039.dat"), option, "mine.hdf5"}), 2, {"mine.hdf5", "exists"});
    EXPECT_EQ(readAll(folder / "mine.hdf5"), "precious");
  }
  EXPECT_EQ(tendril({"contact", data("Rover1039.dat"), "-o", "mine.hdf5", "--force"}).code, 0);
  EXPECT_EQ(json({"mine.hdf5"})[0]["contacts"], 4);
}

TEST_F(ContactCommand, FrictionlessSolversAgree) {
  writeAll(folder / "smooth.dat",
           "3 2 0 6 6 6 6\n2 0 0 1 0 0\n0 2 0 0 0 0\n0 0 2 0 0 0\n1 0 0 2 0 0\n0 0 0 0 2 0\n0 0 0 0 0 2\n-1 3 0 -2 0 1\n0 0\n");
  for (const char* solver : {"lemke", "active-set", "automatic"}) {
    const Json one = json({"smooth.dat", "--solver", solver})[0];
    EXPECT_NEAR(one["impulses"][0].get<double>(), 0, 1e-8) << solver;
    EXPECT_NEAR(one["impulses"][3].get<double>(), 1, 1e-8) << solver;
  }
  expectOneError(tendril({"contact", data("Rover1039.dat"), "--solver", "lemke"}), 2, {"Rover1039.dat", "friction"});
}

TEST_F(ContactCommand, SolversHaveTheNamesOfScenes) {
  for (const FrictionMethodName& known : frictionMethodNames) {
    for (const std::string word : {known.name, known.alias}) {
      if (word.empty()) continue;
      EXPECT_EQ(json({data("Rover1039.dat"), "--solver", word})[0]["solver"], known.name) << word;
    }
  }
}

TEST_F(ContactCommand, WarnsOfAmbiguousContacts) {
  // A rod sliding on its tip, tan(theta) = 2, mu = 1.5: the normal velocity rises when the rod is pressed down (Painleve).
  writeAll(folder / "rod.dat", "2 1 0 2 2 2 2\n1.6 -1.2\n-1.2 3.4\n-1e-5 -1\n1.5\n");
  const Answer answer = tendril({"contact", "rod.dat"});
  EXPECT_NE(answer.out.find("warning"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("Painleve"), std::string::npos) << answer.out;
  writeAll(folder / "tame.dat", "2 1 0 2 2 2 2\n1.6 -1.2\n-1.2 3.4\n-1e-5 -1\n1.2\n");
  EXPECT_EQ(tendril({"contact", "tame.dat"}).out.find("warning"), std::string::npos);
}

TEST_F(ContactCommand, RefusesBadInput) {
  expectOneError(tendril({"contact", "missing.dat"}), 2, {"missing.dat"});
  writeAll(folder / "cut.hdf5", readAll(data("Box_Stacks-i0122-82-5.hdf5")).substr(0, 20000));
  expectOneError(tendril({"contact", "cut.hdf5"}), 2, {"cut.hdf5", "truncated"});
  writeAll(folder / "empty.dat", "");
  expectOneError(tendril({"contact", "empty.dat"}), 2, {"empty.dat", "empty"});
  writeAll(folder / "indefinite.dat", "3 1 0 3 3 3 3\n1 0 0 0 -1 0 0 0 1\n-1 0 0\n0.5\n");
  expectOneError(tendril({"contact", "indefinite.dat", "-o", "out.hdf5"}), 2, {"indefinite.dat"});
  EXPECT_FALSE(fs::exists(folder / "out.hdf5"));
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--tol", "-1"}, {"--tol", "nan"}, {"--threads", "0"}, {"--solver", "magic"}}) {
    std::vector<std::string> arguments{"contact", data("Rover1039.dat")};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    expectOneError(tendril(arguments), 2, {wrong[0].c_str()});
  }
}

}
}
