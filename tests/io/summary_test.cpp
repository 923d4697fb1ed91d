#include "support/files.h"
#include "tendril/io/summary.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <limits>
#include <sys/resource.h>
#include <vector>

using namespace tendril;
using tendril::testing::expectError;
using tendril::testing::TemporaryFolder;

TEST(Summary, HoldsWhatTheRunDid) {
  Summary summary;
  summary.scene = "scene.yaml";
  summary.parameters["h"] = 0.001;
  summary.choices["model"] = "SR";
  summary.output("ratio", 0.1 + 0.2, "1");
  summary.output("tip", std::vector<double>{1, 2, 3}, "m", "Position of the tip.");
  summary.output("impact_times", std::vector<double>{0.5}, "s");
  summary.output("none", std::vector<double>{}, "s");
  summary.output("bad", std::numeric_limits<double>::quiet_NaN(), "m");
  summary.steps = 12;
  summary.newton = {40, 3.3, 6};
  summary.energy["initial"] = 2.5;
  summary.time["total"] = 1.5;
  summary.versions["tendril"] = "0.1.0";
  summary.messages.push_back("broken text \xff");
  const TemporaryFolder folder;
  summary.write(folder / "summary.json");
  const nlohmann::json json = nlohmann::json::parse(tendril::testing::readAll(folder / "summary.json"));
  EXPECT_EQ(json["status"], "success");
  EXPECT_EQ(json["parameters"]["h"].get<double>(), 0.001);
  EXPECT_EQ(json["parameters"]["model"], "SR");
  EXPECT_EQ(json["outputs"]["ratio"]["value"].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(json["outputs"]["tip"]["value"], nlohmann::json::array({1.0, 2.0, 3.0}));
  EXPECT_EQ(json["outputs"]["tip"]["unit"], "m");
  EXPECT_EQ(json["outputs"]["tip"]["description"], "Position of the tip.");
  EXPECT_TRUE(json["outputs"]["impact_times"]["value"].is_array());
  EXPECT_TRUE(json["outputs"]["none"]["value"].is_array());
  EXPECT_TRUE(json["outputs"]["bad"]["value"].is_null());
  EXPECT_EQ(json["steps"], 12);
  EXPECT_EQ(json["newton"]["iterations"], 40);
  EXPECT_EQ(json["energy"]["initial"], 2.5);
  EXPECT_EQ(json["time"]["total"], 1.5);
  EXPECT_EQ(json["versions"]["tendril"], "0.1.0");
}

TEST(Summary, AFailureKeepsTheOldFileAndLeavesNoOther) {
  const TemporaryFolder folder;
  Summary summary;
  summary.write(folder / "summary.json");
  const std::string old = tendril::testing::readAll(folder / "summary.json");
  summary.messages.assign(1000, "a line of text");
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{4096, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  expectError<MachineFailure>([&] { summary.write(folder / "summary.json"); },
                              {"summary.json", "File too large", "the old file is kept", "free space"});
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(tendril::testing::readAll(folder / "summary.json"), old);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1);
  expectError<MachineFailure>([&] { summary.write(folder / "absent/summary.json"); },
                              {"absent/summary.json", "No such file", "choose another folder"});
}
