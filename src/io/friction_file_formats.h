#pragma once
#include "tendril/io/friction_file.h"

#include <string>
#include <string_view>

namespace tendril {

/// Where the rows of a problem stand in a file that knows contacts of one dimension and, apart from them, bilateral rows.
struct FrictionFileRows {
  int dimension = 3;
  int contacts = 0;
  int bilateral = 0;      ///< rows
  std::vector<int> place; ///< of each row: dimension * contact + row, or behind all contacts the bilateral rows
  std::vector<double> mu;
};
/// Throws InputError for laws that no file holds.
FrictionFileRows fileRows(const std::vector<FrictionLaw>& laws, const std::string& file);

/// The other direction: laws of a file's contacts and bilateral rows.
std::vector<FrictionLaw> fileLaws(int dimension, const std::vector<double>& mu, int bilateral);

/// W in the order of the file.
Eigen::SparseMatrix<double, Eigen::RowMajor> fileDelassus(const FrictionProblem& problem, const FrictionFileRows& rows);
Eigen::VectorXd fileVector(const Eigen::VectorXd& vector, const FrictionFileRows& rows);

FrictionFile readFrictionText(const std::string& file, std::string_view text);
std::string writeFrictionText(const std::string& file, const FrictionFile& content);
FrictionFile readFclib(const std::string& file);
/// The bytes of the file.
std::string writeFclib(const std::string& file, const FrictionFile& content, bool global);

}
