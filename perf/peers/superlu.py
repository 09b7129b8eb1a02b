#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""SuperLU's threshold ILU with pivoting, by SciPy, as preconditioner of SciPy's GMRES(30): what perf/factors.py compares with.

usage: superlu.py MATRIX.mtx.gz RHS [--drop 1e-4] [--fill 10] [--tol 1e-8] [--max-iters 1000]

RHS is rowsum, A times ones, or a Matrix Market file. Prints a line of JSON with the keys of ainvil-solve's that it has figures for. Times are processor time.
Needs Debian's python3-scipy.
"""
import argparse
import gzip
import json
import sys
import time

import numpy
import scipy
import scipy.io
import scipy.sparse.linalg as linalg

RESTART = 30


def solved(a, b, given):
    """What becomes of A x = b, as items of a record."""
    steps = []
    begin = time.process_time()
    try:
        ilu = linalg.spilu(a.tocsc(), drop_tol=given.drop, fill_factor=given.fill)
    except RuntimeError as error:  # a factor that is exactly singular
        return {"status": "failed", "message": str(error)}
    setup = time.process_time() - begin
    x, _ = linalg.gmres(a, b, M=linalg.LinearOperator(a.shape, ilu.solve), restart=RESTART, tol=given.tol, atol=0,
                        maxiter=-(-given.max_iters // RESTART), callback=steps.append, callback_type="pr_norm")
    seconds = time.process_time() - begin
    residual = float(numpy.linalg.norm(b - a @ x) / numpy.linalg.norm(b))
    converged = residual <= given.tol
    return {"status": "converged" if converged else "max_iterations" if len(steps) >= given.max_iters else "stagnated",
            "message": "" if converged else f"not converged after {len(steps)} iterations", "iterations": len(steps),
            "rel_residual": residual if numpy.isfinite(residual) else None, "factor_entries": ilu.L.nnz + ilu.U.nnz - a.shape[0],
            "setup_seconds": {"factor": setup}, "setup_total_seconds": setup, "first_setup_seconds": setup,
            "solve_seconds": seconds - setup, "total_seconds": seconds}


def right_hand_side(path, a):
    """A times ones, or the vector of a file; comments and sizes are skipped by hand, as SciPy refuses unusual first lines."""
    if path == "rowsum":
        return a @ numpy.ones(a.shape[0])
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("%")]
    return numpy.array([float(line) for line in lines[1:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrix")
    parser.add_argument("rhs")
    parser.add_argument("--drop", type=float, default=1e-4)
    parser.add_argument("--fill", type=float, default=10)
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--max-iters", type=int, default=1000)
    given = parser.parse_args()
    a = scipy.io.mmread(given.matrix).tocsr()
    unknown = {"setup_seconds": {}, "setup_total_seconds": None, "first_setup_seconds": None, "recompute_seconds": None,
               "factor_entries": 0, "iterations": 0, "rel_residual": None, "solve_seconds": None, "total_seconds": None}
    print(json.dumps({
        "problem": given.matrix, "rows": a.shape[0], "nnz": a.nnz, "block_size": 1, "library": f"SciPy {scipy.__version__}",
        "precond": f"superlu:drop={given.drop:g},fill={given.fill:g}", **unknown, **solved(a, right_hand_side(given.rhs, a), given)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
