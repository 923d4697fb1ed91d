#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace tendril {

enum class ExportFormat { Vtk, Csv };

struct ExportOptions {
  /// Result folder of a run.
  std::filesystem::path results;
  ExportFormat format = ExportFormat::Vtk;
  /// Where to write; empty: the folder vtk or csv in the result folder.
  std::filesystem::path folder;
  /// Rows of the results: "" (all), "last", "FROM:TO", "FROM:TO:STRIDE" (ends included, counted from 0), or "1,5,9".
  std::string steps;
  int sides = 16;       ///< of a circular section
  int subdivisions = 4; ///< of an element along its helicoidal centreline
};

/// Translates the results of a run into files for other programs; returns the files to open first.
///
/// Vtk (ParaView): a collection NAME.pvd over the time and a file NAME_ROW.vtp (XML PolyData, values in base64) per row, for each of
///   beams        surface: the true section swept along the helicoidal elements; per cell the force [N] and moment [N m] of the section and
///                strain, curvature [1/m] against the reference shape, in the section frame; beam number and reference arclength [m]
///   centrelines  polylines, one per element; per point the section frame d1, d2, d3 (inertial frame) and the arclength; cells as above
///   shells       middle surfaces of the shells; per point their normal, per cell the shell's number
///   bodies       shapes of the rigid bodies; per cell the body's number
///   markers      points of the named markers with their frame d1, d2, d3
///   joints       points with `force` [N] and `moment` [N m] on the part of the second marker, in the inertial frame
/// A general section, which has no outline, is drawn as a circle with a fiftieth of the beam's length as diameter.
///
/// Csv: one file per output (header with the unit; one line per row of the results, or the final array) and centreline_BEAM.csv with time,
/// node, arclength and position.
///
/// Throws InputError if the folder holds no results or the rows do not exist, MachineFailure if a file cannot be written.
std::vector<std::filesystem::path> exportResults(const ExportOptions& options);

}
