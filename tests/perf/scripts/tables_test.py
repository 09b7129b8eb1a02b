#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""perf/table.py, perf/peers_table.py and perf/factors_table.py on made-up records, for which every cell is known, and the figures of
perf/records.py at their bounds.

usage: tables_test.py
"""

import gzip
import os
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../perf"))

import factors
import factors_table
import peers_table
import records
import report
import table

RUN = {**records.read(os.path.join(HERE, "sample_records/isai.jsonl"))[0], "problem": "cavity:9", "rows": 1000,
       "nnz": 9 * 4000, "block_size": 3, "setup_seconds": {}, "setup_total_seconds": 0.25, "recompute_seconds": 0.125,
       "factor_bytes": 12000, "iterations": 100, "solve_seconds": 0.5, "apply30_seconds": 0.003, "total_seconds": 0.75,
       "threads": 2, "ranks": 1}


def rows(show, runs):
    """Cells of all tables below their titles."""
    found = []
    for line in report.printed(show, runs).splitlines():
        if line.startswith("|---"):
            found.pop()
        elif line.startswith("|"):
            found.append([cell.strip() for cell in line.split("|")[1:-1]])
    return found



class TableTest(unittest.TestCase):

    def test_cells(self):
        exact = {**RUN, "precond": "ilu:solve=exact", "solve_seconds": 1.25, "total_seconds": 1.5}
        phases = {"ilu_symbolic": 1e-3, "ilu_levels": 2e-3, "lower_isai_pattern": 3e-3, "upper_isai_pattern": 4e-3,
                  "ilu_numeric": 5e-3, "lower_isai_convert": 6e-3, "lower_isai_solve": 7e-3, "upper_isai_probe": 8e-3}
        isai = {**RUN, "precond": "ilu:solve=isai,power=2", "setup_seconds": phases}
        # 30 applications move 30 (12000 + 6 * 8 * 1000) bytes in 3 ms: 0.0006 TB/s.
        fast = {**isai, "apply30_seconds": 30 * 60000 / 1.25e12, "iterations": 0}
        first, second, third = rows(table.show, [exact, isai, fast])
        self.assertEqual(first, ["exact", "100", *["0"] * 5, "250", "125", "3", "0.00", "1250", "12500", "1500", "1.0"])
        self.assertEqual(second, ["isai,power=2", "100", "1", "2", "7", "11", "15", "250", "125", "3", "0.00", "500", "5000",
                                  "750", "2.0"])
        # Without an iteration the solve counts as one.
        self.assertEqual([third[k] for k in (1, 10, 12)], ["0", "1.25", "500000"])

    def test_other_problems_have_no_speed_up(self):
        other = {**RUN, "problem": "jump:9", "precond": "ilu:solve=isai,power=1"}
        self.assertEqual(rows(table.show, [{**RUN, "precond": "ilu:solve=exact"}, other])[1][-1], "")


class PeersTableTest(unittest.TestCase):

    def test_cells(self):
        """Against the fastest of Ainvil with as many cores that converged."""
        ours = {**RUN, "precond": "ilu", "setup_total_seconds": 0.5, "solve_seconds": 1.5}
        runs = [ours, {**ours, "precond": "jacobi", "solve_seconds": 3.5},
                {**ours, "precond": "none", "status": "diverged", "solve_seconds": 0.25},
                {**ours, "precond": "petsc:ilu", "library": "PETSc", "ranks": 2, "threads": 1, "solve_seconds": 4.5},
                {**ours, "precond": "petsc:gamg", "library": "PETSc", "ranks": 3, "threads": 1}]
        self.assertEqual(rows(peers_table.show, runs), [
            ["`ilu`", "100", "0.5", "2", "1.00", "", "", "", ""],
            ["`jacobi`", "100", "0.5", "4", "2.00", "", "", "", ""],
            ["`none`", "diverged", "0.5", "", "", "", "", "", ""],
            ["`petsc:ilu`", "100", "0.5", "5", "2.50", "", "", "", ""],
            ["`petsc:gamg`", "", "", "", "", "100", "0.5", "2", "-"]])
        text = report.printed(peers_table.show, runs)
        self.assertIn("4000 blocks of size 3", text)
        self.assertIn("iterations, 2 cores", text)

    def test_ours_over_ranks(self):
        """A row for each format beside the same preconditioner with threads; one may be the fastest of Ainvil."""
        threads = {**RUN, "precond": "ilu", "setup_total_seconds": 1, "solve_seconds": 4}
        points = {**threads, "ranks": 2, "threads": 1, "partition": "rows", "format": "points", "iterations": 120, "solve_seconds": 3}
        blocks = {**points, "format": "blocks", "setup_total_seconds": 0.2}
        short = {**points, "basis": "float", "solver": "gmres", "precision": "double", "solve_seconds": 2.6}
        self.assertEqual(rows(peers_table.show, [threads, points, blocks, short]), [
            ["`ilu`", "100", "1", "5", "1.56"], ["`ilu`, over ranks", "120", "1", "4", "1.25"],
            ["`ilu`, over ranks, in blocks", "120", "0.2", "3.2", "1.00"],
            ["`ilu`, over ranks, basis in float", "120", "1", "3.6", "1.12"]])

    def test_fastest_of_several(self):
        """Set-up and solve each, wherever they come and whatever is missing."""
        times = [(3, 8), (2, 9), (None, None), (4, 7)]
        for order in (times, times[::-1]):
            runs = [{**RUN, "precond": "ilu", "setup_total_seconds": setup, "solve_seconds": solve} for setup, solve in order]
            self.assertEqual(rows(peers_table.show, runs), [["`ilu`", "100", "2", "9", "1.00"]])


class FactorsTest(unittest.TestCase):

    def test_matrices_that_only_superlu_solves(self):
        """Neither exact solves nor a run without preconditioner count; nor does what SuperLU does not solve."""
        def runs(problem, **statuses):
            return [{**RUN, "problem": problem, "match": "none", "precond": precond, "status": statuses.get(key, "diverged")}
                    for key, precond in (("superlu", "superlu"), ("none", "none"), ("exact", "ilu,solve=exact"), ("isai", "ilu,solve=isai"))]
        text = report.printed(factors_table.show, [
            *runs("kept", superlu="converged", isai="converged"),
            *runs("lost", superlu="converged", exact="converged", none="converged"), *runs("hard")])
        self.assertIn("SuperLU solves: 2; of these not solved by Ainvil without exact solves: lost.", text)

    def test_a_fallback_may_be_exact(self):
        """relax=auto is no run without exact solves unless it says so; what it loses of the exact runs is named."""
        def run(problem, options, status):
            return {**RUN, "problem": problem, "match": "none", "precond": f"ilu,{factors.STRATEGIES[options]}", "status": status}
        text = report.printed(factors_table.show, [
            {**RUN, "problem": "kept", "precond": "superlu"}, run("kept", "exact", "converged"), run("kept", "isai, relax=auto", "converged"),
            run("lost", "exact", "converged"), run("lost", "isai, relax=auto", "diverged"), run("hard", "exact", "diverged")])
        self.assertIn("SuperLU solves: 1; of these not solved by Ainvil without exact solves: kept.", text)
        self.assertIn("exact solves: 2; of these not with `solve=isai,power=2,relax=auto`: "
                      "lost with `ilu,solve=isai,power=2,relax=auto`.", text)

    def test_a_run_without_record_is_a_row(self):
        """What varies is allowed to; ic refuses it and is not asked."""
        def run(program, arguments, limit):
            self.assertEqual((program, limit), ("program", 1))
            self.assertEqual("--allow-varying" in arguments, "solve=async" in arguments[-1])
            return ([] if arguments[-1] == "fsai" else [{**RUN, "precond": arguments[-1]}])
        for kind in ("spd", "general", "indefinite"):
            with mock.patch.object(factors, "run", run):
                found = list(factors.solves("program", [], 1, kind))
            self.assertEqual([record["precond"] for record in found], factors.specifications(kind))
            self.assertEqual([record["precond"] for record in found if record["status"] == "failed"], ["fsai"] if kind == "spd" else [])
            self.assertFalse([record for record in found if "async" in record["precond"] and record["precond"].startswith("ic")])
        with mock.patch.object(factors, "run", lambda *_: []):
            self.assertEqual(list(factors.solves("program", [], 1, "spd")), [])

    def test_limits_are_of_processor_time(self):
        """A run that works is ended, one that waits goes on; records come from the file that --json names."""
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            with open(program, "w", encoding="utf-8") as file:
                file.write("#!/bin/bash\n[[ $1 == waits ]] && sleep 1 || while :; do :; done\necho '{\"at\": 1}' >${!#}\n")
            os.chmod(program, 0o755)
            self.assertEqual(factors.run(program, ["waits"], 0.5), [{"at": 1}])
            self.assertEqual(factors.run(program, ["works"], 0.5), [])

    def test_shifted_files(self):
        """Scaled to a diagonal of ones, less the shift, in the triangle that the file has."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.mtx.gz")
            with gzip.open(path, "wt") as file:
                file.write("%%MatrixMarket matrix coordinate real symmetric\n% a comment\n2 2 3\n1 1 4\n2 1 -3\n2 2 9\n")
            with open(factors.shifted(path, 0.25, folder), encoding="utf-8") as file:
                self.assertEqual(file.read(), "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 0.75\n2 1 -0.5\n2 2 0.75\n")


class RecordsTest(unittest.TestCase):

    def test_bounds_belong_to_what_is_allowed(self):
        self.assertTrue(records.at_most(5, 5))
        self.assertTrue(records.at_most(4, 5))
        self.assertFalse(records.at_most(6, 5))
        self.assertFalse(records.at_most(None, 5) or records.at_most(5, None))

    def test_iterations_are_whole(self):
        self.assertEqual(records.iterations({**RUN, "iterations": 1234567}), "1234567")
        self.assertEqual(records.iterations({**RUN, "status": "max_iterations"}), "max_iterations")


if __name__ == "__main__":
    unittest.main()
