#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""All kinds of factors with all ways to apply them, on the matrices of a folder, beside SuperLU's threshold ILU.

usage: factors.py BUILD_FOLDER RESULTS.jsonl --matrices FOLDER [--superlu PYTHON] [--limit SECONDS] [--time-limit SECONDS] [NAME...]
       perf/factors_table.py RESULTS.jsonl

Matrices are the files *.mtx.gz, or those named; b is FOLDER/NAME_b.mtx.gz or A times ones. Files of symmetric matrices, which should be
positive definite, are solved with CG, others with GMRES(30), as they are and after --match product. A preconditioner gets --limit
seconds; one that takes longer, or ends the program, has a record of status "failed". Records are written matrix by matrix.
--superlu names a Python with SciPy. Times are processor time: set OMP_NUM_THREADS=1.
"""
import argparse
import datetime
import glob
import gzip
import json
import os
import subprocess
import sys

from recommend import run

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers", "superlu.py")
STRATEGIES = {"exact": "solve=exact", "isai, p = 1": "solve=isai", "isai, p = 2": "solve=isai,power=2",
              "isai, relax=auto": "solve=isai,power=2,relax=auto,fallback=none", "jacobi": "solve=jacobi,sweeps=5"}
ILUT = "ilu:breakdown=shift,factorization=ilut,drop=1e-4"
GENERAL = {"ILU(0)": "ilu:breakdown=shift", "ILU(1)": "ilu:breakdown=shift,level=1", "ILUT": ILUT,
           "ILUT, nd": f"{ILUT},reorder=nd", "ILUT, parallel": f"{ILUT},search=parallel",
           "polynomial around ILU(0)": "ilu:breakdown=shift,poly=10"}
SYMMETRIC = {"IC(0)": "ic:level=0", "ICT": "ic:factorization=ict,drop=1e-4"}
PRODUCTS = {"SPAI": "spai", "SPAI, p = 2": "spai:power=2"}
GENERAL_PRODUCTS = {"AINV": "ainv:symmetric=no,breakdown=shift"}
SYMMETRIC_PRODUCTS = {"FSAI": "fsai", "AINV": "ainv"}


def specifications(symmetric):
    """The first needs no set-up, so that every system has a record."""
    factored = SYMMETRIC if symmetric else GENERAL
    products = SYMMETRIC_PRODUCTS if symmetric else {**GENERAL_PRODUCTS, **PRODUCTS}
    return ["none", *(f"{factors},{strategy}" for factors in factored.values() for strategy in STRATEGIES.values()),
            *products.values()]


def failed(record, precond, limit):
    """That of a run of the same system that left none."""
    unknown = dict.fromkeys(("setup_total_seconds", "first_setup_seconds", "recompute_seconds", "rel_residual",
                             "scaled_rel_residual", "solve_seconds", "apply30_seconds", "total_seconds"))
    return {**record, **unknown, "precond": precond, "setup_seconds": {}, "factor_entries": 0, "factor_bytes": 0, "iterations": 0,
            "breakdowns": 0, "notes": "", "status": "failed", "message": f"no record within {limit:g} s"}


def solves(program, system, limit, symmetric):
    """A record and a process a preconditioner, for one that hangs or crashes must not end the others."""
    first = None
    for precond in specifications(symmetric):
        done, _ = run(program, [*system, "--precond", precond], limit)
        first = first or next(iter(done), None)
        if first is None:  # not even the matrix was read
            return
        yield done[0] if done else failed(first, precond, limit)


def superlu(python, path, rhs, limit, ours):
    """Its record, with what it lacks from one of ours; none where SciPy is missing or takes too long."""
    try:
        done = subprocess.run([python, PEER, path, rhs], timeout=limit, check=False, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return []
    return [{**failed(ours, "superlu", limit), "match": "none", **json.loads(line)} for line in done.stdout.splitlines()]


def write_commands(results):
    """What perf/report.py shows above the tables: date and call, then a command for all."""
    stem = results.removesuffix(".jsonl")
    with open(f"{stem}.commands", "w", encoding="utf-8") as file:
        file.write(f"{datetime.date.today()}\t{' '.join(['perf/factors.py', *sys.argv[1:]])}\n"
                   f"{os.path.basename(stem)}\tainvil-solve --matrix MATRIX --rhs RHS --match MATCH --solver SOLVER --clock cpu "
                   "--max-iters 1000 --precond PRECOND\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("results")
    parser.add_argument("--matrices", required=True)
    parser.add_argument("--superlu", metavar="PYTHON")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--time-limit", type=float, default=10, help="of a solve")
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    program = os.path.join(given.build, "bin", "ainvil-solve")
    names = given.names or [os.path.basename(path)[:-len(".mtx.gz")] for path in
                            sorted(glob.glob(os.path.join(given.matrices, "*.mtx.gz"))) if not path.endswith("_b.mtx.gz")]
    write_commands(given.results)
    with open(given.results, "w", encoding="utf-8") as file:
        for name in names:
            path, own = (os.path.join(given.matrices, f"{name}{end}.mtx.gz") for end in ("", "_b"))
            rhs = own if os.path.exists(own) else "rowsum"
            with gzip.open(path, "rt") as matrix:
                symmetric = "symmetric" in matrix.readline().split()
            records = []
            for match in ("none",) if symmetric else ("none", "product"):
                system = ["--matrix", path, "--rhs", rhs, "--match", match, "--solver", "cg" if symmetric else "gmres", "--clock",
                          "cpu", "--max-iters", "1000", "--time-limit", str(given.time_limit)]
                records += solves(program, system, given.limit, symmetric)
            if given.superlu and records:
                records += superlu(given.superlu, path, rhs, given.limit, records[0])
            file.writelines(json.dumps({**record, "problem": name}) + "\n" for record in records)
            file.flush()
            print(f"{name}: {sum(record['status'] == 'converged' for record in records)} of {len(records)} converged", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
