// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_Stratimikos.hpp.

#include "Ainvil_Stratimikos.hpp"
#include "Ainvil_TpetraFactory.hpp"

#include <Stratimikos_DefaultLinearSolverBuilder.hpp>
#include <Teuchos_AbstractFactoryStd.hpp>
#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_ParameterListAcceptorDefaultBase.hpp>
#include <Teuchos_ParameterListExceptions.hpp>
#include <Thyra_DefaultPreconditioner.hpp>
#include <Thyra_PreconditionerFactoryBase.hpp>
#include <Thyra_TpetraThyraWrappers.hpp>

namespace ainvil {
namespace tpetra {
namespace detail {

constexpr const char* prec_type = "Prec Type";
constexpr const char* prec_settings = "Prec Settings";
constexpr const char* allow_varying = "Allow Varying";

/// What create() makes, as Thyra sees it, and what it was made from.
template <class MatrixType>
class ThyraPreconditioner final
    : public Thyra::DefaultPreconditioner<typename MatrixType::scalar_type> {
public:
  using scalar_type = typename MatrixType::scalar_type;
  using source_type = Thyra::LinearOpSourceBase<scalar_type>;

  /// For the matrix as it is now.
  void update(const Teuchos::RCP<const MatrixType>& matrix,
              const Teuchos::ParameterList& parameters) {
    this->uninitialize();
    if (inner_.is_null() || !Teuchos::haveSameValues(parameters, parameters_) || !take(matrix)) {
      const auto made = create(parameters.get<std::string>(prec_type), matrix);
      made->setParameters(parameters.sublist(prec_settings));
      requireFixed(*made, parameters);
      inner_ = made;
      parameters_ = parameters;
    }
    if (!inner_->isInitialized() || grown(*matrix)) {
      inner_->initialize();
      num_entries_ = compat::numLocalEntries(*matrix);
    }
    inner_->compute();
    const Teuchos::RCP<const operator_type> tpetra = inner_;
    this->initializeUnspecified(Thyra::createConstLinearOp(tpetra));
  }

  Teuchos::RCP<const source_type> source; ///< of the last update, until it is taken back
  Thyra::ESupportSolveUse use = Thyra::SUPPORT_SOLVE_UNSPECIFIED;

private:
  using local_ordinal_type = typename MatrixType::local_ordinal_type;
  using global_ordinal_type = typename MatrixType::global_ordinal_type;
  using node_type = typename MatrixType::node_type;
  using operator_type =
      Tpetra::Operator<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  using preconditioner_type =
      Ifpack2::Preconditioner<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;

  /// False if the preconditioner there is cannot change its matrix.
  bool take(const Teuchos::RCP<const MatrixType>& matrix) {
    if (inner_->getMatrix() == matrix)
      return true;
    auto* changing = dynamic_cast<Ifpack2::Details::CanChangeMatrix<MatrixType>*>(inner_.get());
    if (changing != nullptr)
      changing->setMatrix(matrix);
    return changing != nullptr;
  }

  /// The solver is not known here, so that a preconditioner which only some solvers may use has to
  /// be allowed by name.
  static void requireFixed(const preconditioner_type& m, const Teuchos::ParameterList& parameters) {
    using Rows = Tpetra::RowMatrix<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
    const auto* own = dynamic_cast<const Preconditioner<Rows>*>(&m);
    TEUCHOS_TEST_FOR_EXCEPTION(
        own != nullptr && !own->isFixed() && !parameters.get<bool>(allow_varying),
        Teuchos::Exceptions::InvalidParameterValue,
        "ainvil: the preconditioner \""
            << parameters.get<std::string>(prec_type)
            << "\" is another linear map at every application, with which plain GMRES and CG go "
               "wrong: take a flexible solver (Belos: \"Flexible Gmres\" true) and set \""
            << allow_varying << "\" to true, or \"trisolver: type\" to \"jacobi\".");
  }

  /// True if any rank has other entries than when the preconditioner was initialized.
  bool grown(const MatrixType& matrix) const {
    const int here = compat::numLocalEntries(matrix) != num_entries_;
    int any = 0;
    Teuchos::reduceAll(*matrix.getComm(), Teuchos::REDUCE_MAX, here, Teuchos::outArg(any));
    return any != 0;
  }

  Teuchos::RCP<preconditioner_type> inner_;
  Teuchos::ParameterList parameters_;
  size_t num_entries_ = 0;
};

template <class MatrixType>
class ThyraPreconditionerFactory final
    : public Thyra::PreconditionerFactoryBase<typename MatrixType::scalar_type>,
      public Teuchos::ParameterListAcceptorDefaultBase {
public:
  using scalar_type = typename MatrixType::scalar_type;
  using source_type = Thyra::LinearOpSourceBase<scalar_type>;
  using preconditioner_type = Thyra::PreconditionerBase<scalar_type>;

  void setParameterList(const Teuchos::RCP<Teuchos::ParameterList>& list) override {
    TEUCHOS_TEST_FOR_EXCEPT(list.is_null());
    list->validateParametersAndSetDefaults(*getValidParameters());
    this->setMyParamList(list);
  }

  Teuchos::RCP<const Teuchos::ParameterList> getValidParameters() const override {
    const auto list = Teuchos::parameterList("Ainvil");
    list->set(prec_type, std::string("ilu"), "Name of a preconditioner of Ainvil or Ifpack2.");
    list->sublist(prec_settings, false, "Its parameters.").disableRecursiveValidation();
    list->set(allow_varying, false,
              "The solver takes a preconditioner that is not the same at every application.");
    return list;
  }

  bool isCompatible(const source_type& source) const override {
    return !matrixOf(source).is_null();
  }

  Teuchos::RCP<preconditioner_type> createPrec() const override {
    return Teuchos::rcp(new ThyraPreconditioner<MatrixType>);
  }

  void initializePrec(const Teuchos::RCP<const source_type>& source,
                      preconditioner_type* preconditioner,
                      Thyra::ESupportSolveUse use) const override {
    const auto matrix = matrixOf(*source);
    TEUCHOS_TEST_FOR_EXCEPTION(matrix.is_null(), std::runtime_error,
                               "ainvil: the operator "
                                   << source->getOp()->description()
                                   << " does not wrap a Tpetra::RowMatrix of double.");
    const auto list = this->getMyParamList();
    auto& own = asOwn(preconditioner);
    own.update(matrix, list.is_null() ? *getValidParameters() : *list);
    own.source = source;
    own.use = use;
  }

  void uninitializePrec(preconditioner_type* preconditioner,
                        Teuchos::RCP<const source_type>* source,
                        Thyra::ESupportSolveUse* use) const override {
    auto& own = asOwn(preconditioner);
    if (source != nullptr)
      *source = own.source;
    if (use != nullptr)
      *use = own.use;
    own.source = Teuchos::null;
    own.uninitialize();
  }

  std::string description() const override { return "ainvil::tpetra::ThyraPreconditionerFactory"; }

private:
  static ThyraPreconditioner<MatrixType>& asOwn(preconditioner_type* preconditioner) {
    return Teuchos::dyn_cast<ThyraPreconditioner<MatrixType>>(*preconditioner);
  }

  /// Null if there is none.
  static Teuchos::RCP<const MatrixType> matrixOf(const source_type& source) {
    using Wrapper = Thyra::TpetraLinearOp<scalar_type, typename MatrixType::local_ordinal_type,
                                          typename MatrixType::global_ordinal_type,
                                          typename MatrixType::node_type>;
    const auto wrapper = Teuchos::rcp_dynamic_cast<const Wrapper>(source.getOp());
    if (wrapper.is_null())
      return Teuchos::null;
    return Teuchos::rcp_dynamic_cast<const MatrixType>(wrapper->getConstTpetraOperator());
  }
};

} // namespace detail

template <class MatrixType>
void enableStratimikos(Stratimikos::DefaultLinearSolverBuilder& builder) {
  builder.setPreconditioningStrategyFactory(
      Teuchos::abstractFactoryStd<Thyra::PreconditionerFactoryBase<double>,
                                  detail::ThyraPreconditionerFactory<MatrixType>>(),
      "Ainvil");
}

} // namespace tpetra
} // namespace ainvil
