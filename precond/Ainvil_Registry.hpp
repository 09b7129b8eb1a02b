// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Preconditioners, factorisations and triangular strategies of yours, by name.
///
/// What is registered here is known to createPreconditioner(), to the help of ainvil-solve and to
/// the parameter lists of Trilinos, as what the library brings along:
///
///     template <class Scalar, class Device>
///     class Mine final : public ainvil::Preconditioner<Scalar, Device> {
///     public:
///       explicit Mine(const MyParameters& parameters);
///       ...
///     };
///
///     ainvil::ParameterTable<MyParameters> table;
///     table.integer("steps", "mine: steps", &MyParameters::steps, 1, "steps of an application");
///     ainvil::registerMethod<Mine>("mine", "what it does in a few words", table);
///     auto m = ainvil::createPreconditioner<double, Device>("mine:steps=3");
///
/// Every method takes the keys of commonParameterHelp() besides, as "mine:steps=3,poly=20"; it must
/// not have one of these itself.
///
/// Names are lower-case letters, digits and hyphens. All functions may be called from several
/// threads at a time; what has been created is not affected by those that come later. Call them
/// behind the beginning of main(), or from the constructor of an object of your program: a linker
/// leaves out of a static library what nobody refers to.

#include "ilu/Ainvil_Factorization.hpp"
#include "parameters/Ainvil_NamedMakers.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"
#include "triangular/Ainvil_TriangularSolver.hpp"

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace ainvil {

/// What makes a preconditioner, all of its parameters known.
template <class Scalar, class Device>
using MethodMaker = std::function<PreconditionerPtr<Scalar, Device>()>;

namespace detail {

/// All names, for one type of vectors and one device. Their entries give makers of that type.
template <class Scalar, class Device>
struct Registry {
  NamedMakers methods{"method"};                         ///< give a MethodMaker
  NamedMakers factorizations{"factorisation"};           ///< give a FactorizationMaker
  NamedMakers triangular_solvers{"triangular strategy"}; ///< give a TriangularSolverMaker
  /// Makes the fastest of several specifications, found by a race: `auto`, which stands above the
  /// factory.
  std::function<PreconditionerPtr<Scalar, Device>(const std::vector<std::string>&)> fastest_of;
};

/// That of the process, without what the library brings along until addBuiltIns() has run.
template <class Scalar, class Device>
Registry<Scalar, Device>& bareRegistry();

/// Adds what the library brings along, once: the list of recommend/Ainvil_BuiltIns.cpp.
void addBuiltIns();

/// That of the process.
template <class Scalar, class Device>
Registry<Scalar, Device>& registry() {
  addBuiltIns();
  return bareRegistry<Scalar, Device>();
}

/// A scalar and a device that the library is compiled for.
template <class ScalarType, class DeviceType>
struct CompiledFor {
  using Scalar = ScalarType;
  using Device = DeviceType;
};

/// f(CompiledFor<Scalar, Device>()) for all of them.
template <class F>
void forEachCompiled(const F& f) {
  f(CompiledFor<double, DefaultDevice>());
  f(CompiledFor<float, DefaultDevice>());
  if constexpr (!std::is_same<DefaultDevice, HostDevice>::value) {
    f(CompiledFor<double, HostDevice>());
    f(CompiledFor<float, HostDevice>());
  }
}

/// A table that the entries of all scalars and devices share.
template <class Struct>
using TablePtr = std::shared_ptr<const ParameterTable<Struct>>;

template <class Struct>
TablePtr<Struct> shared(const ParameterTable<Struct>& table) {
  return std::make_shared<const ParameterTable<Struct>>(table);
}

/// The table that a class itself has.
struct OwnTable {
  template <class Class>
  static auto of() {
    return shared(Class::parameterTable());
  }
};

/// A table that was given, for all scalars and devices.
template <class Struct>
struct GivenTable {
  TablePtr<Struct> table;

  template <class>
  const auto& of() const {
    return table;
  }
};

/// The entry of a name: keys of the table, and with what these say maker(parameters).
template <class Maker, class Struct, class MakerOf>
NamedMakers::Entry entryOf(const std::string& name, const std::string& meaning,
                           const TablePtr<Struct>& table, MakerOf maker) {
  return {name, meaning, [table] { return table->help(); },
          [table, maker](Specification& specification) -> std::any {
            return Maker(maker(table->read(specification)));
          }};
}

/// Throws InvalidArgument where a key, or its name, is one that every method takes.
void requireNoCommonKey(const NamedMakers::Entry& entry);

template <template <class, class> class Method, class Tables>
void addMethod(const std::string& name, const std::string& meaning, const Tables& tables) {
  forEachCompiled([&](auto types) {
    using Scalar = typename decltype(types)::Scalar;
    using Device = typename decltype(types)::Device;
    using Class = Method<Scalar, Device>;
    const auto entry = entryOf<MethodMaker<Scalar, Device>>(
        name, meaning, tables.template of<Class>(),
        [](const auto& p) { return [p] { return std::make_unique<Class>(p); }; });
    requireNoCommonKey(entry);
    bareRegistry<Scalar, Device>().methods.add(entry, false);
  });
}

/// Adds a component of `methods` to those of its kind.
template <class Scalar, class Device>
void addComponent(Registry<Scalar, Device>& registry, NamedMakers& kind,
                  const NamedMakers::Entry& entry, std::initializer_list<const char*> methods) {
  requireNoCommonKey(entry);
  for (const char* name : methods)
    if (const auto method = registry.methods.find(name))
      requireFree({entry.name, entry.meaning, entry.parameters()}, kind.help(),
                  method->parameters());
  kind.add(entry, true);
}

template <template <class, class> class Class, class Tables>
void addFactorization(const std::string& name, const std::string& meaning, const Tables& tables) {
  forEachCompiled([&](auto types) {
    using Scalar = typename decltype(types)::Scalar;
    using Device = typename decltype(types)::Device;
    auto& registry = bareRegistry<Scalar, Device>();
    addComponent(registry, registry.factorizations,
                 entryOf<FactorizationMaker<Scalar, Device>>(
                     name, meaning, tables.template of<Class<Scalar, Device>>(),
                     [](const auto& p) {
                       return [p] { return std::make_unique<Class<Scalar, Device>>(p); };
                     }),
                 {"ilu"});
  });
}

template <template <class, class, class> class Class, class Tables>
void addTriangularSolver(const std::string& name, const std::string& meaning,
                         const Tables& tables) {
  forEachCompiled([&](auto types) {
    using Scalar = typename decltype(types)::Scalar;
    using Device = typename decltype(types)::Device;
    auto& registry = bareRegistry<Scalar, Device>();
    addComponent(registry, registry.triangular_solvers,
                 entryOf<TriangularSolverMaker<Scalar, Device>>(
                     name, meaning, tables.template of<Class<Scalar, Scalar, Device>>(),
                     [](const auto& p) {
                       return [p](Storage storage) {
                         return makeStored<Class, Scalar, Device>(p, storage);
                       };
                     }),
                 {"ilu", "ic"});
  });
}

} // namespace detail

/// From now on `name` is a method of createPreconditioner(): a `Method<Scalar, Device>` made with
/// the struct that the table reads. \throws InvalidArgument if the name is taken or not possible,
/// or a key is one that every method takes.
template <template <class, class> class Method, class Struct>
void registerMethod(const std::string& name, const std::string& meaning,
                    const ParameterTable<Struct>& table) {
  detail::addBuiltIns();
  detail::addMethod<Method>(name, meaning, detail::GivenTable<Struct>{detail::shared(table)});
}

/// The same for a class with a static function parameterTable(), as those of the library have: its
/// struct may depend on the device.
template <template <class, class> class Method>
void registerMethod(const std::string& name, const std::string& meaning) {
  detail::addBuiltIns();
  detail::addMethod<Method>(name, meaning, detail::OwnTable());
}

/// From now on `ilu:factorization=name` takes a `Class<Scalar, Device>`, a Factorization made with
/// the struct that the table reads. A key that other factorisations have must be the same parameter
/// there: its name in Trilinos, type and default; one that triangular strategies have is taken.
/// \throws InvalidArgument if a key is another or taken, or the name is taken or not possible.
template <template <class, class> class Class, class Struct>
void registerFactorization(const std::string& name, const std::string& meaning,
                           const ParameterTable<Struct>& table) {
  detail::addBuiltIns();
  detail::addFactorization<Class>(name, meaning, detail::GivenTable<Struct>{detail::shared(table)});
}

/// The same for a class with a static function parameterTable().
template <template <class, class> class Class>
void registerFactorization(const std::string& name, const std::string& meaning) {
  detail::addBuiltIns();
  detail::addFactorization<Class>(name, meaning, detail::OwnTable());
}

/// From now on `ilu:solve=name` and `ic:solve=name` take a `Class<Stored, Scalar, Device>`, a
/// TriangularSolver that holds what it applies in the precision Stored: Scalar, float or BFloat16.
/// Keys and errors as with registerFactorization().
template <template <class, class, class> class Class, class Struct>
void registerTriangularSolver(const std::string& name, const std::string& meaning,
                              const ParameterTable<Struct>& table) {
  detail::addBuiltIns();
  detail::addTriangularSolver<Class>(name, meaning,
                                     detail::GivenTable<Struct>{detail::shared(table)});
}

/// The same for a class with a static function parameterTable().
template <template <class, class, class> class Class>
void registerTriangularSolver(const std::string& name, const std::string& meaning) {
  detail::addBuiltIns();
  detail::addTriangularSolver<Class>(name, meaning, detail::OwnTable());
}

/// Forgets a name, before its code is unloaded for example. What has been created stays.
/// \throws InvalidArgument if there is no such name.
void unregisterMethod(const std::string& name);
/// The same for a factorisation.
void unregisterFactorization(const std::string& name);
/// The same for a triangular strategy.
void unregisterTriangularSolver(const std::string& name);

} // namespace ainvil
