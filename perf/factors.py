#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""All kinds of factors with all ways to apply them, on the matrices of a folder and of the gallery, beside SuperLU's threshold ILU.

usage: factors.py BUILD_FOLDER RESULTS.jsonl [--matrices FOLDER [--shift S]] [--superlu PYTHON] [--limit SECONDS] [NAME|PROBLEM...]
       perf/factors_table.py RESULTS.jsonl

Systems are the files *.mtx.gz and the problems of GALLERY below, or those named: a PROBLEM is one of the gallery, as cavity:30. b of a
file is FOLDER/NAME_b.mtx.gz or A times ones. Files of symmetric matrices, which should be positive definite, and SPD problems are solved with
CG, others with GMRES(30), files as they are and after --match product. With --shift S each symmetric file is taken a second time, scaled to a
diagonal of ones, less S I: symmetric indefinite, with GMRES(30). A preconditioner gets --limit seconds of processor time; one that
takes longer, or ends the program, has a record of status "failed". Records are written system by system. --superlu names a Python with
SciPy; it gets the files. Times are processor time: set OMP_NUM_THREADS=1.
"""
import argparse
import datetime
import glob
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
import time

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers", "superlu.py")
STRATEGIES = {"exact": "solve=exact", "isai, p = 1": "solve=isai", "isai, p = 2": "solve=isai,power=2",
              "isai, adaptive": "solve=isai,adaptive=2", "isai, relax=auto": "solve=isai,power=2,relax=auto",
              "relax=auto, no fallback": "solve=isai,power=2,relax=auto,fallback=none", "jacobi": "solve=jacobi,sweeps=5",
              "async": "solve=async,sweeps=5"}
ILUT = "ilu:breakdown=shift,factorization=ilut,drop=1e-4"
GENERAL = {"ILU(0)": "ilu:breakdown=shift", "modified ILU(0)": "ilu:breakdown=shift,modified=0.95", "ILU(1)": "ilu:breakdown=shift,level=1", "ILUT": ILUT,
           "ILUT, nd": f"{ILUT},reorder=nd", "ILUT, parallel": f"{ILUT},search=parallel",
           "polynomial around ILU(0)": "ilu:breakdown=shift,poly=10"}
SYMMETRIC = {"IC(0)": "ic:level=0", "modified IC(0)": "ic:level=0,modified=0.95", "ICT": "ic:factorization=ict,drop=1e-4"}
INDEFINITE = {"L D L^T": "ic:level=0,signs=keep", "L D L^T, ict": "ic:factorization=ict,drop=1e-4,signs=keep"}
PRODUCTS = {"SPAI": "spai", "SPAI, p = 2": "spai:power=2"}
GENERAL_PRODUCTS = {"AINV": "ainv:symmetric=no,breakdown=shift"}
SYMMETRIC_PRODUCTS = {"FSAI": "fsai", "AINV": "ainv"}

# SPD problems of the gallery, and the tolerances that are not 1e-8.
SPD_PROBLEMS = {"laplace7", "laplace27", "poisson5", "jump", "jump27", "elasticity", "shell", "network"}
TOLERANCES = {"cavity": 1e-5}
COMMON = ["--clock", "cpu", "--max-iters", "1000"]
GALLERY = ["cavity:30", "convdiff:16x16x16", "euler:1000", "circuit:2000", "chain:200", "laplace7:16", "laplace27:12", "poisson5:60",
           "jump:16", "elasticity:12x6x6", "shell:12x16", "network:40"]


def specifications(kind):
    """Of "spd", "indefinite", which is symmetric, and "general". The first needs no set-up, so that every system has a record."""
    factored = {"spd": SYMMETRIC, "general": GENERAL, "indefinite": {"ILU(0)": GENERAL["ILU(0)"], **INDEFINITE}}[kind]
    products = {"spd": SYMMETRIC_PRODUCTS, "general": {**GENERAL_PRODUCTS, **PRODUCTS}, "indefinite": {}}[kind]
    return ["none", *(f"{factors},{strategy}" for factors in factored.values() for name, strategy in STRATEGIES.items()
                      if name != "async" or factors.startswith("ilu")),  # ic refuses what varies
            *products.values()]


def processor_seconds(pid):
    """Of a process that runs, 0 where the system does not tell. A limit of the system's own (RLIMIT_CPU) would make the clock of the
    process tick in milliseconds."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            words = file.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0


def run(program, arguments, limit):
    """The records of a run that gets so many seconds of processor time, and twenty times as many to have them."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "runs.jsonl")
        end = time.monotonic() + 20 * limit
        with subprocess.Popen([program, *arguments, "--quiet", "--json", path], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            while True:
                try:
                    process.wait(timeout=0.05)
                    break
                except subprocess.TimeoutExpired:
                    if processor_seconds(process.pid) > limit or time.monotonic() > end:
                        process.kill()
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]


def failed(record, precond, limit):
    """That of a run of the same system that left none."""
    unknown = dict.fromkeys(("setup_total_seconds", "first_setup_seconds", "recompute_seconds", "rel_residual",
                             "scaled_rel_residual", "solve_seconds", "apply30_seconds", "total_seconds"))
    return {**record, **unknown, "precond": precond, "setup_seconds": {}, "factor_entries": 0, "factor_bytes": 0, "iterations": 0,
            "breakdowns": 0, "notes": "", "status": "failed", "message": f"no record within {limit:g} s"}


def solves(program, system, limit, kind):
    """A record and a process a preconditioner, for one that hangs or crashes must not end the others."""
    first = None
    for precond in specifications(kind):
        varying = ["--allow-varying"] if "solve=async" in precond else []  # but one thread does not vary
        done = run(program, [*system, *varying, "--precond", precond], limit)
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


def shifted(path, shift, folder):
    """The file of D^-1/2 A D^-1/2 - shift I, A symmetric and of positive diagonal D."""
    with gzip.open(path, "rt") as file:
        lines = [line for line in file if not line.startswith("%")]
    entries = [(int(i), int(j), float(value)) for i, j, value in map(str.split, lines[1:])]
    root = {i: math.sqrt(value) for i, j, value in entries if i == j}
    to = os.path.join(folder, "shifted.mtx")
    with open(to, "w", encoding="utf-8") as file:
        file.write(f"%%MatrixMarket matrix coordinate real symmetric\n{lines[0]}")
        file.writelines(f"{i} {j} {value / root[i] / root[j] - (shift if i == j else 0)!r}\n" for i, j, value in entries)
    return to


def write_commands(results):
    """What perf/report.py shows above the tables: date and call, then a command for all."""
    stem = results.removesuffix(".jsonl")
    with open(f"{stem}.commands", "w", encoding="utf-8") as file:
        file.write(f"{datetime.date.today()}\t{' '.join(['perf/factors.py', *sys.argv[1:]])}\n"
                   f"{os.path.basename(stem)}\tainvil-solve --matrix MATRIX --rhs RHS --match MATCH --solver SOLVER --clock cpu "
                   "--max-iters 1000 --precond PRECOND\n")


def of_problem(problem, program, limit):
    """Records of one of the gallery."""
    name = problem.split(":")[0]
    kind = "spd" if name in SPD_PROBLEMS else "general"
    return solves(program, ["--problem", problem, "--tol", str(TOLERANCES.get(name, 1e-8)), "--solver", "cg" if kind == "spd" else "gmres",
                            *COMMON], limit, kind)


def of_file(name, program, given):
    """Records of a file as it is, matched and shifted, and of SuperLU."""
    path, own = (os.path.join(given.matrices, f"{name}{end}.mtx.gz") for end in ("", "_b"))
    rhs = own if os.path.exists(own) else "rowsum"
    with gzip.open(path, "rt") as matrix:
        symmetric = "symmetric" in matrix.readline().split()
    records = []
    for match in ("none",) if symmetric else ("none", "product"):
        system = ["--matrix", path, "--rhs", rhs, "--match", match, "--solver", "cg" if symmetric else "gmres", *COMMON]
        records += solves(program, system, given.limit, "spd" if symmetric else "general")
    if given.superlu and records:
        records += superlu(given.superlu, path, rhs, 20 * given.limit, records[0])
    records = [{**record, "problem": name} for record in records]
    if symmetric and given.shift > 0:
        with tempfile.TemporaryDirectory() as folder:
            system = ["--matrix", shifted(path, given.shift, folder), "--rhs", "ones", "--solver", "gmres", *COMMON]
            records += [{**record, "problem": f"{name} - {given.shift:g} I"}
                        for record in solves(program, system, given.limit, "indefinite")]
    return records


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("results")
    parser.add_argument("--matrices", metavar="FOLDER")
    parser.add_argument("--shift", type=float, default=0)
    parser.add_argument("--superlu", metavar="PYTHON")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    program = os.path.join(given.build, "bin", "ainvil-solve")
    files = [] if given.matrices is None else [
        os.path.basename(path)[:-len(".mtx.gz")] for path in
        sorted(glob.glob(os.path.join(given.matrices, "*.mtx.gz"))) if not path.endswith("_b.mtx.gz")]
    write_commands(given.results)
    with open(given.results, "w", encoding="utf-8") as file:
        for name in given.names or [*files, *GALLERY]:
            records = list(of_problem(name, program, given.limit) if ":" in name else of_file(name, program, given))
            file.writelines(json.dumps(record) + "\n" for record in records)
            file.flush()
            print(f"{name}: {sum(record['status'] == 'converged' for record in records)} of {len(records)} converged", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
