// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// FSAI whose pattern knows no ranks.

#include "Ainvil_Fsai.hpp"
#include "Ainvil_TpetraHalo.hpp"
#include "Ainvil_TpetraPreconditioner.hpp"
#include "Ainvil_TpetraSortedRows.hpp"

#include <memory>
#include <vector>

namespace ainvil {
namespace tpetra {

/// M^-1 = G^T G as by Fsai for the whole matrix, in the order of its global indices: the same G,
/// to rounding, however the rows are spread over the ranks. A power p of the pattern takes rows of
/// A up to p edges away; they are imported through Tpetra, level by level in initialize() and with
/// new values at each compute(). Then the rows of G are a rank's own affair.
///
/// A rank r has its rows of G in two parts, G_rr in its own columns and H_r in those of others. An
/// application is w_r = G_rr x_r + H_r h_r with the unknowns h_r of others, then
/// y_r = G_rr^T w_r + sum_s (H_s^T w_s)|_r, which the ranks s send back: two exchanges between
/// neighbours, during which the products with G_rr run, and no reduction. One thread of a host that
/// has its rows in ascending order reads G_rr once, between the exchanges. Where one rank has all
/// rows in that order, it is an Fsai.
///
/// Cost beside that of Fsai: the imported rows, which are few where a rank has many rows. compute()
/// takes G apart anew where its graph has changed on a rank, which a filter may bring about; the
/// plan of the exchange is made anew where ranks need other unknowns.
///
/// Its report is that of Fsai for the rows that the rank has and has imported, with the entries of
/// its own rows of G, and with the phases "import_rows", "import_values" and "assemble", of the two
/// parts.
///
/// The rows of the matrix must be spread as the unknowns. Of its parameters, "storage: precision"
/// must be double and "block: size" 1 or 0. Takes CrsMatrix only. \see Fsai for method, breakdown
/// and sources.
template <class MatrixType>
class DistributedFsai final : public Preconditioner<MatrixType> {
public:
  using Base = Preconditioner<MatrixType>;
  using typename Base::execution_space;
  using typename Base::map_type;
  using typename Base::scalar_type;
  using crs_matrix_type =
      Tpetra::CrsMatrix<scalar_type, typename Base::local_ordinal_type,
                        typename Base::global_ordinal_type, typename Base::node_type>;

  using Base::Base;

protected:
  using typename Base::VectorIn;
  using typename Base::VectorOut;

  void doInitialize(const execution_space& exec) override;
  void doCompute(const execution_space& exec) override;
  bool isLocal() const override { return false; }
  void reserve(const execution_space& exec, size_t columns) const override;
  void doApply(const execution_space& exec, const VectorIn& x, const VectorOut& y, Trans trans,
               scalar_type alpha, scalar_type beta) const override;

private:
  using typename Base::device_type;
  using typename Base::global_ordinal_type;
  using typename Base::local_ordinal_type;
  using typename Base::node_type;
  using Halo = tpetra::Halo<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;

  const crs_matrix_type& crsMatrix() const;
  bool hasAllInOrder() const { return rows_.areOwn() && this->matrix().getComm()->getSize() == 1; }
  void takeGraph(const execution_space& exec);
  void takeValues(const execution_space& exec);
  void takeHalo(const execution_space& exec, const typename Halo::Rows& rows,
                const std::vector<global_ordinal_type>& unknowns);
  /// Whether an application reads G_rr once, a lower triangle, and there is no G_rr^T.
  bool inOnePass(const execution_space& exec) const {
    return !ainvil::compat::IsGpu<execution_space>::value && exec.concurrency() == 1 &&
           rows_.ownAscend();
  }
  void multiplyInOnePass(const execution_space& exec, const VectorIn& x, const VectorOut& w,
                         const VectorOut& y, scalar_type alpha, scalar_type beta) const;

  size_t num_entries_ = 0; ///< of the rank's own rows
  SortedRows<scalar_type, local_ordinal_type, global_ordinal_type, node_type> rows_;
  std::unique_ptr<Fsai<scalar_type, device_type>> local_;
  int num_graphs_ = 0; ///< of G when it was last taken apart; 0: it must be
  Kokkos::View<const Offset*, device_type> source_; ///< of the entries of G_rr
  Kokkos::View<scalar_type*, device_type> values_;
  SparseOperator<scalar_type, device_type> own_; ///< G_rr, and its transposed
  Halo halo_;                                    ///< H_r
  std::vector<global_ordinal_type> unknowns_;    ///< of others that its exchange brings
  mutable MultiVector<scalar_type, device_type> intermediate_; ///< w_r
  mutable MultiVector<scalar_type, device_type> product_;      ///< M^-1 x, where it is not y
};

} // namespace tpetra
} // namespace ainvil
