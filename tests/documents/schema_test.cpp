#include "support/files.h"
#include "tendril/documents/schema.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

using namespace tendril;
using tendril::testing::expectError;

namespace {

const Schema section("section", "A solid circular cross-section.", {field::number("radius", dimension::length, "Radius.").positive()});

const Schema joint("joint", "A joint between two bodies.", "type",
                   {{"revolute", "Turns about an axis.", {field::vector3("axis", dimension::none, "Axis.").defaultsTo("[0, 0, 1]")}},
                    {"spring", "A spring.", {field::number("stiffness", dimension::stiffness, "Stiffness.").nonNegative()}}},
                   {field::text("name", "Name."), field::reference("body", "body", "Body.").optional()});

const Schema scene("scene", "A scene.",
                   {field::integer("tendril", "Version.").positive(), field::parameters("Names for numbers."),
                    field::object("section", section, "Section.").optional(), field::objects("joints", joint, "Joints."),
                    field::choice("model", {"SR", "KL"}, "Beam model.").defaultsTo("SR"),
                    field::boolean("damped", "Damping.").defaultsTo("false"),
                    field::numbers("weights", 2, dimension::none, "Weights.").positive().optional(),
                    field::matrix("points", -1, 3, dimension::length, "Points.").optional(),
                    field::timeFunction("load", dimension::force, "Load.").defaultsTo("0"), field::any("extra", "Anything.").optional()});

Document parse(const std::string& text) { return Document::fromText(text, "scene.yaml"); }

void expectRefused(const std::string& text, std::initializer_list<const char*> parts) {
  const Document document = parse(text);
  expectError<InputError>(
      [&] {
        const Record record(document.root(), scene);
        record.integer("tendril");
        record.objects("joints");
        if (record.has("section")) record.object("section").number("radius");
        if (record.has("weights")) record.numbers("weights");
      },
      parts);
}

}

TEST(Record, ReadsWithTheExpectationsOfTheSchema) {
  const Document document = parse("tendril: 1\nparameters: {k: 2}\nsection: {radius: 5 mm}\nweights: [1, k]\nload: 2*t\nextra: [1]\n"
                                  "joints:\n  - {type: revolute, name: a, body: bar}\n  - {type: spring, name: b, stiffness: 2 kN/m}\n");
  const Record record(document.root(), scene);
  EXPECT_EQ(record.integer("tendril"), 1);
  EXPECT_EQ(record.object("section").number("radius"), 0.005);
  EXPECT_EQ(record.choice("model"), "SR");
  EXPECT_FALSE(record.boolean("damped"));
  EXPECT_EQ(record.numbers("weights"), Eigen::Vector2d(1, 2));
  EXPECT_EQ(record.timeFunction("load")(3).value, 6);
  EXPECT_FALSE(record.has("points"));
  EXPECT_TRUE(record.has("model"));
  EXPECT_TRUE(record.node("extra").isSequence());
  const std::vector<Record> joints = record.objects("joints");
  ASSERT_EQ(joints.size(), 2u);
  EXPECT_EQ(joints[0].variant(), "revolute");
  EXPECT_EQ(joints[0].vector3("axis"), Eigen::Vector3d::UnitZ());
  EXPECT_EQ(joints[0].text("name"), "a");
  const std::vector<std::string> bodies{"bar"};
  EXPECT_EQ(joints[0].reference("body", bodies), "bar");
  EXPECT_FALSE(joints[1].has("body"));
  EXPECT_EQ(joints[1].number("stiffness"), 2000);
  EXPECT_EQ(joints[1].text("name"), "b");
  EXPECT_NO_THROW(document.finish());
}

TEST(Record, RefusesKeysThatTheSchemaDoesNotHave) {
  expectRefused("tendril: 1\nmodell: SR\n",
                {"scene.yaml:2:1", "modell", "unknown key", "of a scene", "expected are tendril", "did you mean 'model'"});
  expectRefused("tendril: 1\njoints:\n - {type: spring, name: a, stiffness: 1, axis: [0, 0, 1]}\n",
                {"scene.yaml:3:42", "joints[0].axis", "does not belong to a joint with type: spring", "it belongs to type: revolute"});
  expectRefused("tendril: 1\njoints:\n - {type: revolut, name: a}\n",
                {"scene.yaml:3:11", "joints[0].type", "one of revolute, spring", "did you mean 'revolute'"});
  expectRefused("tendril: 1\njoints:\n - {name: a}\n", {"joints[0].type", "missing", "one of revolute, spring"});
}

TEST(Record, RefusesMissingAndBadValues) {
  expectRefused("model: SR\n", {"scene.yaml:1:1", "tendril", "missing", "positive whole number"});
  expectRefused("tendril: 0\n", {"scene.yaml:1:10", "out of bounds", "positive whole number"});
  expectRefused("tendril: 1\nsection: {radius: -1}\n", {"scene.yaml:2:19", "section.radius", "not positive", "in m"});
  expectRefused("tendril: 1\nsection: {radius: 1 kg}\n", {"wrong dimension"});
  expectRefused("tendril: 1\nsection: 3\n", {"scene.yaml:2:10", "expected a section"});
  expectRefused("tendril: 1\nsection: {}\n", {"section.radius", "missing", "positive number in m"});
  expectRefused("tendril: 1\nweights: [1, 0]\n", {"scene.yaml:2:10", "out of bounds", "2 positive numbers"});
  expectRefused("tendril: 1\njoints: {type: spring}\n", {"expected a sequence"});
}

TEST(Record, AskingForAnUndeclaredKeyIsAMistakeOfTheProgram) {
  const Document document = parse("tendril: 1\n");
  const Record record(document.root(), scene);
  EXPECT_THROW(record.number("mass"), std::logic_error);
  EXPECT_THROW(record.number("model"), std::logic_error);
  EXPECT_THROW(Schema("x", "", {field::any("a", ""), field::any("a", "")}), std::logic_error);
}

TEST(Schema, GivesAJsonSchemaWithEveryObjectOnce) {
  const nlohmann::json json = nlohmann::json::parse(scene.json("https://example.org/scene"));
  EXPECT_EQ(json["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(json["$id"], "https://example.org/scene");
  EXPECT_EQ(json["required"], nlohmann::json::array({"tendril"}));
  EXPECT_EQ(json["unevaluatedProperties"], false);
  EXPECT_EQ(json["properties"]["section"]["$ref"], "#/$defs/section");
  EXPECT_EQ(json["properties"]["joints"]["items"]["$ref"], "#/$defs/joint");
  EXPECT_EQ(json["properties"]["model"]["default"], "SR");
  EXPECT_EQ(json["properties"]["damped"]["default"], false);
  EXPECT_EQ(json["$defs"].size(), 2u);
  EXPECT_EQ(json["$defs"]["section"]["properties"]["radius"]["anyOf"][0]["exclusiveMinimum"], 0);
  const nlohmann::json& variants = json["$defs"]["joint"]["allOf"];
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[1]["if"]["properties"]["type"]["const"], "spring");
  EXPECT_EQ(variants[1]["then"]["required"], nlohmann::json::array({"stiffness"}));
  EXPECT_EQ(json["$defs"]["joint"]["required"], nlohmann::json::array({"type", "name"}));
}

TEST(Schema, GivesTheReferencePage) {
  const std::string page = scene.markdown();
  for (const char* part : {"## scene", "| `radius` | positive number in m | required | Radius. |", "### type: revolute",
                           "| `axis` | 3 numbers | `[0, 0, 1]` | Axis. |"})
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
}
