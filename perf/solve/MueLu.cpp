// SPDX-License-Identifier: BSD-3-Clause
#include "solve/MueLu.hpp"

#include "Ainvil_TpetraMueLu.hpp"

#include <MueLu_CreateTpetraPreconditioner.hpp>

namespace ainvil {
namespace perf {
namespace {

using Matrix = Tpetra::CrsMatrix<>;
using MultiVector = Tpetra::MultiVector<>;
using Multigrid = MueLu::TpetraOperator<double, Matrix::local_ordinal_type,
                                        Matrix::global_ordinal_type, Matrix::node_type>;

class MueLuPreconditioner final : public Ifpack2::Preconditioner<> {
public:
  MueLuPreconditioner(const Teuchos::RCP<Matrix>& a, const Teuchos::ParameterList& list)
      : a_(a), list_(list) {}

  void setParameters(const Teuchos::ParameterList& list) override { list_.setParameters(list); }
  void initialize() override {} // MueLu has one phase
  bool isInitialized() const override { return true; }
  void compute() override {
    const Kokkos::Timer timer;
    if (multigrid_.is_null())
      multigrid_ = MueLu::CreateTpetraPreconditioner(Teuchos::RCP<TpetraOperator>(a_), list_);
    else
      MueLu::ReuseTpetraPreconditioner(a_, *multigrid_);
    compute_seconds_ += timer.seconds();
    ++num_compute_;
  }
  bool isComputed() const override { return !multigrid_.is_null(); }
  void apply(const MultiVector& x, MultiVector& y, Teuchos::ETransp mode, double alpha,
             double beta) const override {
    const Kokkos::Timer timer;
    multigrid_->apply(x, y, mode, alpha, beta);
    apply_seconds_ += timer.seconds();
    ++num_apply_;
  }

  Teuchos::RCP<const TpetraRow> getMatrix() const override { return a_; }
  Teuchos::RCP<const tpetra::Map> getDomainMap() const override { return a_->getRangeMap(); }
  Teuchos::RCP<const tpetra::Map> getRangeMap() const override { return a_->getDomainMap(); }
  int getNumInitialize() const override { return 0; }
  int getNumCompute() const override { return num_compute_; }
  int getNumApply() const override { return num_apply_; }
  double getInitializeTime() const override { return 0; }
  double getComputeTime() const override { return compute_seconds_; }
  double getApplyTime() const override { return apply_seconds_; }

private:
  Teuchos::RCP<Matrix> a_;
  Teuchos::ParameterList list_;
  Teuchos::RCP<Multigrid> multigrid_;
  int num_compute_ = 0;
  mutable int num_apply_ = 0;
  double compute_seconds_ = 0;
  mutable double apply_seconds_ = 0;
};

} // namespace

void requireMueLu() {}

Teuchos::RCP<Ifpack2::Preconditioner<>> createMueLu(const Teuchos::RCP<const TpetraRow>& a,
                                                    int block_size, Teuchos::ParameterList list) {
  const auto matrix = Teuchos::rcp_dynamic_cast<const Matrix>(a);
  if (matrix.is_null())
    throw InvalidArgument(
        "preconditioner 'muelu': MueLu needs a matrix in points, without --blocks");
  tpetra::registerMueLuSmoother();
  if (!list.isParameter("verbosity"))
    list.set("verbosity", "none");
  if (!list.isParameter("number of equations"))
    list.set("number of equations", block_size);
  return Teuchos::rcp(new MueLuPreconditioner(Teuchos::rcp_const_cast<Matrix>(matrix), list));
}

} // namespace perf
} // namespace ainvil
