#include "support/dense.h"
#include "support/files.h"
#include "support/places.h"
#include "tendril/io/friction_file.h"

#include <hdf5.h>

#include <Eigen/Dense>

#include <cmath>
#include <cstring>
#include <functional>
#include <regex>

namespace tendril {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Format = FrictionFileOptions::Format;

fs::path data(const std::string& name) { return fs::path(test::sourceFolder()) / "tests/data/fc3d" / name; }

MatrixXd denseOf(const FrictionProblem& problem) { return toSparse(problem); }

/// Reads with standard error closed to a file, which must stay empty.
class FrictionFiles : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::internal::CaptureStderr(); }
  void TearDown() override { EXPECT_EQ(::testing::internal::GetCapturedStderr(), ""); }

  void refuses(const std::string& name, std::initializer_list<const char*> parts) {
    expectError<InputError>([&] { readFrictionFile(folder / name); }, parts);
    expectError<InputError>([&] { readFrictionFile(folder / name); }, {name.c_str()});
  }
  TemporaryFolder folder;
};

TEST_F(FrictionFiles, PublicFilesHaveTheirSizes) {
  struct Expected {
    const char* name;
    int contacts, velocities, guesses;
    double mu;
    bool bodies;
  };
  for (const Expected& expected : {Expected{"Box_Stacks-i0122-82-5.hdf5", 82, 450, 1, 0.3, true},
                                   {"BoxesStack1-i100000-32.hdf5.dat", 52, 0, 0, 0.7, false},
                                   {"Capsules-i100-1090.dat", 276, 0, 0, 0.7, false},
                                   {"Capsules-i125-1213.hdf5", 286, 594, 1, 0.7, false},
                                   {"Confeti-ex13-4contact-Fc3D-SBM.dat", 4, 0, 0, 0.04, false},
                                   {"FC3D_Example1.dat", 3, 0, 0, 0.1, false},
                                   {"LMGC_100_PR_PerioBox-i00361-60-03000.hdf5", 60, 606, 0, 0.5, false},
                                   {"Rover11035.dat", 1, 0, 0, 0.7, false}}) {
    if (!fs::exists(data(expected.name))) continue;
    const FrictionFile file = readFrictionFile(data(expected.name));
    const FrictionProblem& problem = file.problem();
    EXPECT_EQ(problem.contacts(), expected.contacts) << expected.name;
    EXPECT_EQ(problem.rows(), 3 * expected.contacts) << expected.name;
    EXPECT_EQ(file.velocities, expected.velocities) << expected.name;
    EXPECT_EQ(int(file.guesses.size()), expected.guesses) << expected.name;
    EXPECT_NEAR(problem.laws[0].discs[0].coefficient, expected.mu, 1e-15) << expected.name;
    EXPECT_EQ(problem.hasBodies(), expected.bodies) << expected.name;
    EXPECT_EQ(findDefect(problem), "") << expected.name;
  }
}

TEST_F(FrictionFiles, DenseLinesAndBlocksRunDownTheColumns) {
  // Rover11035 is slightly unsymmetric, so that rows and columns can be told apart.
  const FrictionFile file = readFrictionFile(data("Rover11035.dat"));
  const MatrixXd W = denseOf(file.problem());
  EXPECT_EQ(W(1, 0), -1.426574206813656375825161e-04);
  EXPECT_EQ(W(0, 1), -1.438285701497408206397943e-04);
  EXPECT_EQ(W(2, 0), 7.917137724989218054358342e-04);
  // The same problem in both storages.
  const FrictionProblem dense = readFrictionFile(data("FC3D_Example1.dat")).local,
                        blocks = readFrictionFile(data("FC3D_Example1_SBM.dat")).local;
  EXPECT_EQ(denseOf(dense), denseOf(blocks));
  EXPECT_EQ(dense.q, blocks.q);
  writeAll(folder / "blocks.dat", "2 1 1 2 2  1 1 1  2 2  2 1  0 1  0  0  4 1 1.004 3  0.5 -1  0.3");
  MatrixXd expected(2, 2);
  expected << 4, 1.004, 1, 3;
  const FrictionFile plane = readFrictionFile(folder / "blocks.dat");
  EXPECT_EQ(denseOf(plane.local), expected);
  EXPECT_EQ(plane.local.laws[0].size, 2);
}

TEST_F(FrictionFiles, RowsBeginWithTheNormal) {
  // Gravity presses the contacts of resting boxes together: only the first row of each contact has a velocity of that size.
  const FrictionProblem problem = readFrictionFile(data("BoxesStack1-i100000-32.hdf5.dat")).local;
  for (int i = 0; i < problem.contacts(); ++i) {
    const Eigen::Vector3d q = problem.q.segment<3>(3 * i);
    EXPECT_GE(std::abs(q[0]) + 1e-6, q.tail<2>().norm()) << i;
  }
}

TEST_F(FrictionFiles, GlobalFilesKeepTheirBodies) {
  const FrictionFile file = readFrictionFile(data("Box_Stacks-i0122-82-5.hdf5"));
  ASSERT_TRUE(file.reduction);
  const GlobalFrictionProblem& global = file.reduction->global();
  const MatrixXd W = MatrixXd(global.H).transpose() * test::inverse(MatrixXd(global.M)) * MatrixXd(global.H);
  EXPECT_LE((denseOf(file.problem()) - W).norm(), 1e-13 * W.norm());
  EXPECT_EQ(rankOf(file.problem()), 175);
}

void expectSame(const FrictionProblem& a, const FrictionProblem& b, double tolerance) {
  ASSERT_EQ(a.rows(), b.rows());
  EXPECT_LE((denseOf(a) - denseOf(b)).norm(), tolerance * denseOf(a).norm());
  EXPECT_LE((a.q - b.q).norm(), tolerance * a.q.norm());
  for (int i = 0; i < a.contacts(); ++i) EXPECT_EQ(a.laws[i].discs[0].coefficient, b.laws[i].discs[0].coefficient);
}

TEST_F(FrictionFiles, WhatIsWrittenIsReadBack) {
  for (const char* name :
       {"Rover1040.dat", "Confeti-ex13-4contact-Fc3D-SBM.dat", "OneObject-i100000-316.hdf5.dat", "Box_Stacks-i0122-82-5.hdf5"}) {
    const FrictionFile file = readFrictionFile(data(name));
    for (const char* target : {"copy.dat", "copy.hdf5"}) {
      writeFrictionFile(folder / target, file, {Format::Automatic, true});
      const FrictionFile copy = readFrictionFile(folder / target);
      expectSame(file.problem(), copy.problem(), 0);
      EXPECT_EQ(bool(copy.reduction), bool(file.reduction) && target == std::string("copy.hdf5"));
    }
    writeFrictionFile(folder / "local.hdf5", file, {Format::FclibLocal, true});
    expectSame(file.problem(), readFrictionFile(folder / "local.hdf5").problem(), 0);
  }
  const FrictionFile file = readFrictionFile(data("Box_Stacks-i0122-82-5.hdf5"));
  writeFrictionFile(folder / "global.hdf5", file);
  const FrictionFile copy = readFrictionFile(folder / "global.hdf5");
  EXPECT_EQ(copy.title, file.title);
  EXPECT_EQ(copy.description, file.description);
  ASSERT_EQ(copy.guesses.size(), 1u);
  EXPECT_EQ(copy.guesses[0], file.guesses[0]);
}

/// Two bodies, a contact each with the ground and one of them with the other; in between a joint.
FrictionFile bodies() {
  FrictionFile file;
  FrictionProblem& problem = file.local;
  problem.bodies.inverseInertia = {0.5 * Eigen::Matrix<double, 6, 6>::Identity(), Eigen::Matrix<double, 6, 6>::Identity()};
  problem.bodies.inverseInertia[0].diagonal().tail<3>() << 2, 3, 4;
  problem.laws = {FrictionLaw::coulomb(0.3), FrictionLaw::bilateral(2), FrictionLaw::coulomb(0.5)};
  problem.bodies.touched = {{0, -1}, {0, 1}, {1, -1}};
  problem.layOut();
  problem.bodies.H = FrictionBodies::Levers::Zero(8, 12);
  for (int row = 0; row < 8; ++row)
    for (int k = 0; k < 12; ++k)
      if (problem.bodies.touched[row < 3 ? 0 : row < 5 ? 1 : 2][k / 6] >= 0) problem.bodies.H(row, k) = std::sin(1.0 + 7 * row + 3 * k);
  problem.q = VectorXd::LinSpaced(8, -1, 1);
  file.title = "two bodies";
  return file;
}

TEST_F(FrictionFiles, BilateralContactsGoIntoVRAndS) {
  FrictionFile file = bodies();
  file.solution = VectorXd::LinSpaced(8, 1, 8);
  writeFrictionFile(folder / "local.hdf5", file, {Format::FclibLocal});
  const FrictionFile copy = readFrictionFile(folder / "local.hdf5");
  ASSERT_EQ(copy.local.contacts(), 4); // two contacts, then two bilateral rows
  EXPECT_EQ(copy.local.laws[2].kind, FrictionLaw::Kind::Bilateral);
  const std::vector<int> order{0, 1, 2, 5, 6, 7, 3, 4};
  EXPECT_EQ(denseOf(copy.local), MatrixXd(denseOf(file.local)(order, order)));
  EXPECT_EQ(copy.local.q, VectorXd(file.local.q(order)));
  EXPECT_EQ(copy.solution, VectorXd(file.solution(order)));
}

TEST_F(FrictionFiles, BodiesAndJointsGoIntoMassesAndG) {
  FrictionFile file = bodies();
  writeFrictionFile(folder / "global.hdf5", file);
  const FrictionFile copy = readFrictionFile(folder / "global.hdf5");
  ASSERT_TRUE(copy.reduction);
  EXPECT_EQ(copy.velocities, 12);
  EXPECT_EQ(copy.reduction->global().G.cols(), 2);
  // Eliminating the joint from the local problem gives the same.
  const MatrixXd W = denseOf(file.local);
  const std::vector<int> c{0, 1, 2, 5, 6, 7}, j{3, 4};
  const MatrixXd reduced = W(c, c) - W(c, j) * test::inverse(MatrixXd(W(j, j))) * W(j, c);
  EXPECT_LE((denseOf(copy.problem()) - reduced).norm(), 1e-12);
  const VectorXd q = file.local.q(c) - W(c, j) * test::inverse(MatrixXd(W(j, j))) * file.local.q(j);
  EXPECT_LE((copy.problem().q - q).norm(), 1e-12);
}

TEST_F(FrictionFiles, SolutionsCarryTheVelocitiesThatBelongToThem) {
  FrictionFile file = readFrictionFile(data("Box_Stacks-i0122-82-5.hdf5"));
  file.solution = VectorXd::LinSpaced(246, 0, 1);
  file.guesses = {VectorXd::Ones(246), 2 * VectorXd::Ones(246)};
  writeFrictionFile(folder / "solved.hdf5", file);
  const FrictionFile copy = readFrictionFile(folder / "solved.hdf5");
  EXPECT_EQ(copy.solution, file.solution);
  ASSERT_EQ(copy.guesses.size(), 2u);
  EXPECT_EQ(copy.guesses[1], file.guesses[1]);
  const hid_t handle = H5Fopen((folder / "solved.hdf5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  VectorXd v(450), u(246);
  for (const auto& [path, target] : {std::pair{"solution/v", &v}, {"solution/u", &u}}) {
    const hid_t set = H5Dopen2(handle, path, H5P_DEFAULT);
    EXPECT_GE(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, target->data()), 0);
    H5Dclose(set);
  }
  H5Fclose(handle);
  const GlobalFrictionProblem& global = file.reduction->global();
  EXPECT_LE((global.M * v - global.H * file.solution - global.f).norm(), 1e-12 * v.norm());
  EXPECT_LE((global.H.transpose() * v + global.w - u).norm(), 1e-12 * u.norm());
}

TEST_F(FrictionFiles, SmallerLawsAreFilledUp) {
  FrictionFile file;
  file.local.laws = {FrictionLaw::frictionless(), FrictionLaw::coulomb(0.2)};
  file.local.layOut();
  file.local.W = toBlocks((MatrixXd::Identity(4, 4) + 0.1 * MatrixXd::Ones(4, 4)).sparseView(), file.local.firstRow);
  file.local.q = VectorXd::LinSpaced(4, -1, 2);
  for (const char* name : {"filled.dat", "filled.hdf5"}) {
    writeFrictionFile(folder / name, file);
    const FrictionFile copy = readFrictionFile(folder / name);
    ASSERT_EQ(copy.local.rows(), 6);
    const std::vector<int> rows{0, 3, 4, 5};
    EXPECT_EQ(MatrixXd(denseOf(copy.local)(rows, rows)), denseOf(file.local));
    EXPECT_EQ(copy.local.laws[0].discs[0].coefficient, 0);
  }
}

TEST_F(FrictionFiles, RefusesLawsThatTheFormatCannotHold) {
  FrictionFile file;
  file.local.laws = {FrictionLaw::rolling(0.5, 0.01, 0.01)};
  file.local.layOut();
  file.local.W = toBlocks(MatrixXd::Identity(6, 6).sparseView(), file.local.firstRow);
  file.local.q = VectorXd::Zero(6);
  for (const char* name : {"rolling.dat", "rolling.hdf5"})
    expectError<InputError>([&] { writeFrictionFile(folder / name, file); }, {name, "contact 0", "rolling"});
  expectError<InputError>([&] { writeFrictionFile(folder / "joint.dat", bodies()); }, {"joint.dat", "bilateral", ".hdf5"});
  const FrictionFile local = readFrictionFile(data("Rover1039.dat"));
  expectError<InputError>([&] { writeFrictionFile(folder / "a.hdf5", local, {Format::FclibGlobal}); }, {"masses", "local"});
  EXPECT_TRUE(fs::is_empty(folder.path));
}

TEST_F(FrictionFiles, NeverReplacesAFileUnasked) {
  writeAll(folder / "mine.dat", "precious");
  const FrictionFile file = readFrictionFile(data("Rover1039.dat"));
  expectError<InputError>([&] { writeFrictionFile(folder / "mine.dat", file); }, {"mine.dat", "exists"});
  EXPECT_EQ(readAll(folder / "mine.dat"), "precious");
  writeFrictionFile(folder / "mine.dat", file, {Format::Automatic, true});
  EXPECT_EQ(readFrictionFile(folder / "mine.dat").local.contacts(), 4);
  expectError<MachineFailure>([&] { writeFrictionFile(folder / "nowhere" / "a.dat", file); }, {"nowhere"});
}

TEST_F(FrictionFiles, NoContactsAreAProblemToo) {
  FrictionFile file;
  file.local.layOut();
  file.local.W = toBlocks(Eigen::SparseMatrix<double, Eigen::RowMajor>(0, 0), file.local.firstRow);
  for (const char* name : {"none.dat", "none.hdf5"}) {
    writeFrictionFile(folder / name, file);
    EXPECT_EQ(readFrictionFile(folder / name).problem().contacts(), 0) << name;
  }
}

TEST_F(FrictionFiles, NumbersAtTheEdgeOfTheRange) {
  writeAll(folder / "edge.dat", "2 1 0 2 2 2 2  4 1e-400 -1e-400 3  -1e-310 +1.5  0.3");
  const FrictionFile file = readFrictionFile(folder / "edge.dat");
  EXPECT_EQ(denseOf(file.local)(1, 0), 0);
  EXPECT_EQ(file.local.q[0], -1e-310);
  EXPECT_EQ(file.local.q[1], 1.5);
}

// ---- Bad input ----

TEST_F(FrictionFiles, RefusesTextsThatAreWrong) {
  const std::string good = "3 1 0 3 3 3 3  2 0 0 0 2 0 0 0 2\n-1 0 0\n0.5\n1\n";
  writeAll(folder / "good.dat", good);
  EXPECT_EQ(readFrictionFile(folder / "good.dat").local.contacts(), 1);
  const auto broken = [&](const char* pattern, const char* replacement, std::initializer_list<const char*> parts) {
    writeAll(folder / "bad.dat", std::regex_replace(good, std::regex(pattern), replacement, std::regex_constants::format_first_only));
    refuses("bad.dat", parts);
  };
  broken("^3 ", "4 ", {":1", "dimension", "4"});
  broken("^3 1", "3 -1", {":1", "contacts", "-1"});
  broken("^3 1", "3 999999999", {"contacts"});
  broken("1 0 3 3", "1 2 3 3", {"kind"});
  broken("3 3 3 3", "3 4 3 3", {"columns", "4"});
  broken("-1 0 0", "-1 nan 0", {":2", "q", "nan", "finite"});
  broken("-1 0 0", "-1 1e999 0", {":2", "q", "finite"});
  broken("-1 0 0", "-1 zero 0", {":2", "q", "zero"});
  broken("0\\.5", "-0.5", {":3", "mu", "negative"});
  broken("\n1\n", "\n7\n", {":4", "flag"});
  broken("\n1\n", "\n1 1\n", {":4", "more text"});
  broken("0\\.5\n1\n", "", {"mu", "truncated"});
  broken("2 0 0 0 2 0 0 0 2", "2 0 0 0 -2 0 0 0 2", {"bad.dat"});
  broken("2 0 0 0 2 0 0 0 2", "2 9 0 -9 2 0 0 0 2", {"bad.dat", "symmetric"});
}

TEST_F(FrictionFiles, RefusesBlocksThatDoNotFit) {
  const auto broken = [&](const std::string& text, std::initializer_list<const char*> parts) {
    writeAll(folder / "bad.dat", text);
    refuses("bad.dat", parts);
  };
  broken("2 1 1 2 2  1 1 1  2 2  2 1  0 1  5  0  4 1 1 3  0 -1  0.3", {"column of a block", "5"});
  broken("2 1 1 2 2  1 1 1  2 2  2 1  0 9  0  0  4 1 1 3  0 -1  0.3", {"start", "9"});
  broken("2 1 1 2 2  1 1 1  3 2  2 1  0 1  0  0  4 1 1 3  0 -1  0.3", {"ends", "3"});
  broken("2 1 1 2 2  1 1 1  2 2  2 1  0 1  0  1  4 1 1 3  0 -1  0.3", {"number of a block", "1"});
}

TEST_F(FrictionFiles, RefusesIndefiniteMatrices) {
  // Positive blocks on the diagonal, indefinite as a whole.
  std::string text = "2 2 0 4 4 4 4\n1 0 3 0\n0 1 0 0\n3 0 1 0\n0 0 0 1\n-1 0 -1 0\n0.5 0.5\n";
  writeAll(folder / "bad.dat", text);
  refuses("bad.dat", {"W", "indefinite", "-2"});
}

TEST_F(FrictionFiles, RefusesWhatIsNoFile) {
  refuses("missing.dat", {"cannot be read"});
  writeAll(folder / "empty.hdf5", "");
  refuses("empty.hdf5", {"empty"});
  writeAll(folder / "foreign.bin", std::string("\x7f"
                                               "ELF\0\1\2\3",
                                               8));
  refuses("foreign.bin", {"neither HDF5 nor text"});
  writeAll(folder / "garbage.txt", "hello world\n");
  refuses("garbage.txt", {":1", "dimension", "hello"});
  fs::create_directory(folder / "folder.dat");
  refuses("folder.dat", {"folder"});
}

TEST_F(FrictionFiles, RefusesTruncatedHdf5AtEveryLength) {
  const std::string whole = readAll(data("Box_Stacks-i0122-82-5.hdf5"));
  for (std::size_t length = 8; length + 100 < whole.size(); length += whole.size() / 23) {
    writeAll(folder / "cut.hdf5", whole.substr(0, length));
    refuses("cut.hdf5", {"cut.hdf5"});
  }
}

/// A copy of a good file in which one thing is changed.
class DamagedFile {
 public:
  explicit DamagedFile(const fs::path& path) : file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT)) {}
  ~DamagedFile() { H5Fclose(file); }
  void remove(const char* path) { ASSERT_GE(H5Ldelete(file, path, H5P_DEFAULT), 0); }
  template <class Number> void set(const char* path, std::size_t entry, Number value) {
    const hid_t set = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(set);
    std::vector<double> values(H5Sget_simple_extent_npoints(space));
    H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    values.at(entry) = double(value);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Sclose(space);
    H5Dclose(set);
  }
  void resize(const char* path, hsize_t count) {
    remove(path);
    const std::vector<double> values(count, 0.5);
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t set = H5Dcreate2(file, path, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Sclose(space);
    H5Dclose(set);
  }

 private:
  hid_t file;
};

TEST_F(FrictionFiles, RefusesDamagedHdf5) {
  writeFrictionFile(folder / "global.hdf5", bodies());
  writeFrictionFile(folder / "local.hdf5", bodies(), {Format::FclibLocal});
  const auto broken = [&](const char* source, const std::function<void(DamagedFile&)>& damage, std::initializer_list<const char*> parts) {
    fs::copy_file(folder / source, folder / "bad.hdf5", fs::copy_options::overwrite_existing);
    {
      DamagedFile file(folder / "bad.hdf5");
      damage(file);
    }
    refuses("bad.hdf5", parts);
  };
  const double nan = std::nan("");
  broken("local.hdf5", [](auto& f) { f.remove("fclib_local"); }, {"neither fclib_local nor fclib_global"});
  broken("local.hdf5", [](auto& f) { f.remove("fclib_local/W"); }, {"fclib_local/W", "missing"});
  broken("local.hdf5", [](auto& f) { f.remove("fclib_local/vectors/q"); }, {"vectors/q", "missing"});
  broken("local.hdf5", [](auto& f) { f.remove("fclib_local/R"); }, {"V and R"});
  broken("local.hdf5", [](auto& f) { f.resize("fclib_local/vectors/q", 5); }, {"vectors/q", "5", "6"});
  broken("local.hdf5", [](auto& f) { f.resize("fclib_local/W/p", 7); }, {"W/p", "integers"});
  broken("local.hdf5", [&](auto& f) { f.set("fclib_local/W/x", 3, nan); }, {"W/x", "entry 3", "finite"});
  broken("local.hdf5", [&](auto& f) { f.set("fclib_local/vectors/mu", 1, -0.1); }, {"vectors/mu", "contact 1", "negative"});
  broken("local.hdf5", [&](auto& f) { f.set("fclib_local/vectors/mu", 1, nan); }, {"vectors/mu", "finite"});
  broken("local.hdf5", [](auto& f) { f.set("fclib_local/spacedim", 0, 7); }, {"spacedim", "7"});
  broken("local.hdf5", [](auto& f) { f.set("fclib_local/W/m", 0, 7); }, {"fclib_local/W", "7 x 6"});
  broken("local.hdf5", [](auto& f) { f.set("fclib_local/W/nz", 0, -7); }, {"W/nz", "-7"});
  broken("local.hdf5", [](auto& f) { f.set("fclib_local/W/i", 2, 99); }, {"W/i", "99"});
  broken("local.hdf5", [](auto& f) { f.set("fclib_local/W/p", 2, 0); }, {"W/p", "ascend"});
  broken("local.hdf5", [](auto& f) { f.set("fclib_local/W/p", 6, 999); }, {"W/i", "p says 999"});
  broken("local.hdf5", [](auto& f) { f.set("fclib_local/V/n", 0, -3); }, {"V/n", "-3"});
  broken("local.hdf5", [](auto& f) { f.set("fclib_local/V/n", 0, 2000000000); }, {"vectors/s", "2000000000"});
  broken("global.hdf5", [](auto& f) { f.set("fclib_global/M/x", 0, -1.0); }, {"fclib_global", "M", "positive definite"});
  broken("global.hdf5", [](auto& f) { f.set("fclib_global/H/i", 0, -1); }, {"H/i", "-1"});
  broken("global.hdf5", [](auto& f) { f.remove("fclib_global/vectors/b"); }, {"vectors/b", "missing"});
}

TEST_F(FrictionFiles, TripletsAreReadEitherWay) {
  // The same H with p as columns (as in use) and with p as rows.
  const fs::path plain = folder / "plain.hdf5", swapped = folder / "swapped.hdf5";
  fs::copy_file(data("Box_Stacks-i0122-82-5.hdf5"), plain);
  fs::copy_file(plain, swapped);
  {
    const hid_t file = H5Fopen(swapped.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Lmove(file, "fclib_global/H/i", file, "fclib_global/H/t", H5P_DEFAULT, H5P_DEFAULT);
    H5Lmove(file, "fclib_global/H/p", file, "fclib_global/H/i", H5P_DEFAULT, H5P_DEFAULT);
    H5Lmove(file, "fclib_global/H/t", file, "fclib_global/H/p", H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
  }
  EXPECT_EQ(MatrixXd(readFrictionFile(plain).reduction->global().H), MatrixXd(readFrictionFile(swapped).reduction->global().H));
}

}
}
