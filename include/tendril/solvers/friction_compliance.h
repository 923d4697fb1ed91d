#pragma once
#include "tendril/solvers/friction_problem.h"

namespace tendril {

/// W += diag(compliance), one number per row: contacts that give way by themselves. W is then given by its blocks. Returns for each row
/// what W had on its diagonal before.
Eigen::VectorXd addCompliance(FrictionProblem& problem, const Eigen::VectorXd& compliance);

}
