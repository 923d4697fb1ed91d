#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Scenes from the files of other programs: URDF and MJCF mechanisms, meshes and centrelines. SI units unless `unit` says otherwise.
namespace tendril {

/// Whether the root link of a URDF file is held. Automatic: where it has no mass, or is called `world`.
enum class ImportedBase { Automatic, Fixed, Free };

struct ImportOptions {
  std::filesystem::path file;
  std::filesystem::path scene;      ///< where the scene will stand; meshes are copied to a folder beside it
  double duration = 1;              ///< of the analysis in the scene [s]
  std::optional<double> step{};     ///< [s]; that of the file, or 1e-3
  double unit = 1;                  ///< metres that the number 1 stands for: meshes and centrelines
  std::optional<double> density{};  ///< [kg/m^3]: meshes and centrelines
  std::optional<double> radius{};   ///< of the round section [m]: centrelines
  std::optional<double> young{};    ///< Young's modulus [Pa]: centrelines
  std::optional<double> poisson{};  ///< Poisson's ratio: centrelines
  bool isSmooth = false;            ///< a spline through the points instead of straight legs: centrelines
  std::optional<double> friction{}; ///< between all bodies; nothing touches without it: URDF
  ImportedBase base{};              ///< URDF
};

/// A sentence about a place in the file that was read; line 0 means the whole.
struct ImportRemark {
  int line = 0;
  std::string text;
};

/// A mesh that the scene refers to: a copy of a file, or a text of its own.
struct ImportedMesh {
  std::filesystem::path source; ///< what is copied; empty: `text`
  std::string text;             ///< Wavefront OBJ
  std::string target;           ///< relative to the folder of the scene
};

struct Import {
  std::string scene;                 ///< YAML, remarks and losses in its head
  std::vector<ImportRemark> losses;  ///< what the file says and the scene does not, or what the scene needs and the file does not say
  std::vector<ImportRemark> remarks; ///< what else the reader should know: names that changed, numbers that look like slips
  std::vector<ImportedMesh> meshes;
};

/// Reads a file (.urdf, .xml or .mjcf, .stl or .obj, .csv) and writes the scene that says the same. Throws InputError with file and line
/// where the file contradicts itself or describes what no scene can be, such as a moving body without mass.
Import importFile(const ImportOptions& options);

/// Writes the scene and its meshes. Throws InputError if there is a scene already and `replaces` is false, MachineFailure if the disk
/// fails.
void writeImport(const Import& import, const std::filesystem::path& scene, bool replaces = false);

}
