// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Rank 1 fails: "told" after communication, "run" while rank 0 waits for it within run(), "end"
/// while rank 0 waits elsewhere and rank 1 ends the program.
#include "solve/RanksTogether.hpp"

#include "Ainvil_Error.hpp"

#include <Tpetra_Core.hpp>

#include <iostream>

int main(int argc, char** argv) {
  using namespace ainvil;
  const Tpetra::ScopeGuard tpetra(&argc, &argv);
  const auto comm = Tpetra::getDefaultComm();
  const std::string what = argc > 1 ? argv[1] : "";
  // Where rank 0 comes, however late, rank 1 waits for it; where it does not, not longer than that.
  const perf::RanksTogether ranks(*comm, std::chrono::seconds(what == "told" ? 300 : 3));
  const bool fails = comm->getRank() == 1;
  if (what == "end") {
    if (fails)
      ranks.end("one rank", 1);
    comm->barrier();
    return 0;
  }
  try {
    ranks.run([&] {
      if (what == "told")
        comm->barrier();
      if (fails)
        throw InvalidArgument("one rank");
      if (what == "run")
        comm->barrier();
    });
  } catch (const InvalidArgument& error) {
    if (comm->getRank() == 0)
      std::cout << error.what() << ": told to all" << std::endl;
  }
  return 0;
}
