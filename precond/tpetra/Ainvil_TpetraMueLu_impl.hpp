// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraMueLu.hpp, for applications with other types than Tpetra's
/// defaults.

#include "Ainvil_TpetraListed_impl.hpp"
#include "Ainvil_TpetraMueLu.hpp"

#include <BelosSolverFactory.hpp>

#include <cctype>

namespace ainvil {
namespace tpetra {
namespace detail {

constexpr const char* smoother_sweeps = "Sweeps";
constexpr const char* smoother_damping = "Damping Factor";
constexpr const char* smoother_kept = "Ainvil preconditioner"; // no parameter of a user

inline bool isSmootherName(std::string name) {
  for (char& letter : name)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return name == "ainvil";
}

template <class Scalar, class LO, class GO, class Node>
class SmootherFactory final
    : public Belos::CustomSolverFactory<Scalar, Tpetra::MultiVector<Scalar, LO, GO, Node>,
                                        Tpetra::Operator<Scalar, LO, GO, Node>> {
  using Manager = Belos::SolverManager<Scalar, Tpetra::MultiVector<Scalar, LO, GO, Node>,
                                       Tpetra::Operator<Scalar, LO, GO, Node>>;

public:
  Teuchos::RCP<Manager> getSolver(const std::string& name,
                                  const Teuchos::RCP<Teuchos::ParameterList>& parameters) override {
    if (!isSmootherName(name))
      return Teuchos::null;
    return Teuchos::rcp(new SmootherSolver<Scalar, LO, GO, Node>(parameters));
  }
  int numSupportedSolvers() const override { return 1; }
  std::vector<std::string> supportedSolverNames() const override { return {"AINVIL"}; }
  bool isSupported(const std::string& name) const override { return isSmootherName(name); }
};

} // namespace detail

template <class Scalar, class LO, class GO, class Node>
SmootherSolver<Scalar, LO, GO, Node>::SmootherSolver(
    const Teuchos::RCP<Teuchos::ParameterList>& parameters) {
  using Entry = Teuchos::RCP<Kept>;
  setParameters(parameters);
  if (!parameters.is_null() && parameters->isType<Entry>(detail::smoother_kept))
    kept_ = parameters->get<Entry>(detail::smoother_kept);
  if (!kept_.is_null() && kept_->list == parameters.get())
    return;
  kept_ = Teuchos::rcp(new Kept{parameters.get(), {}});
  if (!parameters.is_null())
    parameters->set(detail::smoother_kept, kept_);
}

template <class Scalar, class LO, class GO, class Node>
auto SmootherSolver<Scalar, LO, GO, Node>::clone() const -> Teuchos::RCP<base_type> {
  return Teuchos::rcp(new SmootherSolver(Teuchos::parameterList(*parameters_)));
}

template <class Scalar, class LO, class GO, class Node>
auto SmootherSolver<Scalar, LO, GO, Node>::getProblem() const -> const problem_type& {
  TEUCHOS_TEST_FOR_EXCEPTION(problem_.is_null(), std::runtime_error,
                             description() << ": there is no problem: call setProblem first.");
  return *problem_;
}

template <class Scalar, class LO, class GO, class Node>
Teuchos::RCP<const Teuchos::ParameterList>
SmootherSolver<Scalar, LO, GO, Node>::getValidParameters() const {
  const auto list = Teuchos::parameterList("AINVIL");
  ListedPreconditioner<row_matrix_type>::addValidParameters(*list);
  list->set(detail::smoother_sweeps, 1, "Steps x <- x + omega M^-1 (b - A x).");
  list->set(detail::smoother_damping, 1.0, "Omega of these.");
  return list;
}

template <class Scalar, class LO, class GO, class Node>
void SmootherSolver<Scalar, LO, GO, Node>::setParameters(
    const Teuchos::RCP<Teuchos::ParameterList>& parameters) {
  const auto list = Teuchos::parameterList();
  if (!parameters.is_null())
    *list = *parameters;
  list->remove(detail::smoother_kept, false);
  list->validateParametersAndSetDefaults(*getValidParameters());
  const int sweeps = list->get<int>(detail::smoother_sweeps);
  TEUCHOS_TEST_FOR_EXCEPTION(sweeps < 1, Teuchos::Exceptions::InvalidParameterValue,
                             "ainvil: \"" << detail::smoother_sweeps
                                          << "\" must be >= 1, but it is " << sweeps << ".");
  parameters_ = list;
  sweeps_ = sweeps;
  damping_ = list->get<double>(detail::smoother_damping);
}

template <class Scalar, class LO, class GO, class Node>
void SmootherSolver<Scalar, LO, GO, Node>::setProblem(const Teuchos::RCP<problem_type>& problem) {
  const auto matrix = Teuchos::rcp_dynamic_cast<const row_matrix_type>(problem->getOperator());
  TEUCHOS_TEST_FOR_EXCEPTION(matrix.is_null(), std::runtime_error,
                             "ainvil: the operator of the problem is no Tpetra::RowMatrix, of "
                             "which a preconditioner could be made.");
  Teuchos::ParameterList of_preconditioner(*parameters_);
  of_preconditioner.remove(detail::smoother_sweeps);
  of_preconditioner.remove(detail::smoother_damping);
  kept_->preconditioner.update(matrix, of_preconditioner);
  problem_ = problem;
}

template <class Scalar, class LO, class GO, class Node>
void SmootherSolver<Scalar, LO, GO, Node>::reset(const Belos::ResetType type) {
  if ((type & Belos::Problem) != 0 && !problem_.is_null())
    setProblem(problem_);
}

template <class Scalar, class LO, class GO, class Node>
auto SmootherSolver<Scalar, LO, GO, Node>::workspace(Teuchos::RCP<multivector_type>& vectors,
                                                     const multivector_type& like)
    -> multivector_type& {
  if (vectors.is_null() || vectors->getNumVectors() != like.getNumVectors())
    vectors = Teuchos::rcp(new multivector_type(like.getMap(), like.getNumVectors(), false));
  return *vectors;
}

/// x = beta x + omega M^-1 r. Some of Ifpack2's preconditioners have no other factors than 1 and 0.
template <class Scalar, class LO, class GO, class Node>
void SmootherSolver<Scalar, LO, GO, Node>::step(const multivector_type& r, multivector_type& x,
                                                Scalar beta) {
  const auto& m = *kept_->preconditioner.get();
  if (dynamic_cast<const OwnOperator*>(&m) != nullptr) {
    m.apply(r, x, Teuchos::NO_TRANS, damping_, beta);
    return;
  }
  auto& correction = workspace(correction_, x);
  m.apply(r, correction);
  x.update(damping_, correction, beta);
}

template <class Scalar, class LO, class GO, class Node>
Belos::ReturnType SmootherSolver<Scalar, LO, GO, Node>::solve() {
  const problem_type& problem = getProblem();
  const auto b = problem.getRHS();
  const auto x = problem.getLHS();
  const bool from_zero = problem.getInitResVec() == b;
  if (from_zero)
    step(*b, *x, 0);
  for (int sweep = from_zero; sweep < sweeps_; ++sweep) {
    auto& r = workspace(residual_, *b);
    problem.getOperator()->apply(*x, r);
    r.update(1, *b, -1);
    step(r, *x, 1);
  }
  return Belos::Unconverged;
}

template <class Scalar, class LO, class GO, class Node>
std::string SmootherSolver<Scalar, LO, GO, Node>::description() const {
  const auto& m = kept_->preconditioner.get();
  return message("\"ainvil::tpetra::SmootherSolver\": {Sweeps: ", sweeps_, ", Damping: ", damping_,
                 ", Preconditioner: {", m.is_null() ? std::string() : m->description(), "}}");
}

template <class Scalar, class LO, class GO, class Node>
void registerMueLuSmoother() {
  using Vectors = Tpetra::MultiVector<Scalar, LO, GO, Node>;
  using Operator = Tpetra::Operator<Scalar, LO, GO, Node>;
  static bool done = false;
  if (done)
    return;
  Belos::SolverFactory<Scalar, Vectors, Operator>().addFactory(
      Teuchos::rcp(new detail::SmootherFactory<Scalar, LO, GO, Node>));
  done = true;
}

} // namespace tpetra
} // namespace ainvil
