#include "support/files.h"
#include "tendril/documents/fingerprint.h"
#include "tendril/io/checkpoint.h"

#include <csignal>
#include <cstring>
#include <limits>
#include <random>
#include <sys/resource.h>
#include <vector>

using namespace tendril;
using tendril::testing::expectError;
using tendril::testing::readAll;
using tendril::testing::TemporaryFolder;
using tendril::testing::writeAll;

namespace {

Checkpoint sample(double time = 0.25) {
  Checkpoint checkpoint(fingerprint("a scene"));
  checkpoint.set("time", std::vector<double>{time});
  checkpoint.set("q", std::vector<double>{1, -0.0, std::numeric_limits<double>::denorm_min()});
  checkpoint.setIntegers("step", std::vector<std::int64_t>{7, -1});
  return checkpoint;
}

/// A CRC-32 fixed up for changed content, computed bit by bit independently of the implementation.
std::string withChecksum(std::string bytes) {
  std::uint32_t remainder = 0xFFFFFFFFu;
  for (std::size_t i = 0; i + 4 < bytes.size(); ++i) {
    remainder ^= static_cast<unsigned char>(bytes[i]);
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (0xEDB88320u & (0u - (remainder & 1)));
  }
  remainder = ~remainder;
  std::memcpy(bytes.data() + bytes.size() - 4, &remainder, 4);
  return bytes;
}

}

TEST(Checkpoint, KeepsEveryBit) {
  const TemporaryFolder folder;
  std::mt19937_64 random(1);
  std::vector<double> values(1000);
  for (double& value : values) {
    const std::uint64_t bits = random();
    std::memcpy(&value, &bits, sizeof(value));
  }
  values.push_back(std::numeric_limits<double>::signaling_NaN());
  Checkpoint checkpoint(42);
  checkpoint.set("q", values);
  checkpoint.set("empty", {});
  checkpoint.setIntegers("n",
                         std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), 0, std::numeric_limits<std::int64_t>::max()});
  checkpoint.write(folder / "run.checkpoint");
  const Checkpoint back = Checkpoint::read(folder / "run.checkpoint", 42);
  EXPECT_EQ(back.sceneFingerprint(), 42u);
  ASSERT_EQ(back.get("q").size(), values.size());
  EXPECT_EQ(std::memcmp(back.get("q").data(), values.data(), values.size() * sizeof(double)), 0);
  EXPECT_TRUE(back.has("empty"));
  EXPECT_TRUE(back.get("empty").empty());
  EXPECT_EQ(back.integers("n")[0], std::numeric_limits<std::int64_t>::min());
  expectError<InputError>([&] { back.get("v"); }, {"run.checkpoint", "'v'", "--resume"});
  expectError<InputError>([&] { back.integers("q"); }, {"'q'"});
}

TEST(Checkpoint, EveryTruncationIsRefused) {
  const TemporaryFolder folder;
  sample().write(folder / "a");
  const std::string whole = readAll(folder / "a");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    writeAll(folder / "a", whole.substr(0, length));
    expectError<InputError>([&] { Checkpoint::read(folder / "a"); },
                            {"/a: checkpoint: ", length < 1 ? "not a checkpoint" : "cut short", "run without --resume"});
  }
  writeAll(folder / "a", whole + "x");
  expectError<InputError>([&] { Checkpoint::read(folder / "a"); }, {"damaged"});
}

TEST(Checkpoint, EveryChangedByteIsRefused) {
  const TemporaryFolder folder;
  sample().write(folder / "a");
  const std::string whole = readAll(folder / "a");
  for (std::size_t i = 0; i < whole.size(); ++i)
    for (const int change : {1, 0x80, 0xFF}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      writeAll(folder / "a", damaged);
      EXPECT_THROW(Checkpoint::read(folder / "a"), InputError) << "byte " << i;
    }
}

TEST(Checkpoint, EntriesThatCannotBeAreRefusedEvenWithARightChecksum) {
  const TemporaryFolder folder;
  sample().write(folder / "a");
  const std::string whole = readAll(folder / "a");
  writeAll(folder / "a", withChecksum(whole));
  EXPECT_NO_THROW(Checkpoint::read(folder / "a"));
  for (const std::size_t position : {12u, 32u, 36u, 40u, 47u}) { // entries, kind, name length, count
    std::string damaged = whole;
    damaged[position] = static_cast<char>(0x7F);
    writeAll(folder / "a", withChecksum(damaged));
    EXPECT_THROW(Checkpoint::read(folder / "a"), InputError) << "byte " << position;
  }
  std::string newer = whole;
  newer[8] = 9;
  writeAll(folder / "a", withChecksum(newer));
  expectError<InputError>([&] { Checkpoint::read(folder / "a"); }, {"version 9", "reads version 1"});
}

TEST(Checkpoint, KeepsThePreviousOneAndPointsToIt) {
  const TemporaryFolder folder;
  sample(1).write(folder / "a");
  EXPECT_FALSE(std::filesystem::exists(Checkpoint::previous(folder / "a")));
  sample(2).write(folder / "a");
  sample(3).write(folder / "a");
  EXPECT_EQ(Checkpoint::read(folder / "a").get("time")[0], 3);
  EXPECT_EQ(Checkpoint::read(Checkpoint::previous(folder / "a")).get("time")[0], 2);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 2);
  writeAll(folder / "a", "TNDRL");
  expectError<InputError>([&] { Checkpoint::read(folder / "a"); }, {"cut short", "resume from", "a.previous"});
  expectError<InputError>([&] { Checkpoint::read(folder / "absent"); }, {"absent", "cannot be read", "No such file"});
}

TEST(Checkpoint, BelongsToItsScene) {
  const TemporaryFolder folder;
  sample().write(folder / "a");
  EXPECT_NO_THROW(Checkpoint::read(folder / "a", fingerprint("a scene")));
  expectError<InputError>([&] { Checkpoint::read(folder / "a", fingerprint("b scene")); }, {"another scene", "run without --resume"});
}

TEST(Checkpoint, AFullDiskKeepsTheLastOne) {
  const TemporaryFolder folder;
  sample(1).write(folder / "a");
  Checkpoint large = sample(2);
  large.set("q", std::vector<double>(100000, 1.0));
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{65536, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  expectError<MachineFailure>([&] { large.write(folder / "a"); }, {"/a: File too large", "the old file is kept", "free space"});
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(Checkpoint::read(folder / "a").get("time")[0], 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path), {}), 1);
}
