#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""perf/targets.sh on toys: valid records and a table without cuSPARSE; perf/targets_table.py and
perf/host_and_gpu_table.py on made-up records, for which the verdicts are known; and on all of these without the
figures that may be missing.

usage: targets_test.py PATH/TO/BUILD
"""

import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

BUILD = ""
PERF = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../perf")
sys.path.insert(0, PERF)

import host_and_gpu_table
import missing_figures
import report
import targets_table
from records import read, write


def printed(script, *arguments):
    """What the main function of a script prints; a process of its own would take longer to start."""
    before, sys.argv = sys.argv, ["", *arguments]
    try:
        with contextlib.redirect_stdout(io.StringIO()) as text:
            script.main()
    finally:
        sys.argv = before
    return text.getvalue()


def run(script, *arguments):
    return subprocess.run([os.path.join(PERF, script), *arguments], capture_output=True, text=True, check=False)


def solve(problem, precond, setup=0.001, solving=0.1, iterations=100, **more):
    return {"problem": problem, "precond": precond, "rows": 1000000, "status": "converged",
            "setup_seconds": {"lower_isai_solve": 0.002, "columns": setup}, "setup_total_seconds": setup,
            "solve_seconds": solving, "total_seconds": setup + solving, "apply30_seconds": 0.01,
            "basis": "double", "library": "Ainvil", "recompute_seconds": setup / 2, "iterations": iterations, "exec_space": "Cuda",
            "device": "GPU", "threads": 16, "kokkos_version": "4.6", "git": "unknown", **more}


class TargetsTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def tearDown(self):
        """Whatever may be missing in the records of a test, there is a table."""
        files = {name: read(os.path.join(self.folder, name)) for name in os.listdir(self.folder)
                 if name.endswith(".jsonl")}
        if "isai.jsonl" not in files:
            return
        names = [name for name, records in files.items() for _ in records]
        for what, records in missing_figures.variants([r for records in files.values() for r in records]):
            for name in files:
                write(os.path.join(self.folder, name), [r for k, r in zip(names, records) if k == name])
            text = printed(targets_table, self.folder)
            self.assertRegex(text, r"\d of \d+ met", what)
            self.assertNotRegex(text, r"\b(None|nan|inf)\b", what)

    def write(self, name, *records):
        with open(os.path.join(self.folder, f"{name}.jsonl"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)

    def table(self):
        """Cells of the rows with a measured value."""
        rows = [[cell.strip() for cell in line.split("|")[1:-1]]
                for line in printed(targets_table, self.folder).splitlines() if line.startswith("|")]
        return [row for row in rows if len(row) == 6 and row[3] not in ("", "measured", "--:")]

    def verdict(self, what, case=""):
        """Measured value and whether the target is met, of the only row of that name."""
        rows = [row for row in self.table() if what in row[0] and case in row[1]]
        self.assertEqual(len(rows), 1, rows)
        return rows[0][3], rows[0][5]

    def test_toys(self):
        done = run("targets.sh", BUILD, self.folder, "smoke")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        if importlib.util.find_spec("jsonschema"):
            self.assertIn("records follow perf/records.schema.json", done.stdout)
        whats = {row[0] for row in self.table()}
        for what in ("block SpMV, share of copy bandwidth", "storage=float, more iterations",
                     "pattern and solve of ISAI in the time to solution",
                     "cost of four times the rows, set-up"):
            self.assertIn(what, whats)
        if "cusparse: skipped" in done.stdout:
            self.assertIn("against exact solves of cuSPARSE |  |  |  | not measured |", done.stdout)
        for method in ("cavity, ilu:solve=isai", "laplace7, jacobi", "laplace7, fsai"):
            self.assertIn(f"**{method}**", done.stdout)
        pages = os.path.join(self.folder, "pages")
        self.assertIn(f"pages: perf/report.py {self.folder} -o {pages}\n", done.stdout)
        written = printed(report, self.folder, "-o", pages)
        for page in ("targets", "storage", "products", "fsai", "ainv", "host-and-gpu"):
            self.assertRegex(written, f"(?m)^{page}: written")
        with open(os.path.join(pages, "targets.md"), encoding="utf-8") as file:
            self.assertIn("\n    ainvil-solve --problem shell:6x8 --repeat 1 --precond ", file.read())

    def test_threads(self):
        """From one to as many as there are cores, whatever OMP_NUM_THREADS says."""
        with mock.patch.dict(os.environ, OMP_NUM_THREADS="1"):
            done = run("threads.sh", BUILD, self.folder, "smoke")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        records = read(os.path.join(self.folder, "threads.jsonl"))
        cores = len(os.sched_getaffinity(0))
        if records[0]["exec_space"] == "OpenMP":
            self.assertEqual({record["threads"] for record in records},
                             {2 ** k for k in range(cores.bit_length())})
        pages = os.path.join(self.folder, "pages")
        self.assertIn("threads: written", printed(report, self.folder, "-o", pages))

    def test_refused(self):
        for script in ("targets.sh", "host_and_gpu.sh", "threads.sh"):
            self.assertEqual(run(script, BUILD, self.folder).returncode, 2)
            done = run(script, "/nowhere", self.folder, "smoke")
            self.assertEqual(done.returncode, 2)
            self.assertIn("has no ainvil-solve", done.stderr)
        self.assertEqual(run("targets.sh", BUILD, self.folder, "huge").returncode, 2)
        with self.assertRaisesRegex(SystemExit, "no isai.jsonl"):
            printed(targets_table, self.folder)

    def test_time_to_solution(self):
        self.write("isai", solve("cavity:300", "ilu:solve=isai,power=1", solving=0.099),
                   solve("cavity:300", "ilu:solve=isai,power=2"),
                   solve("cavity:300", "ilu:solve=isai,power=3"),
                   solve("shell:253x399", "ilu:solve=isai,power=1"))
        self.write("cusparse", solve("cavity:300", "cusparse-ilu", solving=2.0),
                   solve("shell:253x399", "cusparse-ilu", solving=0.6))
        self.assertEqual(self.verdict("exact solves of cuSPARSE", "cavity"), ("20 x", "yes"))
        self.assertEqual(self.verdict("exact solves of cuSPARSE", "shell"), ("5.95 x", "no"))
        self.assertEqual(self.verdict("Ginkgo"), ("3.83 x", "no"))
        self.assertEqual(self.verdict("time to solution", "p = 3"), ("1.98 %", "yes"))
        self.write("isai-float-basis",
                   solve("cavity:300", "ilu:solve=isai,power=1", solving=0.079, basis="float"))
        self.assertEqual(self.verdict("exact solves of cuSPARSE", "cavity"), ("25 x", "yes"))
        self.assertEqual(self.verdict("Ginkgo"), ("4.79 x", "yes"))
        self.assertIn("basis in float", [row for row in self.table() if "Ginkgo" in row[0]][0][4])

    def test_share_of_the_set_up(self):
        """5 % of the time to solution, and 10 % for the largest pattern."""
        self.write("isai", *(solve("cavity:300", f"ilu:solve=isai,power={power}", solving=0.029) for power in (1, 2, 3)))
        for power, met in ((1, "no"), (2, "no"), (3, "yes")):
            self.assertEqual(self.verdict("time to solution", f"p = {power}"), ("6.67 %", met))

    def test_float_storage(self):
        self.write("isai", solve("euler:9", "ilu:solve=isai,power=1"),
                   solve("euler:9", "ilu:solve=isai,power=1,storage=float", iterations=103,
                         apply30_seconds=0.006))
        self.assertEqual(self.verdict("time of an application"), ("0.6 x", "yes"))
        self.assertEqual(self.verdict("more iterations"), ("3 %", "no"))
        self.write("isai-float-basis", solve("euler:9", "ilu:solve=isai,power=2"),
                   solve("euler:9", "ilu:solve=isai,power=2,storage=bfloat16", apply30_seconds=0.004),
                   solve("euler:9", "ilu:solve=isai,relax=1,storage=bfloat16"))
        self.assertEqual(self.verdict("bfloat16, time of an application", "p = 2"), ("0.4 x", "yes"))
        self.assertEqual(self.verdict("bfloat16, more iterations"), ("0 %", "yes"))

    def test_products_and_factors(self):
        self.write("isai", solve("cavity:600", "ilu:solve=isai,power=1"))
        product = {"program": "ainvil-triangular-sweeps", "study": "product", "problem": "cavity:600", "bytes": 1e8, "bytes_per_second": 4e12,
                   "share_of_copy": 0.9}
        self.write("products", {**product, "method": "spmv", "seconds": 1e-4},
                   {**product, "method": "cusparse", "seconds": 1.7e-4})
        factor = {"program": "ainvil-triangular-sweeps", "study": "factor", "problem": "cavity:600", "block_size": 3}
        self.write("factors",
                   {**factor, "method": "levels", "setup_seconds": 0.002, "numeric_seconds": 0.002},
                   {**factor, "method": "cusparse", "setup_seconds": 0.003, "numeric_seconds": 0.004})
        self.assertEqual(self.verdict("against bsrmv"), ("1.7 x", "no"))
        self.assertEqual(self.verdict("share of copy"), ("90 %", "yes"))
        self.assertEqual(self.verdict("analysis and factor of bsrilu02"), ("1.75 x", "yes"))
        self.assertEqual(self.verdict("second compute"), ("3.5 x", "yes"))

    def test_factors_from_the_first_compute_on(self):
        """The analysis of either counts for the first, that of ours not for the second."""
        self.write("isai", solve("cavity:600", "ilu:solve=isai,power=1"))
        factor = {"program": "ainvil-triangular-sweeps", "study": "factor", "problem": "cavity:600", "block_size": 3}
        self.write("factors",
                   {**factor, "method": "levels", "setup_seconds": 0.006, "numeric_seconds": 0.002},
                   {**factor, "method": "cusparse", "setup_seconds": 0.003, "numeric_seconds": 0.005})
        self.assertEqual(self.verdict("analysis and factor of bsrilu02"), ("1 x", "no"))
        self.assertEqual(self.verdict("second compute"), ("4 x", "yes"))

    def test_targets_include_their_bounds(self):
        self.write("isai", solve("cavity:600", "ilu:solve=isai,power=1"))
        self.write("cholesky", {"program": "ainvil-batched-cholesky", "study": "cholesky", "precision": "double",
                                "peer": "cuSOLVER", "size": "96", "factor_seconds": 2e-3, "factor_gflops": 150,
                                "peer_seconds": 2e-3, "peer_gflops": 150})
        self.assertEqual(self.verdict("batched Cholesky", "96"), ("1 x", "yes"))

    def test_cholesky(self):
        """Where putting the matrices back takes longer than factoring them, nothing is measured and none is met."""
        self.write("isai", solve("cavity:600", "ilu:solve=isai,power=1"))
        batch = {"program": "ainvil-batched-cholesky", "study": "cholesky", "precision": "double", "peer": "cuSOLVER",
                 "factor_seconds": 1e-3, "factor_gflops": 300, "peer_seconds": 2e-3, "peer_gflops": 150}
        self.write("cholesky", {**batch, "size": "64"}, {**batch, "size": "96"},
                   {**batch, "size": "128", "factor_seconds": None, "factor_gflops": None})
        self.assertEqual(self.verdict("batched Cholesky", "64"), ("2 x", "no"))
        self.assertEqual(self.verdict("batched Cholesky", "96"), ("2 x", "yes"))
        self.assertEqual(self.verdict("batched Cholesky", "128"), ("not measured", ""))
        self.assertIn("| - / 150 GFLOP/s |", printed(targets_table, self.folder))

    def test_host(self):
        self.write("isai", solve("cavity:600", "ilu:solve=isai,power=1"))
        self.write("setups", *(solve("laplace7:107", "fsai", setup=s) for s in (0.5, 0.1)),
                   solve("laplace7:46", "ainv", setup=0.1))
        self.write("setups-host", solve("laplace7:107", "fsai", setup=2.1),
                   solve("laplace7:46", "ainv", setup=0.4))
        self.assertEqual(self.verdict("FSAI set-up against 16 host cores"), ("21 x", "yes"))
        self.assertEqual(self.verdict("SAINV columns against 16 host cores"), ("4 x", "no"))

    def test_sweeps(self):
        """Counts the fewest sweeps within 20 %, against the faster of what cuSPARSE offers."""
        self.write("isai", solve("cavity:600", "ilu:solve=isai,power=1"))
        self.write("sweeps", *(solve(problem, f"ilu:solve=jacobi,sweeps={m}", iterations=its)
                               for problem in ("poisson5:9", "circuit:9")
                               for m, its in ((1, 200), (2, 119), (3, 101))))
        self.write("cusparse", solve("poisson5:9", "cusparse-ilu", solving=0.4))
        self.write("exact-host", solve("circuit:9", "ilu:solve=exact"))
        self.write("triangles", *({"program": "ainvil-triangular-sweeps", "study": "cost", "problem": problem,
                                   "method": "cusparse", "setup_seconds": 0.01, "seconds": seconds}
                                  for problem, seconds in (("poisson5:9", 1e-3), ("circuit:9", 1e-4))
                                  for _ in range(2)))
        what = "m Jacobi sweeps"
        # 2 (10 ms + 100 * 1 ms) with SpSV, 2 (10 ms + 100 * 0.1 ms)
        self.assertEqual(self.verdict(what, "poisson5"), ("2.18 x", "yes"))
        self.assertEqual(self.verdict(what, "circuit"), ("0.396 x", "no"))
        self.assertTrue(all("sweeps=2" in row[4] for row in self.table() if what in row[0]))

    def test_growth(self):
        self.write("isai", solve("cavity:600", "ilu:solve=isai,power=1"))
        self.write("growth", solve("laplace7:2", "jacobi"),
                   solve("laplace7:3", "jacobi", setup=0.0045, solving=0.3, rows=4000000))
        self.assertEqual(self.verdict("four times the rows, set-up"), ("4.5 x", "no"))
        self.assertEqual(self.verdict("four times the rows, solve"), ("3 x", "yes"))

    def test_faster_policy(self):
        self.write("policies", solve("cavity:3", "cusparse-ilu"),
                   solve("cavity:3", "cusparse-ilu:policy=no-level", apply30_seconds=0.009),
                   solve("cavity:4", "cusparse-ilu", apply30_seconds=0.001))
        self.assertEqual(printed(targets_table, "--faster-policy", "cavity:3",
                                 os.path.join(self.folder, "policies.jsonl")),
                         "cusparse-ilu:policy=no-level\n")

    def test_where_a_gpu_pays(self):
        sizes = ((1000, 0.1), (2000, 0.3), (4000, 0.9))
        self.write("on-device", *(solve("laplace7:9", "jacobi", solving=0.2, rows=n) for n, _ in sizes))
        self.write("on-host", *(solve("laplace7:9", "jacobi", solving=s, rows=n) for n, s in sizes))
        lines = printed(host_and_gpu_table, self.folder).splitlines()
        self.assertIn("| solve | 2000 | 0.5 | 1.5 | 4.5 |", lines)
        self.assertIn("| set-up | never here | 1 | 1 | 1 |", lines)
        self.write("on-host", *(solve("laplace7:9", "jacobi", solving=0.4, rows=n) for n, _ in sizes))
        self.assertIn("| solve | 1000 | 2 | 2 | 2 |", printed(host_and_gpu_table, self.folder).splitlines())


if __name__ == "__main__":
    BUILD = os.path.abspath(sys.argv.pop(1))
    unittest.main()
