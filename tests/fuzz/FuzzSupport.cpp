// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/FuzzSupport.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  Kokkos::initialize();
  std::atexit([] { Kokkos::finalize(); });
  return 0;
}

namespace ainvil {
namespace fuzz {

void require(bool condition, const std::string& what) {
  if (condition)
    return;
  std::fprintf(stderr, "FINDING: %s\n", what.c_str());
  std::abort();
}

void requireSentence(const std::string& text) {
  require(text.size() > 10 && text.size() < 500, "not a sentence: " + text);
  require(text.find('\n') == std::string::npos, "more than a line: " + text);
}

std::string show(const BsrMatrix<double, HostDevice>& a) {
  std::ostringstream out;
  out.precision(17);
  out << a.numRows() << "x" << a.numCols();
  for (Ordinal i = 0; i < a.numRows(); ++i) {
    if (a.graph.row_map(i) < a.graph.row_map(i + 1))
      out << " |" << i;
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      out << " " << a.graph.entries(e) << ":" << a.values(e);
  }
  return out.str();
}

} // namespace fuzz
} // namespace ainvil
