#include "support/files.h"
#include "tendril/documents/document.h"
#include "tendril/documents/overrides.h"

#include <cmath>
#include <numbers>

using namespace tendril;
using tendril::testing::expectError;
using tendril::testing::TemporaryFolder;

namespace {

constexpr double degree = std::numbers::pi / 180;

const char* const sceneText = R"(tendril: 1
parameters:
  L: 2
  EI: 3*L
  radius: 10 mm
  tilt: 0.5 rad
  model: SR
  contact: yes
beams:
  - name: cable
    length: L
    radius: radius
    moment: 2*pi*EI/L
    modulus: 2 GPa
    density: 7850 kg/m^3
    angle: 90
    turn: 45 deg
    tilt: tilt
    elements: 4*L
    model: $model
    contact: ${contact}
    start: [0, 1 cm, L/4]
    load: 3*sin(2*t)
    motion: [[0, 0], [1, 90], [3, 90]]
    points: [[0, 0, 0], [1, 0, L]]
  - name: rod
    elements: 3
)";

Document parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return Document::fromText(text, "scene.yaml", overrides);
}

/// The number under `value` of a one-line scene.
double numberOf(const std::string& text, Dimension dimension = {}) { return parse("value: " + text).root().number("value", dimension); }

void expectNumberRefused(const std::string& text, Dimension dimension, std::initializer_list<const char*> parts) {
  expectError<InputError>([&] { numberOf(text, dimension); }, {"scene.yaml:1:", "value: "});
  expectError<InputError>([&] { numberOf(text, dimension); }, parts);
}

}

TEST(Document, ReadsEveryKindOfValueInSi) {
  const Document document = parse(sceneText);
  const Node root = document.root();
  EXPECT_EQ(root.integer("tendril"), 1);
  const std::vector<Node> beams = root.sequence("beams");
  ASSERT_EQ(beams.size(), 2u);
  const Node& cable = beams[0];
  EXPECT_EQ(cable.path(), "beams[0]");
  EXPECT_EQ(cable.displayName(), "cable");
  EXPECT_EQ(cable.location().line, 10);
  EXPECT_EQ(cable.at("radius").location().line, 12);
  EXPECT_EQ(cable.at("radius").location().column, 13);
  EXPECT_EQ(cable.at("radius").path(), "beams[0].radius");
  EXPECT_EQ(cable.text("name"), "cable");
  EXPECT_EQ(cable.positive("length", dimension::length), 2);
  EXPECT_EQ(cable.number("radius", dimension::length), 0.01);
  EXPECT_DOUBLE_EQ(cable.number("moment", dimension::moment), 6 * std::numbers::pi);
  EXPECT_EQ(cable.number("modulus", dimension::pressure), 2e9);
  EXPECT_EQ(cable.number("density", dimension::density), 7850);
  EXPECT_DOUBLE_EQ(cable.number("angle", dimension::angle), 90 * degree);
  EXPECT_DOUBLE_EQ(cable.number("turn", dimension::angle), 45 * degree);
  EXPECT_DOUBLE_EQ(cable.number("tilt", dimension::angle), 0.5);
  EXPECT_EQ(cable.integer("elements"), 8);
  EXPECT_EQ(cable.choice("model", {"SR", "KL"}), "SR");
  EXPECT_TRUE(cable.boolean("contact"));
  EXPECT_EQ(cable.vector3("start", dimension::length), Eigen::Vector3d(0, 0.01, 0.5));
  EXPECT_EQ(cable.matrix("points", -1, 3)(1, 2), 2);
  const std::vector<std::string> names{"cable", "rod"};
  EXPECT_EQ(cable.reference("name", "beam", names), "cable");
  EXPECT_EQ(cable.number("absent", dimension::length, 7), 7);
  EXPECT_FALSE(cable.optionalMap("absent").has_value());
}

TEST(Document, ReadsFunctionsOfTime) {
  const Document document = parse(sceneText);
  const Node cable = document.root().sequence("beams")[0];
  const Jet load = cable.timeFunction("load", dimension::force)(0.3);
  EXPECT_DOUBLE_EQ(load.value, 3 * std::sin(0.6));
  EXPECT_DOUBLE_EQ(load.rate, 6 * std::cos(0.6));
  EXPECT_DOUBLE_EQ(load.acceleration, -12 * std::sin(0.6));
  const TimeFunction motion = cable.timeFunction("motion", dimension::angle);
  EXPECT_DOUBLE_EQ(motion(0.5).value, 45 * degree);
  EXPECT_DOUBLE_EQ(motion(0.5).rate, 90 * degree);
  EXPECT_DOUBLE_EQ(motion(1).rate, 0);
  EXPECT_DOUBLE_EQ(motion(0).rate, 90 * degree);
  EXPECT_DOUBLE_EQ(motion(-1).value, 0);
  EXPECT_DOUBLE_EQ(motion(99).value, 90 * degree);
  EXPECT_EQ(parse("f: 5 kN").root().timeFunction("f", dimension::force)(3).value, 5000);
  EXPECT_DOUBLE_EQ(parse("f: 90*t").root().timeFunction("f", dimension::angle)(1).rate, 90 * degree);
}

TEST(Document, RefusesUnknownKeysWithPlaceAndNearestName) {
  const Document document = parse("tendril: 1\nbeams:\n  - name: a\n    raduis: 3\n    length: 1\n");
  const Node root = document.root();
  root.integer("tendril");
  const Node beam = root.sequence("beams")[0];
  beam.text("name");
  beam.number("length");
  beam.number("radius", {}, 1.0);
  const auto parts = {"scene.yaml:4:5", "beams[0].raduis", "unknown key", "expected are name, length, radius", "did you mean 'radius'"};
  expectError<InputError>([&] { beam.finish(); }, parts);
  expectError<InputError>([&] { document.finish(); }, parts);
  expectError<InputError>([&] { beam.number("radius"); }, {"scene.yaml:4:5", "the key 'radius' is missing", "did you mean 'radius'"});
}

TEST(Document, FinishAcceptsWhatWasReadAndFindsWhatWasNot) {
  const Document good = parse("a: 1\nb: {c: [1, 2]}\n");
  good.root().number("a");
  good.root().map("b").numbers("c");
  EXPECT_NO_THROW(good.finish());
  const Document unread = parse("a: 1\nb: {c: 1, d: 2}\n");
  unread.root().number("a");
  unread.root().map("b").number("c");
  EXPECT_NO_THROW(unread.root().finish());
  expectError<InputError>([&] { unread.finish(); }, {"scene.yaml:2:11", "b.d", "unknown key 'd'"});
  const Document known = parse("a: 1\nb: 2\n");
  known.root().number("a");
  EXPECT_TRUE(known.root().has("b"));
  expectError<InputError>([&] { known.finish(); }, {"scene.yaml:2:1", "no effect", "remove it"});
}

TEST(Document, RefusesMissingKeysSayingWhatIsExpected) {
  const Document document = parse("beams:\n  - name: a\n");
  const Node beam = document.root().sequence("beams")[0];
  expectError<InputError>([&] { beam.positive("radius", dimension::length); },
                          {"scene.yaml:2:5", "beams[0].radius", "missing", "a positive number in m", "add 'radius"});
  expectError<InputError>([&] { beam.choice("model", {"SR", "KL"}); }, {"one of SR, KL"});
  expectError<InputError>([&] { beam.vector3("axis"); }, {"3 numbers"});
  expectError<InputError>([&] { beam.map("section"); }, {"a map"});
}

TEST(Document, RefusesBadNumbers) {
  for (const char* text :
       {".nan", "nan", ".inf", "-.inf", "inf", "1/0", "0/0", "1e999", "log(0)", "abc", "1:30", "0x10", "''", "~", "[1]", "{a: 1}"})
    expectNumberRefused(text, dimension::none, {"; "});
  expectNumberRefused("1/0", {}, {"not a finite number", "give a finite value"});
  expectNumberRefused("inf", {}, {"not a finite number"});
  expectNumberRefused("3 kg", dimension::length, {"'3 kg' has the wrong dimension", "give a value in m"});
  expectNumberRefused("3 deg", dimension::none, {"wrong dimension", "without a unit"});
  expectNumberRefused("3 m", dimension::angle, {"wrong dimension", "deg"});
  expectNumberRefused("3 mn", dimension::length, {"unknown unit 'mn'"});
  expectNumberRefused("2pi", {}, {"unknown unit 'pi'", "a product with '*'"});
  expectNumberRefused("2*(3", {}, {"scene.yaml:1:12", "expected ')'"});
  expectNumberRefused("\"2*(3\"", {}, {"scene.yaml:1:13", "expected ')'"});
  expectNumberRefused("[1]", {}, {"expected a number, found a sequence"});
  expectNumberRefused("", {}, {"expected a number, found nothing"});
}

TEST(Document, RefusesValuesOutOfBoundsAndOfTheWrongForm) {
  const Document document = parse(
      "n: 2.5\nz: 0\nm: -1\nb: maybe\nv: [1, 2]\nr: [[1, 2], [3]]\nc: KI\nt: [[0, 1], [0, 2]]\nu: [[0, 1, 2]]\nbig: 3e9\nref: cabel\n");
  const Node root = document.root();
  const std::vector<std::string> names{"cable", "rod"};
  expectError<InputError>([&] { root.integer("n"); }, {"scene.yaml:1:4", "n: ", "not a whole number", "give a whole number"});
  expectError<InputError>([&] { root.integer("big"); }, {"scene.yaml:10:6", "too large"});
  expectError<InputError>([&] { root.positive("z", dimension::length); }, {"scene.yaml:2:4", "not positive", "a positive number in m"});
  expectError<InputError>([&] { root.nonNegative("m"); }, {"scene.yaml:3:4", "negative", "not below zero"});
  expectError<InputError>([&] { root.boolean("b"); }, {"scene.yaml:4:4", "'maybe'", "write true or false"});
  expectError<InputError>([&] { root.vector3("v"); }, {"scene.yaml:5:4", "3 numbers, found 2"});
  expectError<InputError>([&] { root.matrix("r"); }, {"scene.yaml:6:13", "r[1]", "the same length"});
  expectError<InputError>([&] { root.choice("c", {"SR", "KL", "IK"}); }, {"scene.yaml:7:4", "one of SR, KL, IK", "did you mean"});
  expectError<InputError>([&] { root.timeFunction("t"); }, {"scene.yaml:8:14", "must increase", "step(t - t0)"});
  expectError<InputError>([&] { root.timeFunction("u"); }, {"scene.yaml:9:5", "a pair [t, value]"});
  expectError<InputError>([&] { root.reference("ref", "beam", names); },
                          {"scene.yaml:11:6", "no beam named 'cabel'", "did you mean 'cable'"});
  expectError<InputError>([&] { root.map("n"); }, {"expected a map"});
  expectError<InputError>([&] { root.sequence("n"); }, {"expected a sequence"});
}

TEST(Document, RefusesTextThatIsNoScene) {
  expectError<InputError>([] { parse("a: [1, 2\nb: 3\n"); }, {"scene.yaml:2:", "not valid YAML", "check indentation"});
  expectError<InputError>([] { parse("a: 1\nb: 2\na: 3\n"); }, {"scene.yaml:3:1", "a: ", "appears twice (first in line 1)", "remove one"});
  expectError<InputError>([] { parse(""); }, {"scene.yaml", "top level", "tendril: 1"});
  expectError<InputError>([] { parse("- 1\n- 2\n"); }, {"scene.yaml:1:1", "top level"});
  expectError<InputError>([] { parse("a: 1\n---\nb: 2\n"); }, {"several YAML documents"});
  expectError<InputError>([] { parse("[1, 2]: 3\n"); }, {"plain word"});
  expectError<InputError>([] { parse("a: " + std::string(100, '[') + std::string(100, ']')); }, {"nested too deeply"});
  expectError<InputError>([] { parse("a: " + std::string(100000, '[')); }, {"scene.yaml"});
  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 0; k < 9; ++k) bomb += "," + last;
    bomb += "]\n";
  }
  expectError<InputError>([&] { parse(bomb); }, {"too many values"});
}

TEST(Document, ReadsFilesAndNamesThoseItCannotRead) {
  const TemporaryFolder folder;
  tendril::testing::writeAll(folder / "scene.yaml", "a: 1\n");
  EXPECT_EQ(Document::fromFile(folder / "scene.yaml").root().number("a"), 1);
  expectError<InputError>([&] { Document::fromFile(folder / "absent.yaml"); }, {"absent.yaml", "No such file", "check the path"});
  expectError<InputError>([&] { Document::fromFile(folder.path); }, {"this is a folder"});
}

TEST(Parameters, ReferToEachOtherInAnyOrder) {
  const Document document = parse(
      "parameters:\n  a: 2*b\n  b: c + 1\n  c: 3\n  text: SR\n  same: $text\n  file: \"data/x.csv\"\n  name: ss-exp1\nv: a\nw: $same\n");
  EXPECT_EQ(document.root().number("v"), 8);
  EXPECT_EQ(document.root().text("w"), "SR");
  EXPECT_EQ(std::get<std::string>(*document.parameters().find("file")), "data/x.csv");
  EXPECT_EQ(std::get<std::string>(*document.parameters().find("name")), "ss-exp1");
  EXPECT_EQ(document.parameterNames(), (std::vector<std::string>{"a", "b", "c", "text", "same", "file", "name"}));
}

TEST(Parameters, KnowWhichAreUnused) {
  const Document document = parse("parameters: {a: 1, b: 2*a, c: 3, d: SR}\nv: b\n");
  document.root().number("v");
  EXPECT_EQ(document.unusedParameters(), (std::vector<std::string>{"c", "d"}));
}

TEST(Parameters, AreNotUnusedWhereAnOverrideTakesTheirPlace) {
  const Document document = parse("parameters: {a: 1, b: 2, c: 3}\nm: {v: a, w: [b + 1, 2]}\n", {"m.v=5", "m.w=[1, 2]"});
  EXPECT_EQ(document.unusedParameters(), (std::vector<std::string>{"c"}));
}

TEST(Parameters, RefuseCyclesAndPrintThem) {
  expectError<InputError>([] { parse("parameters:\n  a: b + 1\n  b: 2*c\n  c: a\n"); },
                          {"scene.yaml:", "parameters.", "a -> b -> c -> a", "value of its own"});
  expectError<InputError>([] { parse("parameters:\n  a: a + 1\n"); }, {"a -> a"});
}

TEST(Parameters, RefuseWhatCannotBeOne) {
  expectError<InputError>([] { parse("parameters:\n  t: 1\n"); },
                          {"scene.yaml:2:3", "parameters.t", "already has a meaning", "another name"});
  expectError<InputError>([] { parse("parameters:\n  2x: 1\n"); }, {"cannot be used as a name"});
  expectError<InputError>([] { parse("parameters:\n  a: [1]\n"); }, {"scene.yaml:2:6", "not a sequence"});
  expectError<InputError>([] { parse("parameters:\n  a:\n"); }, {"not nothing"});
  expectError<InputError>([] { parse("parameters:\n  a: 2*Lx\n  Ly: 1\n"); }, {"scene.yaml:2:8", "unknown name 'Lx'", "did you mean 'Ly'"});
  expectError<InputError>([] { parse("parameters:\n  a: 1/0\n"); }, {"not a finite number"});
  expectError<InputError>([] { parse("parameters:\n  a: $bb\n  b: 1\n"); }, {"unknown parameter 'bb'"});
  expectError<InputError>([] { parse("parameters: 3\n"); }, {"expected a map of parameters"});
}

TEST(Parameters, KeepTheirDimensionWhenUsedAlone) {
  const Document document = parse("parameters: {d: 10 mm, m: 3 kg, model: SR}\na: d\nb: m\nc: 2*d\ne: model\n");
  EXPECT_EQ(document.root().number("a", dimension::length), 0.01);
  EXPECT_EQ(document.root().number("c", dimension::length), 0.02);
  expectError<InputError>([&] { document.root().number("b", dimension::length); },
                          {"scene.yaml:3:4", "the parameter 'm' has the wrong dimension"});
  expectError<InputError>([&] { document.root().number("e"); }, {"scene.yaml:5:4", "is a text, not a number"});
}

TEST(Overrides, SetParametersAndAnyOtherValue) {
  const Document document = parse(sceneText, {"L=3", "model=KL", "radius=2 cm", "beams[1].elements=7", "beams.cable.elements=2*L",
                                              "beams[0].points=[[0,0,0],[1,1,1],[2,2,2]]", "contact=no", "parameters.EI=5",
                                              "beams.rod.extra=1", "beams[0].start[2]=9"});
  const Node root = document.root();
  const std::vector<Node> beams = root.sequence("beams");
  EXPECT_EQ(beams[0].number("length"), 3);
  EXPECT_EQ(beams[0].text("model"), "KL");
  EXPECT_FALSE(beams[0].boolean("contact"));
  EXPECT_EQ(beams[0].number("radius", dimension::length), 0.02);
  EXPECT_EQ(beams[0].integer("elements"), 6);
  EXPECT_EQ(beams[1].integer("elements"), 7);
  EXPECT_EQ(beams[0].matrix("points", -1, 3).rows(), 3);
  EXPECT_EQ(beams[0].vector3("start", dimension::length)[2], 9);
  EXPECT_DOUBLE_EQ(beams[0].number("moment", dimension::moment), 2 * std::numbers::pi * 5 / 3);
  beams[1].text("name");
  expectError<InputError>([&] { beams[1].finish(); }, {"--set beams.rod.extra=1: beams[1].extra", "unknown key 'extra'"});
}

TEST(Overrides, AreLostWhereALaterOneSetsTheSameOrWhatHoldsIt) {
  const DocumentSource source = DocumentSource::fromText(sceneText);
  const auto lose = [&](const std::vector<std::string>& overrides) { refuseLostOverrides(source, overrides); };
  EXPECT_NO_THROW(lose({"L=3", "model=KL", "beams[1].elements=7", "beams[0].start[2]=9", "beams.cable.start[1]=9", "beams.cable.extra=1"}));
  EXPECT_NO_THROW(lose({"beams[0].start=[0,0,0]", "beams[0].start[1]=2"})); // the second changes what the first made
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{{"L=3", "L=3"},
                                                                                      {"L=3", "parameters.L=4"},
                                                                                      {"beams[0].elements=3", "beams.cable.elements=4"},
                                                                                      {"beams[0].start[1]=2", "beams[0].start=[0,0,0]"}})
    expectError<InputError>([&] { lose({first, "model=KL", second}); }, {("--set " + second).c_str(), ("'" + first + "'").c_str()});
}

TEST(Overrides, RefuseUnknownNamesWithTheNearest) {
  const auto expectRefused = [](const std::string& assignment, std::initializer_list<const char*> parts) {
    expectError<InputError>([&] { parse(sceneText, {assignment}); }, {("--set " + assignment).c_str()});
    expectError<InputError>([&] { parse(sceneText, {assignment}); }, parts);
  };
  expectRefused("modle=KL", {"no parameter or key 'modle'", "scene.yaml", "did you mean 'model'"});
  expectRefused("parameters.modle=KL", {"no parameter 'modle'", "did you mean 'model'"});
  expectRefused("beams.cabel.elements=3", {"no 'cabel' in 'beams'", "did you mean 'cable'"});
  expectRefused("beam[0].elements=3", {"did you mean 'beams'"});
  expectRefused("beams[2].elements=3", {"has only 2 elements", "count from 0"});
  expectRefused("beams[x].elements=3", {"cannot read the index"});
  expectRefused("beams[0=3", {"cannot read the index"});
  expectRefused("tendril[0]=3", {"not a sequence"});
  expectRefused("beams[0]..x=3", {"empty step"});
  expectRefused("L", {"expected NAME=VALUE"});
  expectRefused("L=", {"value is missing"});
  expectRefused("L=[1", {"not valid YAML"});
  expectRefused("L=abc", {"parameters.L", "unknown name 'abc'"});
  expectRefused("L=[1, 2]", {"needs one value"});
  expectRefused("L=nan", {"not a finite number"});
}
