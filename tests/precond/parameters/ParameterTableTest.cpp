// SPDX-License-Identifier: BSD-3-Clause
#include "parameters/Ainvil_ParameterTable.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ainvil {
namespace {

using detail::ParameterNames;
using detail::Specification;

enum class Colour { Red, Green };

struct Paint {
  int layers = 2;
  int coarse_layers = 1;
  double thickness = 0.25;
  double gloss = 3;
  Colour colour = Colour::Green;
  bool dry = true;
  long bytes = 3 << 10;
  struct {
    int brushes = 4;
  } tools;
};

ParameterTable<Paint> paintTable() {
  using P = Paint;
  ParameterTable<P> table;
  return table.integer("layers", "paint: layers", &P::layers, 1, "layers of paint")
      .word("many", 999)
      .insteadIf([](const P& p) { return p.colour == Colour::Red; }, "colour",
                 [](P& p) -> int& { return p.coarse_layers; })
      .number("thickness", "paint: thickness", &P::thickness, NumberRange::NonNegative,
              "of a layer")
      .below(1)
      .details("More takes longer.")
      .number("gloss", "paint: gloss", &P::gloss, NumberRange::Positive, "how it shines")
      .above(2)
      .onlyIf([](const P& p) { return p.dry; }, "dry=yes")
      .choice("colour", "paint: colour", &P::colour,
              {{"red", Colour::Red}, {"green", Colour::Green}}, "what it looks like")
      .flag("dry", "paint: dry", &P::dry, "not wet")
      .integer("kib", "paint: size", &P::bytes, 1, "KiB")
      .inUnitsOf(1 << 10)
      .integer(
          "brushes", "paint: brushes", [](P& p) -> int& { return p.tools.brushes; }, 0, "brushes")
      .atLeastIf([](const P& p) { return !p.dry; }, 2, "dry=no")
      .needs("colour", "red", "brushes", "how many")
      .describedBy({"layers", "gloss", "colour?"})
      .describedBy("wet", [](const P& p) { return p.dry ? "" : "very"; })
      .describedBy({"kib"});
}

Paint read(const std::string& text, ParameterNames names = ParameterNames::Keys) {
  Specification specification(text, names);
  const ParameterTable<Paint> table = paintTable();
  const Paint paint = table.read(specification);
  specification.finish(table.help());
  return paint;
}

std::string refusal(const std::string& text, ParameterNames names = ParameterNames::Keys) {
  try {
    read(text, names);
  } catch (const InvalidArgument& error) {
    const std::string sentence = error.what(), begin = "preconditioner '" + text + "': ";
    EXPECT_EQ(sentence.find(begin), 0u) << sentence;
    return sentence.substr(begin.size());
  }
  return "";
}

TEST(ParameterTable, ReadsWhatIsGivenAndKeepsTheRest) {
  const Paint paint = read("paint:thickness=0.5,kib=7,brushes=0");
  EXPECT_EQ(paint.thickness, 0.5);
  EXPECT_EQ(paint.bytes, 7 << 10);
  EXPECT_EQ(paint.tools.brushes, 0);
  EXPECT_EQ(paint.layers, 2);
  EXPECT_EQ(paint.colour, Colour::Green);
  EXPECT_EQ(read("paint:layers=many").layers, 999);
  EXPECT_FALSE(read("paint:dry=no").dry);
}

TEST(ParameterTable, DependsOnOtherKeysInAnyOrder) {
  const Paint red = read("paint:layers=5,brushes=1,colour=red");
  EXPECT_EQ(red.layers, 2);
  EXPECT_EQ(red.coarse_layers, 5);
  EXPECT_EQ(refusal("paint:brushes=1,dry=no"),
            "'brushes' must be an integer from 2 to 1000000, but it is '1'");
  EXPECT_EQ(refusal("paint:gloss=4,dry=no"),
            "key 'gloss' has no effect with the other parameters given");
  EXPECT_EQ(refusal("paint:colour=red"), "colour=red needs brushes=, how many");
}

TEST(ParameterTable, NamesTheParameterAsTheUserKnowsIt) {
  const auto trilinos = ParameterNames::Trilinos;
  EXPECT_EQ(refusal("paint:layers=0"),
            "'layers' must be an integer from 1 to 1000000 or many, but it is '0'");
  EXPECT_EQ(refusal("paint:layers=0", trilinos),
            "\"paint: layers\" must be an integer from 1 to 1000000 or many, but it is '0'");
  EXPECT_EQ(refusal("paint:thickness=-1", trilinos),
            "\"paint: thickness\" must be a number of at least 0 and below 1, but it is '-1'");
  EXPECT_EQ(refusal("paint:gloss=2"), "'gloss' must be a number above 2, but it is '2'");
  EXPECT_EQ(refusal("paint:gloss=4,dry=no", trilinos),
            "key \"paint: gloss\" has no effect with the other parameters given");
  EXPECT_EQ(refusal("paint:colour=blue"), "'colour' must be one of red, green, but it is 'blue'");
  EXPECT_EQ(refusal("paint:dry=maybe", trilinos),
            "\"paint: dry\" must be one of yes, no, but it is 'maybe'");
  EXPECT_EQ(refusal("paint:size=1"), "unknown key 'size', known are layers, thickness, gloss, "
                                     "colour, dry, kib, brushes");
}

TEST(ParameterTable, ChecksWhatWasSetOtherwise) {
  const ParameterTable<Paint> table = paintTable();
  const auto refusalOf = [&](auto change) {
    Paint paint;
    change(paint);
    try {
      EXPECT_EQ(&table.checked(paint), &paint);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusalOf([](Paint&) {}), "");
  EXPECT_EQ(refusalOf([](Paint& p) { p.layers = 999; }), "");
  EXPECT_EQ(refusalOf([](Paint& p) { p.layers = 0; }),
            "'layers' must be an integer from 1 to 1000000 or many, but it is '0'");
  EXPECT_EQ(refusalOf([](Paint& p) { p.coarse_layers = 1000001; }), // whichever is meant
            "'layers' must be an integer from 1 to 1000000 or many, but it is '1000001'");
  EXPECT_EQ(refusalOf([](Paint& p) { p.thickness = 1; }),
            "'thickness' must be a number of at least 0 and below 1, but it is '1'");
  EXPECT_EQ(refusalOf([](Paint& p) { p.thickness = 0; }), "");
  EXPECT_EQ(refusalOf([](Paint& p) { p.gloss = std::nan(""); }),
            "'gloss' must be a number above 2, but it is 'nan'");
  EXPECT_EQ(refusalOf([](Paint& p) { p.dry = false, p.gloss = 2; }), // without effect, too
            "'gloss' must be a number above 2, but it is '2'");
  EXPECT_EQ(refusalOf([](Paint& p) { p.colour = static_cast<Colour>(2); }),
            "'colour' must be one of red, green, but it is '2'");
  EXPECT_EQ(refusalOf([](Paint& p) { p.dry = false, p.tools.brushes = 1; }),
            "'brushes' must be an integer from 2 to 1000000, but it is '1'");
  EXPECT_EQ(refusalOf([](Paint& p) { p.bytes = 1; }), ""); // a part of a KiB
  EXPECT_EQ(refusalOf([](Paint& p) { p.bytes = 0; }),
            "'kib' must be an integer from 1 to 1000000, but it is '0'");
}

TEST(ParameterTable, Describes) {
  const ParameterTable<Paint> table = paintTable();
  EXPECT_EQ(table.describe(Paint()), "layers: 2, gloss: 3, kib: 3");
  Paint paint;
  paint.dry = false;
  paint.colour = Colour::Red;
  paint.coarse_layers = 999;
  EXPECT_EQ(table.describe(paint), "layers: many, colour: red, wet: very, kib: 3");
  EXPECT_EQ(table.describe(paint, {"layers", "wet"}), "colour: red, kib: 3");
}

TEST(ParameterTable, TellsAllOfAParameter) {
  const std::vector<ParameterHelp> help = paintTable().help();
  ASSERT_EQ(help.size(), 7u);
  EXPECT_EQ(help[0].values(), "2|n|many");
  EXPECT_EQ(help[0].range, ">= 1");
  EXPECT_EQ(help[0].without, "colour");
  EXPECT_EQ(help[0].default_with, "1");
  EXPECT_EQ(help[1].name, "paint: thickness");
  EXPECT_EQ(help[1].range, ">= 0 and < 1");
  EXPECT_EQ(help[1].details, "More takes longer.");
  EXPECT_EQ(help[2].meaning(), "dry=yes: how it shines");
  EXPECT_EQ(help[2].range, "> 2");
  EXPECT_EQ(help[3].values(), "green|red");
  EXPECT_TRUE(help[4].is_flag);
  EXPECT_EQ(help[4].default_value, "yes");
  EXPECT_EQ(help[5].default_value, "3");
  EXPECT_EQ(help[6].range, ">= 0; 2 at least with `dry=no`");
}

/// What all components have stands there once without a word on them; what some have names these,
/// unless its condition says more.
TEST(ParameterHelp, OfComponentsIsMerged) {
  const auto parameter = [](const std::string& key, const std::string& condition = "") {
    ParameterHelp help;
    help.key = key;
    help.condition = condition;
    return help;
  };
  const std::vector<ParameterHelp> merged = detail::mergedHelp(
      {{"brush", "", {parameter("paint"), parameter("width"), parameter("hairs", "with paint")}},
       {"roller", "", {parameter("width"), parameter("paint")}},
       {"can", "", {parameter("paint"), parameter("nozzle")}}});
  std::vector<std::pair<std::string, std::string>> found;
  for (const ParameterHelp& help : merged)
    found.emplace_back(help.key, help.condition);
  EXPECT_EQ(
      found,
      (std::vector<std::pair<std::string, std::string>>{
          {"paint", ""}, {"width", "brush, roller"}, {"hairs", "with paint"}, {"nozzle", "can"}}));
}

} // namespace
} // namespace ainvil
