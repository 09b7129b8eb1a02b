// SPDX-License-Identifier: BSD-3-Clause
#include "product/Ainvil_SparseOperator.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "product/Ainvil_Combine.hpp"

namespace ainvil {

template <class Scalar, class Device>
typename SparseOperator<Scalar, Device>::Matrix
SparseOperator<Scalar, Device>::make(const Graph<Device>& graph, int block_size,
                                     const Values& values) {
  const Offset scalars = graph.numEntries() * block_size * block_size;
  switch (static_cast<Storage>(values.index())) {
  case Storage::Float:
    return Matrix(std::in_place_index<1>, graph, firstOf(std::get<1>(values), scalars), block_size);
  case Storage::BFloat16:
    return Matrix(std::in_place_index<2>, graph, firstOf(std::get<2>(values), scalars), block_size);
  default:
    return Matrix(std::in_place_index<0>, graph, firstOf(std::get<0>(values), scalars), block_size);
  }
}

template <class Scalar, class Device>
void SparseOperator<Scalar, Device>::setGraph(const execution_space& exec,
                                              const Graph<Device>& graph, int block_size,
                                              Offset spare) {
  detail::requireBlockSize(block_size);
  clear();
  const Offset scalars = graph.numEntries() * block_size * block_size;
  const auto set = [&](auto& a, auto& rounded) {
    using Stored = typename std::decay_t<decltype(a)>::value_type;
    if constexpr (std::is_same<typename std::decay_t<decltype(rounded)>::value_type,
                               Stored>::value) {
      if (!std::is_same<Stored, Scalar>::value) {
        reserve(exec, "Ainvil::rounded_values", rounded, scalars, spare);
        a.values = firstOf(rounded, scalars);
      }
      a.graph = graph;
      a.block_size = block_size;
    }
  };
  std::visit(set, matrix_, rounded_);
  plan_ = visit([&](const auto& a) {
    using Stored = typename std::decay_t<decltype(a)>::value_type;
    return detail::planProducts(exec, graph, block_size, sizeof(Stored));
  });
}

template <class Scalar, class Device>
void SparseOperator<Scalar, Device>::update(const execution_space& exec,
                                            const Kokkos::View<Scalar*, Device>& values,
                                            bool full_rows) {
  const auto set = [&](auto& a) {
    using Stored = typename std::decay_t<decltype(a)>::value_type;
    if (Offset(values.extent(0)) != a.numScalars())
      throw InvalidArgument(message("an operator of ", a.numScalars(), " values gets ",
                                    values.extent(0), " new ones"));
    if constexpr (std::is_same<Stored, Scalar>::value)
      a.values = values;
    else
      detail::roundInto(exec, values, a, full_rows);
  };
  std::visit(set, matrix_);
}

template <class Scalar, class Device>
void SparseOperator<Scalar, Device>::clear() {
  std::visit([](auto& a) { a = {}; }, matrix_);
  plan_ = {};
  transposed_ = {};
  transposed_source_ = {};
}

template <class Scalar, class Device>
void SparseOperator<Scalar, Device>::keepTransposed(const execution_space& exec) {
  const PermutedGraph<Device> transposed = transpose(exec, graph());
  transposed_source_ = transposed.source;
  visit([&](const auto& a) {
    using Stored = typename std::decay_t<decltype(a)>::value_type;
    const Offset scalars = transposed.graph.numEntries() * a.block_size * a.block_size;
    transposed_ = std::make_shared<const SparseOperator>(
        exec, BsrMatrix<Stored, Device>(
                  transposed.graph, allocate<Stored, Device>(exec, "Ainvil::transposed", scalars),
                  a.block_size));
  });
}

template <class Scalar, class Device>
void SparseOperator<Scalar, Device>::updateTransposed(const execution_space& exec) const {
  if (transposed_ == nullptr)
    return;
  visit([&](const auto& a) {
    using Stored = typename std::decay_t<decltype(a)>::value_type;
    gatherBlocks<Stored, Device>(exec, Trans::Yes, transposed_source_, a.block_size, a.values,
                                 transposed_->template matrixIn<Stored>().values);
  });
}

template <class Scalar, class Device>
void SparseOperator<Scalar, Device>::checkRange(const execution_space& exec, bool full_rows) const {
  visit([&](const auto& a) { detail::checkStorage(exec, a, full_rows); });
}

template <class Scalar, class Device>
void SparseOperator<Scalar, Device>::multiply(const execution_space& exec, Trans trans,
                                              Scalar alpha, In x, Scalar beta, Out y) const {
  if (trans == Trans::Yes && transposed_) {
    transposed_->multiply(exec, Trans::No, alpha, x, beta, y);
    return;
  }
  visit([&](const auto& a) {
    detail::multiply<typename std::decay_t<decltype(a)>::value_type, Scalar, Device>(
        exec, plan_, trans, alpha, a, x, beta, y);
  });
}

template <class Scalar, class Device>
void SparseOperator<Scalar, Device>::multiplyAdd(const execution_space& exec, Trans trans,
                                                 Scalar alpha, In x, Scalar beta, In u,
                                                 Scalar gamma, In v, Out y) const {
  multiplyAdd(exec, trans, alpha, x, beta, u, gamma, v, y, Step());
}

template <class Scalar, class Device>
void SparseOperator<Scalar, Device>::multiplyAdd(const execution_space& exec, Trans trans,
                                                 Scalar alpha, In x, Scalar beta, In u,
                                                 Scalar gamma, In v, Out y,
                                                 const Step& step) const {
  if (trans == Trans::Yes) {
    if (transposed_) {
      transposed_->multiplyAdd(exec, Trans::No, alpha, x, beta, u, gamma, v, y, step);
    } else {
      if (step.w.data() != nullptr)
        detail::combine<Scalar, Device>(exec, step.delta, x, step.epsilon, step.w, Scalar(0), x,
                                        step.w);
      detail::combine<Scalar, Device>(exec, Scalar(0), y, beta, u, gamma, v, y);
      multiply(exec, trans, alpha, x, Scalar(1), y);
    }
    return;
  }
  visit([&](const auto& a) {
    detail::multiplyAdd<typename std::decay_t<decltype(a)>::value_type, Scalar, Device>(
        exec, plan_, alpha, a, x, beta, u, gamma, v, y, step);
  });
}

template <class Scalar, class Device>
void SparseOperator<Scalar, Device>::multiplyAddLongRows(const execution_space& exec, Scalar alpha,
                                                         In x, Scalar beta, In u, Scalar gamma,
                                                         In v, Out y) const {
  visit([&](const auto& a) {
    detail::multiplyAddLongRows<typename std::decay_t<decltype(a)>::value_type, Scalar, Device>(
        exec, plan_.long_rows, alpha, a, x, beta, u, gamma, v, y);
  });
}

AINVIL_INSTANTIATE_CLASS(SparseOperator)

} // namespace ainvil
