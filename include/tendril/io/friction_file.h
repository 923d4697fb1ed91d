#pragma once
#include "tendril/solvers/friction_reduction.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// A friction problem with what its file tells about it.
///
/// FCLIB (HDF5; Acary, Brémond & Huber's library of frictional contact problems) holds, under /fclib_local,
///
///     u = W r + V lambda + q,   0 = V^T r + R lambda + s                          the bilateral part (V, R, s) may be missing
///
/// or, under /fclib_global, a GlobalFrictionProblem (G and b may be missing), each with spacedim (2 or 3 rows per contact, the normal
/// first), vectors/mu, info, and the groups /solution and /guesses/1, 2, ... Matrices are triplets, compressed columns or compressed rows.
/// Triplets are read with i as rows and p as columns, as they are written in practice; the other way round where only that fits.
///
/// The plain text holds: dimension, contacts, kind of storage, size; for kind 0 the size again and W, for kind 1 W by blocks; q; mu; and
/// possibly a flag, which is not used. Lines of W and blocks run down its columns. There is no bilateral part.
///
/// In both, the unilateral contacts come first; the bilateral part becomes contacts of one row each after them. What is left of a problem
/// that was written with other laws than Coulomb's of one dimension is equivalent: contacts with fewer rows than the file's dimension get
/// rows of zeros.
struct FrictionFile {
  std::string title, description, mathInfo;
  FrictionProblem local;                      ///< of a local file
  std::optional<FrictionReduction> reduction; ///< of a global file
  std::vector<Eigen::VectorXd> guesses;       ///< impulses of all rows of problem()
  Eigen::VectorXd solution;                   ///< the same; empty if there is none. Some files hold zeros there
  int velocities = 0;                         ///< of the system behind the problem; 0 if the file does not tell

  const FrictionProblem& problem() const { return reduction ? reduction->problem() : local; }
};

/// Reads any of the formats, told apart by their content. The problem is checked: see findDefect, and W may not be indefinite.
/// Errors: InputError naming the file, the dataset or line, and the remedy.
FrictionFile readFrictionFile(const std::filesystem::path& file);

struct FrictionFileOptions {
  /// Automatic: text for names in .dat or .txt, otherwise FCLIB, global where the masses are known and local where not.
  enum class Format { Automatic, Text, FclibLocal, FclibGlobal };
  Format format = Format::Automatic;
  bool overwrite = false;
};

/// Writes the problem with its guesses and its solution (with the velocities that belong to them). The file appears complete or not at all.
/// Errors: InputError if the file exists and may not be overwritten, if a law does not fit the format (rolling friction; bilateral contacts
/// in a text), or if a global problem is asked for and the masses are not known; MachineFailure of the disk.
void writeFrictionFile(const std::filesystem::path& file, const FrictionFile& content, const FrictionFileOptions& options = {});

}
