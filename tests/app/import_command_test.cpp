// tendril import: what it prints, writes and refuses.
#include "app/program.h"

#include <filesystem>

using namespace tendril::testing;

namespace {

const std::string tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

}

using ImportCommand = Program;

TEST_F(ImportCommand, WritesASceneThatRunsWithItsMeshBeside) {
  writeAll(folder / "tip.obj", tetrahedron);
  const Answer answer = tendril({"import", "tip.obj", "--density", "600", "--duration", "0.1", "-o", "made.yaml"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("mass 100 kg"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("made.yaml: 1 bodies"), std::string::npos) << answer.out;
  EXPECT_TRUE(std::filesystem::exists(folder / "made-meshes" / "tip.obj"));
  ASSERT_EQ(tendril({"run", "made.yaml", "-o", "out", "--quiet"}).code, 0);
  EXPECT_NEAR(double(summary("out")["outputs"]["position"]["value"][2]), -9.81 * 0.01 / 2, 1e-6);
}

TEST_F(ImportCommand, WhatHasToBeAssumedIsAnErrorIfAllIsAskedFor) {
  writeAll(folder / "tip.obj", tetrahedron);
  const Answer answer = tendril({"import", "tip.obj", "--strict"});
  expectOneError(answer, 2, {"tip.obj", "1 things", "--strict"});
  EXPECT_NE(answer.out.find("lost  the density"), std::string::npos) << answer.out;
  EXPECT_FALSE(std::filesystem::exists(folder / "tip.yaml"));
  EXPECT_EQ(tendril({"import", "tip.obj", "--strict", "--density", "1"}).code, 0);
}

TEST_F(ImportCommand, ASceneThatIsThereStaysUnlessForced) {
  writeAll(folder / "tip.obj", tetrahedron);
  writeAll(folder / "tip.yaml", "mine");
  expectOneError(tendril({"import", "tip.obj"}), 2, {"tip.yaml", "--force"});
  EXPECT_EQ(readAll(folder / "tip.yaml"), "mine");
  EXPECT_EQ(tendril({"import", "tip.obj", "--force"}).code, 0);
  EXPECT_NE(readAll(folder / "tip.yaml"), "mine");
}

TEST_F(ImportCommand, RefusesWhatItCannotRead) {
  expectOneError(tendril({"import", "none.urdf"}), 2, {"none.urdf", "no such file"});
  writeAll(folder / "tip.obj", tetrahedron);
  expectOneError(tendril({"import", "tip.obj", "--unit", "kg"}), 2, {"--unit", "'kg'"});
}
