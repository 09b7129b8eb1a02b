// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// How many arrays a set-up allocates: on a GPU an allocation takes longer than many a kernel.

#include "KokkosObservers.hpp"
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <cstring>

namespace {

using namespace ainvil;
using namespace ainvil::test;

/// The labels of the arrays of the library that are allocated, in the memory of the device that is
/// tested, while the object lives: on GPUs those in memory of the host cost little.
class ArrayCounter : ToolCallbacks {
public:
  ArrayCounter() {
    labels_.clear();
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle space, const char* label, const void*, std::uint64_t) {
          if (std::string(label).rfind("Ainvil::", 0) != 0 ||
              std::strcmp(space.name, Device::memory_space::name()) != 0)
            return;
          const std::lock_guard<std::mutex> lock(mutex());
          labels_.push_back(label);
        });
  }
  int onDevice() const { return static_cast<int>(labels_.size()); }
  const std::vector<std::string>& labels() const { return labels_; }

private:
  static inline std::vector<std::string> labels_;
};

struct Bounds {
  const char* specification;
  int on_host, on_gpu; ///< arrays, by where the set-up runs
};

std::ostream& operator<<(std::ostream& out, const Bounds& bounds) {
  return out << bounds.specification;
}

class SetUpMemory : public testing::TestWithParam<Bounds> {};

/// As many as a first set-up needs on two threads or a GPU: what it keeps, by type of number and by
/// when its size is known, and what patterns and level sets are made with. A second compute()
/// allocates nothing (Rules, Instance).
TEST_P(SetUpMemory, IsAskedForInFewPieces) {
  const auto m = createPreconditioner<double, Device>(GetParam().specification);
  const DeviceBsr a = copyTo<Device>(makeProblem("laplace27:8").matrix);
  const ArrayCounter counter;
  m->initialize(a);
  m->compute(a);
  EXPECT_LE(counter.onDevice(), compat::IsGpu<Exec>::value ? GetParam().on_gpu : GetParam().on_host)
      << listOf(counter.labels());
}

INSTANTIATE_TEST_SUITE_P(Methods, SetUpMemory,
                         testing::Values(Bounds{"jacobi", 4, 4}, Bounds{"ilu", 13, 16},
                                         Bounds{"ilu:solve=isai", 11, 12},
                                         Bounds{"ilu:solve=isai,power=2", 15, 20},
                                         Bounds{"ilu:solve=isai,relax=auto", 16, 17},
                                         Bounds{"ic:solve=isai", 13, 13}));

} // namespace
