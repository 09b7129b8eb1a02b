// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraBelos.hpp, for applications with other types than Tpetra's
/// defaults.

#include "Ainvil_TpetraBelos.hpp"
#include "Ainvil_TpetraSolver_impl.hpp"

#include <BelosSolverFactory.hpp>
#include <Teuchos_ParameterListExceptions.hpp>

#include <cctype>
#include <cmath>

namespace ainvil {
namespace tpetra {
namespace detail {

constexpr const char* belos_tolerance = "Convergence Tolerance";
constexpr const char* belos_iterations = "Maximum Iterations";
constexpr const char* belos_blocks = "Num Blocks";
constexpr const char* belos_restarts = "Maximum Restarts";
constexpr const char* belos_scaling = "Implicit Residual Scaling";
constexpr const char* belos_absolute = "Absolute Tolerance";
constexpr const char* belos_time = "Time Limit";
constexpr const char* belos_weights = "Residual Weights";
constexpr const char* belos_block_size = "Matrix Block Size";
constexpr const char* belos_varying = "Allow Varying";
constexpr const char* belos_single = "Use Single Reduction";
constexpr const char* belos_pipelined = "Pipelined";

/// Of Belos' GMRES, CG and BiCGStab, and without effect here.
inline const std::vector<const char*>& ignoredParameters() {
  static const std::vector<const char*> names = {"Adaptive Block Size",
                                                 "Assert Positive Definiteness",
                                                 "Block Size",
                                                 "Deflation Quorum",
                                                 "Estimate Condition Number",
                                                 "Explicit Residual Scaling",
                                                 "Explicit Residual Test",
                                                 "Flexible Gmres",
                                                 "Fold Convergence Detection Into Allreduce",
                                                 "Keep Hessenberg",
                                                 "Orthogonalization",
                                                 "Orthogonalization Constant",
                                                 "Output Frequency",
                                                 "Output Stream",
                                                 "Output Style",
                                                 "Residual Scaling",
                                                 "Show Maximum Residual Norm Only",
                                                 "Timer Label",
                                                 "User Defined Residual Scaling",
                                                 "Verbosity"};
  return names;
}

inline ResidualScale scaleOf(const std::string& name) {
  if (name == "Norm of RHS")
    return ResidualScale::Rhs;
  if (name == "Norm of Initial Residual" || name == "Norm of Preconditioned Initial Residual")
    return ResidualScale::InitialResidual;
  if (name == "None")
    return ResidualScale::One;
  throw Teuchos::Exceptions::InvalidParameterValue(
      message("\"", belos_scaling, "\" is \"", name,
              "\": take \"Norm of Initial Residual\", \"Norm of RHS\" or \"None\""));
}

/// "AINVIL FGMRES" is "fgmres"; empty if it is no name of ours.
inline std::string methodOfBelosName(std::string name) {
  for (char& letter : name)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  for (const char* method : {"gmres", "fgmres", "cg", "bicgstab"})
    if (name == std::string("ainvil ") + method)
      return method;
  return "";
}

template <class Scalar, class LO, class GO, class Node>
class BelosSolverFactory final
    : public Belos::CustomSolverFactory<Scalar, Tpetra::MultiVector<Scalar, LO, GO, Node>,
                                        Tpetra::Operator<Scalar, LO, GO, Node>> {
  using Manager = Belos::SolverManager<Scalar, Tpetra::MultiVector<Scalar, LO, GO, Node>,
                                       Tpetra::Operator<Scalar, LO, GO, Node>>;

public:
  Teuchos::RCP<Manager> getSolver(const std::string& name,
                                  const Teuchos::RCP<Teuchos::ParameterList>& parameters) override {
    const std::string method = methodOfBelosName(name);
    if (method.empty())
      return Teuchos::null;
    return Teuchos::rcp(new BelosSolver<Scalar, LO, GO, Node>(method, parameters));
  }
  int numSupportedSolvers() const override {
    return static_cast<int>(supportedSolverNames().size());
  }
  std::vector<std::string> supportedSolverNames() const override {
    return {"AINVIL GMRES", "AINVIL FGMRES", "AINVIL CG", "AINVIL BICGSTAB"};
  }
  bool isSupported(const std::string& name) const override {
    return !methodOfBelosName(name).empty();
  }
};

} // namespace detail

template <class Scalar, class LO, class GO, class Node>
BelosSolver<Scalar, LO, GO, Node>::BelosSolver(
    std::string method, const Teuchos::RCP<Teuchos::ParameterList>& parameters)
    : method_(std::move(method)), given_(Teuchos::parameterList()) {
  setParameters(parameters);
}

template <class Scalar, class LO, class GO, class Node>
auto BelosSolver<Scalar, LO, GO, Node>::clone() const -> Teuchos::RCP<base_type> {
  return Teuchos::rcp(new BelosSolver(method_, Teuchos::parameterList(*given_)));
}

template <class Scalar, class LO, class GO, class Node>
auto BelosSolver<Scalar, LO, GO, Node>::getProblem() const -> const problem_type& {
  TEUCHOS_TEST_FOR_EXCEPTION(problem_.is_null(), std::runtime_error,
                             description() << ": there is no problem: call setProblem first.");
  return *problem_;
}

template <class Scalar, class LO, class GO, class Node>
Teuchos::RCP<const Teuchos::ParameterList>
BelosSolver<Scalar, LO, GO, Node>::getValidParameters() const {
  const SolverOptions defaults;
  const auto list = Teuchos::parameterList("AINVIL");
  list->set(detail::belos_tolerance, defaults.tolerance,
            "Relative residual at which the recomputed residual b - A x ends the solve.");
  list->set(detail::belos_iterations, defaults.max_iterations, "Most iterations of a solve.");
  list->set(detail::belos_blocks, defaults.restart, "GMRES, FGMRES: restart length.");
  list->set(detail::belos_restarts, -1,
            "GMRES, FGMRES: most restarts; -1: as many as \"Maximum Iterations\" allows.");
  list->set(detail::belos_scaling, std::string("Norm of Initial Residual"),
            "What the residual is relative to; or \"Norm of RHS\" or \"None\".");
  list->set(detail::belos_absolute, defaults.absolute_tolerance,
            "Residual, not relative to anything, that ends the solve too; 0: none does.");
  list->set(detail::belos_time, defaults.time_limit,
            "Seconds after which a solve, of all right-hand sides together, ends; 0: no limit.");
  list->set(
      detail::belos_weights, Weights(),
      "A vector of positive weights w: residuals are judged by ||diag(w) r||; null: by ||r||.");
  list->set(detail::belos_block_size, 0,
            "Products in Ainvil's block format, of blocks of this size; 0: those of the operator.");
  list->set(detail::belos_varying, false,
            "GMRES and CG take a preconditioner that varies between applications.");
  list->set(
      detail::belos_single, false,
      "CG and BiCGStab: fewest reductions an iteration, one and two, the same up to rounding.");
  list->set(detail::belos_pipelined, false,
            "CG: one reduction an iteration, which travels during the products.");
  for (const char* name : detail::ignoredParameters())
    list->set(name, std::string(), "Of Belos' solvers; without effect.");
  return list;
}

template <class Scalar, class LO, class GO, class Node>
Teuchos::RCP<const Teuchos::ParameterList>
BelosSolver<Scalar, LO, GO, Node>::getCurrentParameters() const {
  const auto list = Teuchos::parameterList(*getValidParameters());
  list->setParameters(*given_);
  return list;
}

template <class Scalar, class LO, class GO, class Node>
SolverOptions BelosSolver<Scalar, LO, GO, Node>::options() const {
  const Teuchos::RCP<const Teuchos::ParameterList> list = getCurrentParameters();
  const auto whole = [&](const char* name, int least) {
    const int value = list->get<int>(name);
    if (value < least)
      throw Teuchos::Exceptions::InvalidParameterValue(
          message("\"", name, "\" must be >= ", least, ", but it is ", value));
    return value;
  };
  const auto number = [&](const char* name) {
    const double value = list->get<double>(name);
    if (!(value >= 0) || !std::isfinite(value))
      throw Teuchos::Exceptions::InvalidParameterValue(
          message("\"", name, "\" must be a finite number >= 0, but it is ", value));
    return value;
  };
  SolverOptions options;
  options.tolerance = number(detail::belos_tolerance);
  options.absolute_tolerance = number(detail::belos_absolute);
  options.time_limit = number(detail::belos_time);
  list->get<Weights>(detail::belos_weights);
  options.max_iterations = whole(detail::belos_iterations, 0);
  options.restart = whole(detail::belos_blocks, 1);
  const int restarts = whole(detail::belos_restarts, -1);
  if (restarts >= 0 && (method_ == "gmres" || method_ == "fgmres"))
    options.max_iterations = static_cast<int>(
        std::min<long long>(options.max_iterations, (restarts + 1LL) * options.restart));
  options.relative_to = detail::scaleOf(list->get<std::string>(detail::belos_scaling));
  options.allow_varying = list->get<bool>(detail::belos_varying);
  options.reductions = list->get<bool>(detail::belos_pipelined) ? Reductions::Pipelined
                       : list->get<bool>(detail::belos_single)  ? Reductions::Fewest
                                                                : Reductions::Usual;
  whole(detail::belos_block_size, 0);
  return options;
}

template <class Scalar, class LO, class GO, class Node>
void BelosSolver<Scalar, LO, GO, Node>::setParameters(
    const Teuchos::RCP<Teuchos::ParameterList>& parameters) {
  if (parameters.is_null())
    return;
  const auto valid = getValidParameters();
  for (auto entry = parameters->begin(); entry != parameters->end(); ++entry) {
    const std::string& name = parameters->name(entry);
    if (!valid->isParameter(name))
      throw Teuchos::Exceptions::InvalidParameterName(
          message(description(), ": there is no parameter \"", name,
                  "\", neither here nor in Belos' GMRES, CG and BiCGStab"));
  }
  const auto before = given_;
  given_ = Teuchos::parameterList(*before);
  given_->setParameters(*parameters);
  try {
    options();
  } catch (...) { // bad ones change nothing
    given_ = before;
    throw;
  }
  solver_.reset();
  if (getCurrentParameters()->template get<int>(detail::belos_block_size) == 0)
    blocks_ = Teuchos::null;
}

template <class Scalar, class LO, class GO, class Node>
void BelosSolver<Scalar, LO, GO, Node>::reset(const Belos::ResetType type) {
  if ((type & Belos::Problem) == 0)
    return;
  solver_.reset();
  blocks_ = Teuchos::null;
}

/// What A is multiplied by.
template <class Scalar, class LO, class GO, class Node>
auto BelosSolver<Scalar, LO, GO, Node>::product(const Teuchos::RCP<const operator_type>& a)
    -> const operator_type& {
  const int block_size = getCurrentParameters()->template get<int>(detail::belos_block_size);
  if (block_size == 0)
    return *a;
  const auto matrix = Teuchos::rcp_dynamic_cast<const RowMatrix>(a);
  if (matrix.is_null())
    throw InvalidArgument(message(description(), ": \"", detail::belos_block_size,
                                  "\" needs a CrsMatrix or BlockCrsMatrix"));
  const bool same = !blocks_.is_null() && blocks_->matrix() == matrix;
  if (same)
    blocks_->update();
  else
    blocks_ = Teuchos::rcp(new BlockOperator<RowMatrix>(matrix, block_size));
  return *blocks_;
}

template <class Scalar, class LO, class GO, class Node>
Belos::ReturnType BelosSolver<Scalar, LO, GO, Node>::solve() {
  const problem_type& problem = getProblem();
  const auto b = problem.getRHS();
  const auto x = problem.getLHS();
  TEUCHOS_TEST_FOR_EXCEPTION(
      problem.getOperator().is_null() || b.is_null() || x.is_null(), std::runtime_error,
      description() << ": the problem lacks its operator, right-hand side or left-hand side.");
  TEUCHOS_TEST_FOR_EXCEPTION(
      !problem.getLeftPrec().is_null() && !problem.getRightPrec().is_null(), std::runtime_error,
      description() << ": the problem has a left and a right preconditioner: give one.");
  const auto m = problem.getRightPrec().is_null() ? problem.getLeftPrec() : problem.getRightPrec();
  const operator_type& a = product(problem.getOperator());
  if (solver_ == nullptr) {
    solver_ = std::make_unique<Solver<Scalar, LO, GO, Node>>(method_, options());
    solver_->setWeights(getCurrentParameters()->template get<Weights>(detail::belos_weights));
  }
  iterations_ = 0;
  achieved_ = 0;
  result_ = {};
  const std::vector<SolveResult> results = solver_->solve(a, m.getRawPtr(), *b, *x);
  const auto isWorse = [](const SolveResult& one, const SolveResult& other) {
    const bool fails = one.status != SolveStatus::Converged;
    if (fails != (other.status != SolveStatus::Converged))
      return fails;
    // NaN is worse than any number.
    return !std::isnan(other.true_rel_residual) &&
           !(one.true_rel_residual <= other.true_rel_residual);
  };
  for (const SolveResult& of_column : results) {
    iterations_ += of_column.iterations;
    if (!(of_column.true_rel_residual <= achieved_) && !std::isnan(achieved_))
      achieved_ = of_column.true_rel_residual;
    if (&of_column == &results.front() || isWorse(of_column, result_))
      result_ = of_column;
  }
  return result_.status == SolveStatus::Converged ? Belos::Converged : Belos::Unconverged;
}

template <class Scalar, class LO, class GO, class Node>
std::string BelosSolver<Scalar, LO, GO, Node>::description() const {
  return "\"ainvil::tpetra::BelosSolver\": {Method: " + method_ + "}";
}

template <class Scalar, class LO, class GO, class Node>
void registerBelosSolvers() {
  using Vectors = Tpetra::MultiVector<Scalar, LO, GO, Node>;
  using Operator = Tpetra::Operator<Scalar, LO, GO, Node>;
  static bool done = false;
  if (done)
    return;
  Belos::SolverFactory<Scalar, Vectors, Operator>().addFactory(
      Teuchos::rcp(new detail::BelosSolverFactory<Scalar, LO, GO, Node>));
  done = true;
}

} // namespace tpetra
} // namespace ainvil
