// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_StratimikosSolver.hpp.

#include "Ainvil_StratimikosSolver.hpp"
#include "Ainvil_TpetraBelos_impl.hpp"

#include <Stratimikos_DefaultLinearSolverBuilder.hpp>
#include <Teuchos_AbstractFactoryStd.hpp>
#include <Teuchos_ParameterListAcceptorDefaultBase.hpp>
#include <Teuchos_ParameterListExceptions.hpp>
#include <Thyra_LinearOpWithSolveBase.hpp>
#include <Thyra_LinearOpWithSolveFactoryBase.hpp>
#include <Thyra_PreconditionerFactoryBase.hpp>
#include <Thyra_TpetraThyraWrappers.hpp>

namespace ainvil {
namespace tpetra {
namespace detail {

constexpr const char* solver_type = "Solver Type";
constexpr const char* solver_settings = "Solver Settings";

/// A with a solver and perhaps a preconditioner, as Thyra sees them.
template <class MatrixType>
class ThyraSolver final : public Thyra::LinearOpWithSolveBase<typename MatrixType::scalar_type> {
public:
  using scalar_type = typename MatrixType::scalar_type;
  using local_ordinal_type = typename MatrixType::local_ordinal_type;
  using global_ordinal_type = typename MatrixType::global_ordinal_type;
  using node_type = typename MatrixType::node_type;
  using source_type = Thyra::LinearOpSourceBase<scalar_type>;
  using preconditioner_type = Thyra::PreconditionerBase<scalar_type>;
  using vectors_type = Thyra::MultiVectorBase<scalar_type>;
  using criteria_type = Thyra::SolveCriteria<scalar_type>;
  using solver_type = BelosSolver<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  using extraction = Thyra::TpetraOperatorVectorExtraction<scalar_type, local_ordinal_type,
                                                           global_ordinal_type, node_type>;

  Teuchos::RCP<const source_type> source;                 ///< null: not initialized
  Teuchos::RCP<const preconditioner_type> preconditioner; ///< or null
  Teuchos::RCP<preconditioner_type> own_preconditioner;   ///< the same, if made with the solver
  Teuchos::RCP<solver_type> solver;
  Thyra::ESupportSolveUse use = Thyra::SUPPORT_SOLVE_UNSPECIFIED;

  Teuchos::RCP<const Thyra::VectorSpaceBase<scalar_type>> range() const override {
    return source.is_null() ? Teuchos::null : source->getOp()->range();
  }
  Teuchos::RCP<const Thyra::VectorSpaceBase<scalar_type>> domain() const override {
    return source.is_null() ? Teuchos::null : source->getOp()->domain();
  }

protected:
  bool opSupportedImpl(Thyra::EOpTransp transp) const override {
    return Thyra::opSupported(*source->getOp(), transp);
  }
  void applyImpl(const Thyra::EOpTransp transp, const vectors_type& x,
                 const Teuchos::Ptr<vectors_type>& y, const scalar_type alpha,
                 const scalar_type beta) const override {
    Thyra::apply(*source->getOp(), transp, x, y, alpha, beta);
  }
  bool solveSupportsImpl(Thyra::EOpTransp transp) const override {
    return transp == Thyra::NOTRANS;
  }
  bool solveSupportsNewImpl(Thyra::EOpTransp transp,
                            const Teuchos::Ptr<const criteria_type> criteria) const override {
    return transp == Thyra::NOTRANS && (criteria.is_null() || supports(criteria->solveMeasureType));
  }
  bool solveSupportsSolveMeasureTypeImpl(Thyra::EOpTransp transp,
                                         const Thyra::SolveMeasureType& measure) const override {
    return transp == Thyra::NOTRANS && supports(measure);
  }

  Thyra::SolveStatus<scalar_type>
  solveImpl(const Thyra::EOpTransp transp, const vectors_type& b,
            const Teuchos::Ptr<vectors_type>& x,
            const Teuchos::Ptr<const criteria_type> criteria) const override {
    TEUCHOS_TEST_FOR_EXCEPTION(!solveSupportsNewImpl(transp, criteria), std::runtime_error,
                               "ainvil: solves are with A itself, to a residual relative to the "
                               "right-hand side or to the initial residual.");
    using Problem = typename solver_type::problem_type;
    const auto a = extraction::getConstTpetraOperator(source->getOp());
    const auto problem =
        Teuchos::rcp(new Problem(a, extraction::getTpetraMultiVector(Teuchos::rcpFromPtr(x)),
                                 extraction::getConstTpetraMultiVector(Teuchos::rcpFromRef(b))));
    if (!preconditioner.is_null())
      problem->setRightPrec(extraction::getConstTpetraOperator(operatorOf(*preconditioner)));
    const auto before = Teuchos::parameterList(*solver->getCurrentParameters());
    const auto asked = criteria.is_null() ? Teuchos::null : parametersOf(*criteria);
    if (!asked.is_null())
      solver->setParameters(asked);
    solver->setProblem(problem);
    const Belos::ReturnType outcome = solver->solve();
    if (!asked.is_null())
      solver->setParameters(before);
    Thyra::SolveStatus<scalar_type> status;
    status.solveStatus = outcome == Belos::Converged ? Thyra::SOLVE_STATUS_CONVERGED
                                                     : Thyra::SOLVE_STATUS_UNCONVERGED;
    status.achievedTol = solver->achievedTol();
    status.message = solver->result().message;
    status.extraParameters = Teuchos::parameterList();
    status.extraParameters->set("Iteration Count", solver->getNumIters());
    return status;
  }

private:
  static bool supports(const Thyra::SolveMeasureType& measure) {
    using namespace Thyra;
    return measure.useDefault() || measure(SOLVE_MEASURE_NORM_RESIDUAL, SOLVE_MEASURE_NORM_RHS) ||
           measure(SOLVE_MEASURE_NORM_RESIDUAL, SOLVE_MEASURE_NORM_INIT_RESIDUAL);
  }

  /// Whichever side it has been made for.
  static Teuchos::RCP<const Thyra::LinearOpBase<scalar_type>>
  operatorOf(const preconditioner_type& m) {
    if (!m.getUnspecifiedPrecOp().is_null())
      return m.getUnspecifiedPrecOp();
    return m.getRightPrecOp().is_null() ? m.getLeftPrecOp() : m.getRightPrecOp();
  }

  static Teuchos::RCP<Teuchos::ParameterList> parametersOf(const criteria_type& criteria) {
    using namespace Thyra;
    const auto list = Teuchos::parameterList();
    if (!criteria.solveMeasureType.useDefault()) {
      const bool of_rhs =
          criteria.solveMeasureType(SOLVE_MEASURE_NORM_RESIDUAL, SOLVE_MEASURE_NORM_RHS);
      list->set(belos_scaling, std::string(of_rhs ? "Norm of RHS" : "Norm of Initial Residual"));
      if (criteria.requestedTol != criteria_type::unspecifiedTolerance())
        list->set(belos_tolerance, double(criteria.requestedTol));
    }
    if (!criteria.extraParameters.is_null() &&
        criteria.extraParameters->template isType<int>(belos_iterations))
      list->set(belos_iterations, criteria.extraParameters->template get<int>(belos_iterations));
    return list;
  }
};

template <class MatrixType>
class ThyraSolverFactory final
    : public Thyra::LinearOpWithSolveFactoryBase<typename MatrixType::scalar_type>,
      public Teuchos::ParameterListAcceptorDefaultBase {
public:
  using own_type = ThyraSolver<MatrixType>;
  using scalar_type = typename own_type::scalar_type;
  using source_type = typename own_type::source_type;
  using preconditioner_type = typename own_type::preconditioner_type;
  using solver_base_type = Thyra::LinearOpWithSolveBase<scalar_type>;
  using preconditioner_factory_type = Thyra::PreconditionerFactoryBase<scalar_type>;

  void setParameterList(const Teuchos::RCP<Teuchos::ParameterList>& list) override {
    TEUCHOS_TEST_FOR_EXCEPT(list.is_null());
    list->validateParametersAndSetDefaults(*getValidParameters());
    makeSolver(*list); // tells what is wrong with them
    this->setMyParamList(list);
  }
  Teuchos::RCP<const Teuchos::ParameterList> getValidParameters() const override {
    const auto list = Teuchos::parameterList("Ainvil");
    list->set(solver_type, std::string("GMRES"), "GMRES, FGMRES, CG or BICGSTAB.");
    list->sublist(solver_settings, false, "Its parameters.").disableRecursiveValidation();
    return list;
  }

  bool acceptsPreconditionerFactory() const override { return true; }
  void setPreconditionerFactory(const Teuchos::RCP<preconditioner_factory_type>& factory,
                                const std::string& name) override {
    factory_ = factory;
    factory_name_ = name;
  }
  Teuchos::RCP<preconditioner_factory_type> getPreconditionerFactory() const override {
    return factory_;
  }
  void unsetPreconditionerFactory(Teuchos::RCP<preconditioner_factory_type>* factory,
                                  std::string* name) override {
    if (factory != nullptr)
      *factory = factory_;
    if (name != nullptr)
      *name = factory_name_;
    factory_ = Teuchos::null;
    factory_name_.clear();
  }

  bool isCompatible(const source_type& source) const override {
    using Wrapper =
        Thyra::TpetraLinearOp<scalar_type, typename own_type::local_ordinal_type,
                              typename own_type::global_ordinal_type, typename own_type::node_type>;
    return !Teuchos::rcp_dynamic_cast<const Wrapper>(source.getOp()).is_null();
  }
  Teuchos::RCP<solver_base_type> createOp() const override { return Teuchos::rcp(new own_type); }

  void initializeOp(const Teuchos::RCP<const source_type>& source, solver_base_type* solver,
                    const Thyra::ESupportSolveUse use) const override {
    own_type& own = take(source, solver, use);
    if (factory_.is_null()) {
      own.preconditioner = Teuchos::null;
      return;
    }
    if (own.own_preconditioner.is_null())
      own.own_preconditioner = factory_->createPrec();
    factory_->initializePrec(source, own.own_preconditioner.get(), use);
    own.preconditioner = own.own_preconditioner;
  }
  void initializeAndReuseOp(const Teuchos::RCP<const source_type>& source,
                            solver_base_type* solver) const override {
    take(source, solver, asOwn(solver).use);
  }
  bool supportsPreconditionerInputType(const Thyra::EPreconditionerInputType type) const override {
    return type == Thyra::PRECONDITIONER_INPUT_TYPE_AS_OPERATOR || !factory_.is_null();
  }
  void initializePreconditionedOp(const Teuchos::RCP<const source_type>& source,
                                  const Teuchos::RCP<const preconditioner_type>& preconditioner,
                                  solver_base_type* solver,
                                  const Thyra::ESupportSolveUse use) const override {
    take(source, solver, use).preconditioner = preconditioner;
  }
  void initializeApproxPreconditionedOp(const Teuchos::RCP<const source_type>& source,
                                        const Teuchos::RCP<const source_type>& approximate,
                                        solver_base_type* solver,
                                        const Thyra::ESupportSolveUse use) const override {
    TEUCHOS_TEST_FOR_EXCEPTION(factory_.is_null(), std::runtime_error,
                               "ainvil: there is no preconditioner to be made of the approximate "
                               "matrix: choose a \"Preconditioner Type\".");
    own_type& own = take(source, solver, use);
    if (own.own_preconditioner.is_null())
      own.own_preconditioner = factory_->createPrec();
    factory_->initializePrec(approximate, own.own_preconditioner.get(), use);
    own.preconditioner = own.own_preconditioner;
  }
  void uninitializeOp(solver_base_type* solver, Teuchos::RCP<const source_type>* source,
                      Teuchos::RCP<const preconditioner_type>* preconditioner,
                      Teuchos::RCP<const source_type>* approximate,
                      Thyra::ESupportSolveUse* use) const override {
    own_type& own = asOwn(solver);
    const bool is_own = own.preconditioner == own.own_preconditioner;
    if (source != nullptr)
      *source = own.source;
    if (preconditioner != nullptr)
      *preconditioner = is_own ? Teuchos::null : own.preconditioner;
    if (approximate != nullptr)
      *approximate = Teuchos::null;
    if (use != nullptr)
      *use = own.use;
    own.source = Teuchos::null;
    own.preconditioner = Teuchos::null;
  }

  std::string description() const override { return "ainvil::tpetra::ThyraSolverFactory"; }

private:
  static own_type& asOwn(solver_base_type* solver) { return Teuchos::dyn_cast<own_type>(*solver); }

  static Teuchos::RCP<typename own_type::solver_type>
  makeSolver(const Teuchos::ParameterList& list) {
    const std::string type = list.get<std::string>(solver_type);
    const std::string method = methodOfBelosName("ainvil " + type);
    if (method.empty())
      throw Teuchos::Exceptions::InvalidParameterValue(
          message("\"", solver_type, "\" is \"", type,
                  "\": take \"GMRES\", \"FGMRES\", \"CG\" or \"BICGSTAB\""));
    return Teuchos::rcp(new typename own_type::solver_type(
        method, Teuchos::parameterList(list.sublist(solver_settings))));
  }

  own_type& take(const Teuchos::RCP<const source_type>& source, solver_base_type* solver,
                 Thyra::ESupportSolveUse use) const {
    TEUCHOS_TEST_FOR_EXCEPTION(!isCompatible(*source), std::runtime_error,
                               "ainvil: the operator " << source->getOp()->description()
                                                       << " does not wrap a Tpetra::Operator.");
    own_type& own = asOwn(solver);
    own.source = source;
    own.use = use;
    const auto list = this->getMyParamList();
    own.solver = makeSolver(list.is_null() ? *getValidParameters() : *list);
    return own;
  }

  Teuchos::RCP<preconditioner_factory_type> factory_;
  std::string factory_name_;
};

} // namespace detail

template <class MatrixType>
void enableStratimikosSolver(Stratimikos::DefaultLinearSolverBuilder& builder) {
  builder.setLinearSolveStrategyFactory(
      Teuchos::abstractFactoryStd<Thyra::LinearOpWithSolveFactoryBase<double>,
                                  detail::ThyraSolverFactory<MatrixType>>(),
      "Ainvil");
}

} // namespace tpetra
} // namespace ainvil
