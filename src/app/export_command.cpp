#include "app/commands.h"
#include "tendril/io/export.h"

#include <fmt/format.h>

#include <map>
#include <memory>

namespace tendril::app {

void addExport(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("export", "Translate results for other programs: VTK for ParaView, or CSV");
  const auto options = std::make_shared<ExportOptions>();
  const std::map<std::string, ExportFormat> formats{{"vtk", ExportFormat::Vtk}, {"csv", ExportFormat::Csv}};
  command->add_option("results", options->results, "Result folder of a run")->required();
  command->add_option("--format", options->format, "vtk or csv")
      ->transform(CLI::CheckedTransformer(formats))
      ->option_text("vtk|csv (default: vtk)");
  command->add_option("--steps", options->steps, "Rows of the results: last, FROM:TO, FROM:TO:STRIDE, or 1,5,9 (default: all)");
  command->add_option("-o,--output", options->folder, "Folder to write to (default: vtk or csv in the result folder)");
  command->add_option("--sides", options->sides, "Sides of a circular section")->capture_default_str()->check(CLI::Range(3, 1000));
  command->add_option("--subdivisions", options->subdivisions, "Pieces of a beam element")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  command->callback([options, &action] {
    action = [options] {
      for (const auto& file : exportResults(*options)) fmt::print("{}\n", file.string());
      return Success;
    };
  });
}

}
