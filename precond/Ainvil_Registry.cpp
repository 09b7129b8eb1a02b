// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Registry.hpp"

#include "Ainvil_Ainv.hpp"
#include "Ainvil_Chebyshev.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_Fsai.hpp"
#include "Ainvil_Ic.hpp"
#include "Ainvil_Ilu.hpp"
#include "Ainvil_Jacobi.hpp"
#include "ilu/Ainvil_BlockIlu.hpp"
#include "ilu/Ainvil_Ilut.hpp"
#include "triangular/Ainvil_ExactTriangularSolver.hpp"
#include "triangular/Ainvil_Isai.hpp"
#include "triangular/Ainvil_Sweeps.hpp"

namespace ainvil {
namespace detail {
namespace {

/// What the library brings along. An explicit list: objects that register themselves are left out
/// when a static library is linked.
void addAll() {
  const OwnTable own;
  const GivenTable<IdentityParameters> none{shared(ParameterTable<IdentityParameters>())};
  const GivenTable<ExactParameters> exact{shared(ParameterTable<ExactParameters>())};
  const GivenTable<SweepParameters> jacobi{shared(SweepParameters::table(SweepMode::Jacobi))};
  const GivenTable<SweepParameters> async{shared(SweepParameters::table(SweepMode::Async))};

  addFactorization<BlockIlu>("iluk", "block ILU(k), by level of fill", own);
  addFactorization<Ilut>("ilut", "block ILU, by threshold", own);
  addTriangularSolver<ExactTriangularSolver>("exact", "substitution", exact);
  addTriangularSolver<IsaiTriangularSolver>("isai", "products with approximate inverses", own);
  addTriangularSolver<SweepTriangularSolver>("jacobi", "Jacobi sweeps", jacobi);
  addTriangularSolver<SweepTriangularSolver>("async", "asynchronous sweeps", async);

  addMethod<Identity>("none", "no preconditioner", none);
  addMethod<Jacobi>("jacobi", "inverted diagonal blocks", own);
  addMethod<Ilu>("ilu", "incomplete LU factors, block size of the matrix", own);
  addMethod<Ic>("ic", "incomplete Cholesky factor, for SPD matrices", own);
  addMethod<Fsai>("fsai", "factored sparse approximate inverse, for SPD matrices", own);
  addMethod<Ainv>("ainv", "factored approximate inverse by incomplete conjugation", own);
  addMethod<Chebyshev>("chebyshev", "polynomial in D^-1 A on an interval of eigenvalues", own);
}

} // namespace

void addBuiltIns() {
  static std::once_flag once;
  std::call_once(once, addAll);
}

void requireNoCommonKey(const NamedMakers::Entry& entry) {
  requireFree({entry.name, entry.meaning, entry.parameters()}, {}, commonParameterHelp());
}

template <class Scalar, class Device>
Registry<Scalar, Device>& bareRegistry() {
  static Registry<Scalar, Device> registry;
  return registry;
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template Registry<double, DEVICE>& bareRegistry<double, DEVICE>();                               \
  template Registry<float, DEVICE>& bareRegistry<float, DEVICE>();
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail

namespace {

/// remove(registry) on all scalars and devices.
template <class Remove>
void removeFromAll(const Remove& remove) {
  detail::addBuiltIns();
  detail::forEachCompiled([&](auto types) {
    using Types = decltype(types);
    remove(detail::bareRegistry<typename Types::Scalar, typename Types::Device>());
  });
}

} // namespace

void unregisterMethod(const std::string& name) {
  removeFromAll([&](auto& registry) { registry.methods.remove(name); });
}

void unregisterFactorization(const std::string& name) {
  removeFromAll([&](auto& registry) { registry.factorizations.remove(name); });
}

void unregisterTriangularSolver(const std::string& name) {
  removeFromAll([&](auto& registry) { registry.triangular_solvers.remove(name); });
}

} // namespace ainvil
