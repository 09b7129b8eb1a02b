// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_Stratimikos.hpp.

#include "Ainvil_Stratimikos.hpp"
#include "Ainvil_TpetraListed_impl.hpp"

#include <Stratimikos_DefaultLinearSolverBuilder.hpp>
#include <Teuchos_AbstractFactoryStd.hpp>
#include <Teuchos_ParameterListAcceptorDefaultBase.hpp>
#include <Thyra_DefaultPreconditioner.hpp>
#include <Thyra_PreconditionerFactoryBase.hpp>
#include <Thyra_TpetraThyraWrappers.hpp>

namespace ainvil {
namespace tpetra {
namespace detail {

/// What create() makes, as Thyra sees it.
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
    inner_.update(matrix, parameters);
    const Teuchos::RCP<const operator_type> tpetra = inner_.get();
    this->initializeUnspecified(Thyra::createConstLinearOp(tpetra));
  }

  Teuchos::RCP<const source_type> source; ///< of the last update, until it is taken back
  Thyra::ESupportSolveUse use = Thyra::SUPPORT_SOLVE_UNSPECIFIED;

private:
  using operator_type =
      Tpetra::Operator<scalar_type, typename MatrixType::local_ordinal_type,
                       typename MatrixType::global_ordinal_type, typename MatrixType::node_type>;

  ListedPreconditioner<MatrixType> inner_;
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
    ListedPreconditioner<MatrixType>::addValidParameters(*list);
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
