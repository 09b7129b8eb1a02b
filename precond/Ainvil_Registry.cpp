// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Registry.hpp"

#include "Ainvil_Factory.hpp"

namespace ainvil {
namespace detail {

void requireNoCommonKey(const NamedMakers::Entry& entry) {
  requireFree({entry.name, entry.meaning, entry.parameters()}, {}, commonParameterHelp());
}

template <class Scalar, class Device>
Registry<Scalar, Device>& bareRegistry() {
  static Registry<Scalar, Device> registry;
  return registry;
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template Registry<SCALAR, DEVICE>& bareRegistry<SCALAR, DEVICE>();
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

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
