// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// FSAI whose pattern knows no ranks.

#include "Ainvil_Fsai.hpp"
#include "Ainvil_TpetraPreconditioner.hpp"
#include "Ainvil_TpetraSortedRows.hpp"

namespace ainvil {
namespace tpetra {

/// M^-1 = G^T G as by Fsai for the whole matrix, in the order of its global indices: the same G,
/// to rounding, however the rows are spread over the ranks. A power p of the pattern takes rows of
/// A up to p edges away; they are imported through Tpetra, level by level in initialize() and with
/// new values at each compute(). Then the rows of G are a rank's own affair. G and G^T are
/// Tpetra::CrsMatrix, and an application is two products with them, with the communication of such.
///
/// Cost beside that of Fsai: the imported rows, which are few where a rank has many rows, and per
/// compute() the Tpetra matrices for G and G^T, because the filter may leave another pattern.
///
/// Its report is that of Fsai for the rows that the rank has and has imported, with the phases
/// "import_rows", "import_values" and "assemble", of the Tpetra matrices.
///
/// Of its parameters, "storage: precision" must be double and "block: size" 1 or 0. Takes
/// CrsMatrix only. \see Fsai for method, breakdown and sources.
template <class MatrixType>
class DistributedFsai final : public Preconditioner<MatrixType> {
public:
  using Base = Preconditioner<MatrixType>;
  using typename Base::execution_space;
  using typename Base::map_type;
  using typename Base::multivector_type;
  using typename Base::scalar_type;
  using crs_matrix_type =
      Tpetra::CrsMatrix<scalar_type, typename Base::local_ordinal_type,
                        typename Base::global_ordinal_type, typename Base::node_type>;

  using Base::Base;

  /// G; null before compute().
  Teuchos::RCP<const crs_matrix_type> factor() const { return g_; }
  /// G^T; null before compute().
  Teuchos::RCP<const crs_matrix_type> transposedFactor() const { return gt_; }

protected:
  void doInitialize(const execution_space& exec) override;
  void doCompute(const execution_space& exec) override;
  void doApply(const execution_space& exec, const multivector_type& x, multivector_type& y,
               Trans trans, scalar_type alpha, scalar_type beta) const override;

private:
  using typename Base::device_type;
  using typename Base::global_ordinal_type;
  using typename Base::local_ordinal_type;
  using typename Base::node_type;

  const crs_matrix_type& crsMatrix() const;
  void assemble(const execution_space& exec);

  size_t num_entries_ = 0; ///< of the rank's own rows
  SortedRows<scalar_type, local_ordinal_type, global_ordinal_type, node_type> rows_;
  std::unique_ptr<Fsai<scalar_type, device_type>> local_;
  Teuchos::RCP<crs_matrix_type> g_, gt_;
  mutable Teuchos::RCP<multivector_type> intermediate_;
};

} // namespace tpetra
} // namespace ainvil
