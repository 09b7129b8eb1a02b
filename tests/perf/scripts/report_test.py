#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""perf/report.py: pages from checked-in sample records (of our programs on problems of a few rows) against
checked-in pages; the same without the figures and the topics that may be missing; which records go where; templates
against their tables and the pages of docs/results.

usage: report_test.py
"""

import contextlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../../..")
sys.path.insert(0, os.path.join(ROOT, "perf"))

import missing_figures
import report
from records import read, write

SAMPLE = os.path.join(HERE, "sample_records")
EXPECTED = os.path.join(HERE, "sample_pages")
RESULTS = os.path.join(ROOT, "docs/results")
# What the sample has records of.
MEASURED = {"products", "factors", "storage", "cholesky", "sweeps-host", "host-and-gpu", "targets",
            "patterns", "threads"}


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def headings(text):
    return re.findall("^#+ .*", text, re.MULTILINE)


def table_rows(text):
    return [line for line in text.splitlines() if line.startswith("|")]


class ReportTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "pages")
        self.records = os.path.join(folder.name, "records")
        shutil.copytree(SAMPLE, self.records)

    def report(self, *folders, pages=()):
        """What it prints."""
        options = [word for page in pages for word in ("--page", page)]
        with contextlib.redirect_stdout(io.StringIO()) as text, \
                mock.patch.object(sys, "argv", ["report.py", *folders, "-o", self.out, *options]):
            report.main()
        return text.getvalue()

    def page(self, name):
        return text_of(self.out, f"{name}.md")

    def change(self, name, change):
        """Every record of a file of the copy."""
        path = os.path.join(self.records, f"{name}.jsonl")
        write(path, [change(record) for record in read(path)])

    def test_pages_of_the_sample(self):
        self.report(SAMPLE)
        names = os.listdir(EXPECTED)
        self.assertGreaterEqual(len(names), 2)
        for name in names:
            self.assertEqual(text_of(self.out, name), text_of(EXPECTED, name),
                             "if it is meant to be so: perf/report.py tests/perf/scripts/sample_records "
                             f"-o tests/perf/scripts/sample_pages --page {name.removesuffix('.md')}")

    def test_other_records_make_another_page(self):
        self.change("products", lambda record: {**record, "seconds": 3 * record["seconds"]})
        self.report(self.records, pages=["products"])
        self.assertEqual(headings(self.page("products")), headings(text_of(EXPECTED, "products.md")))
        self.assertNotEqual(self.page("products"), text_of(EXPECTED, "products.md"))

    def test_missing_topics(self):
        """A page without records stays as it is; a table without is said not to have been measured."""
        os.makedirs(self.out)
        with open(os.path.join(self.out, "peers.md"), "w", encoding="utf-8") as file:
            file.write("kept\n")
        printed = self.report(SAMPLE)
        self.assertIn("peers: no records, left as it is\n", printed)
        self.assertEqual(self.page("peers"), "kept\n")
        self.assertEqual({name.removesuffix(".md") for name in os.listdir(self.out)}, MEASURED | {"peers"})
        self.assertIn("sweeps-host: written, not measured: convergence, factors\n", printed)
        self.assertEqual(self.page("sweeps-host").count(f"\n{report.NOT_MEASURED}\n"), 2)
        # A study that was cut short has no list of its calls.
        os.remove(os.path.join(self.records, "sweeps-table2.calls.json"))
        self.assertIn("sweeps-host: no records", self.report(self.records))

    def test_missing_figures(self):
        """Whatever is missing, there are as many rows, and nothing that is not a number."""
        self.report(SAMPLE)
        rows = {name: len(table_rows(self.page(name))) for name in MEASURED}
        names = [name for name in sorted(os.listdir(SAMPLE)) if name.endswith(".jsonl")]
        files = {name: read(os.path.join(SAMPLE, name)) for name in names}
        owners = [name for name in names for _ in files[name]]
        for what, records in missing_figures.variants([r for name in names for r in files[name]]):
            for name in names:
                write(os.path.join(self.records, name), [r for k, r in zip(owners, records) if k == name])
            self.report(self.records)
            for name in MEASURED:
                text = self.page(name)
                self.assertNotRegex("\n".join(table_rows(text)), r"\b(None|nan|inf)\b", f"{what}: {name}")
                if name not in ("targets", "host-and-gpu", "threads"):  # rows of what converged, and of phases
                    self.assertEqual(len(table_rows(text)), rows[name], f"{what}: {text}")

    def test_head(self):
        """Commits and devices of all records, and their commands without the folders of a machine."""
        path = os.path.join(self.records, "products.jsonl")
        write(path, read(path) + [{**record, "git": "fedcba9", "exec_space": "Cuda", "device": "GPU", "threads": 16}
                                  for record in read(path)])
        with open(os.path.join(self.records, "more.commands"), "w", encoding="utf-8") as file:
            file.write("2026-12-24\tperf/targets.sh /machine/build/cuda ../there full\n"
                       "products\t/machine/ainvil-triangular-sweeps product --problem cavity:300\n"
                       "factors\tainvil-triangular-sweeps factor\n")
        self.report(self.records, pages=["products"])
        for line in ("| commit | 0123abc, fedcba9 |", "| device | OpenMP on sample CPU, Cuda on GPU; 1, 16 host threads |",
                     "| date | 2026-11-23, 2026-12-24 |",
                     "| run | `perf/targets.sh cuda there full`, `perf/targets.sh build/openmp sample smoke` |",
                     "    ainvil-triangular-sweeps product --problem cavity:300"):
            self.assertIn(line + "\n", self.page("products"))
        self.assertNotIn("factor", self.page("products"))

    def test_several_folders(self):
        """The first that has records for a table counts."""
        self.change("products", lambda record: {**record, "git": "fedcba9"})
        os.remove(os.path.join(self.records, "cholesky.jsonl"))
        self.report(self.records, SAMPLE)
        self.assertIn("| commit | fedcba9 |\n", self.page("products"))
        self.assertIn("| commit | 0123abc |\n", self.page("cholesky"))

    def test_hosts_and_devices(self):
        """Have pages of their own."""
        solves = read(os.path.join(SAMPLE, "isai.jsonl"))
        write(os.path.join(self.records, "block-isai-host.jsonl"), solves)
        self.report(self.records)
        self.assertIn("cavity:4", self.page("block-isai-host"))
        self.assertFalse(os.path.exists(os.path.join(self.out, "block-isai.md")))
        write(os.path.join(self.records, "block-isai.jsonl"), [{**run, "exec_space": "Cuda"} for run in solves])
        self.report(self.records)
        self.assertIn("Cuda on sample CPU", self.page("block-isai"))
        self.assertNotIn("Cuda", self.page("block-isai-host"))

    def test_refused(self):
        for folders, pages, says in ((["/nowhere"], [], "there is no folder /nowhere"),
                                     ([SAMPLE], ["ranks"], "has records for none of ranks")):
            with self.assertRaisesRegex(SystemExit, says):
                self.report(*folders, pages=pages)
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            self.report(SAMPLE, pages=["nonsense"])

    def test_sample_is_small_and_of_nobody(self):
        text = "".join(text_of(SAMPLE, name) for name in os.listdir(SAMPLE))
        self.assertLess(len(text), 32768)
        self.assertNotRegex(text, r"/(work|home|tmp|root)/")
        self.assertEqual(set(re.findall(r'"device":"([^"]*)"', text)), {"sample CPU"})


class TablesTest(unittest.TestCase):
    """Tables of perf/report_tables.py on made-up figures, and without them."""

    def setUp(self):
        self.solve = {**read(os.path.join(SAMPLE, "isai.jsonl"))[0], "problem": "cavity:9", "rows": 1000, "iterations": 100,
                      "setup_seconds": {"pattern": 0.002}, "setup_total_seconds": 0.004, "solve_seconds": 0.1,
                      "total_seconds": 0.104, "apply30_seconds": 0.003, "peak_bytes": 5000, "notes": "density=2"}
        self.factor = {"program": "ainvil-triangular-sweeps", "study": "factor", "problem": "cavity:9", "block_size": 3,
                       "method": "levels", "sweeps": 0, "setup_seconds": 0.001, "numeric_seconds": 0.002, "residual": None}

    def rows(self, show, *files):
        """Cells below the titles, also where figures are missing: as many then."""
        def cells(*records):
            text = report.printed(show, *records)
            self.assertNotRegex(text, r"\b(None|nan|inf)\b")
            return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table_rows(text)[2:]]
        found = cells(*files)
        for _, records in missing_figures.variants([record for records in files for record in records]):
            rest = iter(records)
            self.assertEqual(len(cells(*([next(rest) for _ in records] for records in files))), len(found))
        return found

    def test_factors(self):
        sweeps = {**self.factor, "method": "sweeps", "numeric_seconds": 0.0005}
        self.assertEqual(self.rows(report.report_tables.factors, [
            self.factor, {**sweeps, "sweeps": 1, "residual": 2e-3}, {**sweeps, "sweeps": 3, "residual": 4e-5},
            {**self.factor, "numeric_seconds": 0.0019}, {**self.factor, "method": "cusparse", "numeric_seconds": 0.006},
            {**self.factor, "problem": "jump:9", "block_size": 1}]), [
                ["cavity:9, blocks of 3", "1.9 (1)", "0.5", "0.5", "2e-03, 4e-05", "6 (1)"],
                ["jump:9", "2 (1)", "", "", "", ""]])

    def test_setups(self):
        fsai = {**self.solve, "precond": "fsai:power=3"}
        self.assertEqual(self.rows(
            lambda *files: report.report_tables.setups(*files, "fsai"),
            [fsai, {**fsai, "setup_total_seconds": 0.003}, {**self.solve, "precond": "ainv"}, {**fsai, "precond": "fsai"}],
            [{**fsai, "setup_total_seconds": 0.06}]), [
                ["cavity:9", "power=3", "1000", "density=2", "100", "2", "3", "100", "60", "20"],
                ["cavity:9", "defaults", "1000", "density=2", "100", "2", "4", "100", "-", "-"]])

    def test_solves(self):
        self.assertEqual(self.rows(report.report_tables.growth, [self.solve]), [
            ["cavity:9", self.solve["precond"], "1000", "4", "100", "1e+03", "1e+03", "5"]])
        # The peak, not what an application reads.
        self.assertEqual(self.rows(report.report_tables.growth, [{**self.solve, "peak_bytes": 9000}])[0][-1], "9")
        self.assertEqual(self.rows(report.report_tables.solved, [self.solve, {**self.solve, "status": "diverged"}]), [
            ["cavity:9", self.solve["precond"], which, "4", "100", "104"] for which in ("100", "diverged")])
        two = {**self.solve, "precond": "ilu:solve=jacobi,sweeps=2", "total_seconds": 0.05}
        self.assertEqual(self.rows(report.report_tables.totals, [self.solve, two, {**two, "problem": "jump:9"}]), [
            ["cavity:9", "104 (100)", "50 (100)"], ["jump:9", "", "50 (100)"]])

    def test_storage(self):
        short = {**self.solve, "precond": self.solve["precond"] + ",storage=bfloat16", "apply30_seconds": 0.0015,
                 "iterations": 120, "total_seconds": 0.09}
        self.assertEqual(self.rows(report.report_tables.storage, [self.solve, short, {**self.solve, "problem": "jump:9"}]), [
            ["cavity:9", "isai,power=1", "100", "", "50", "100", "", "120", "104", "", "90"]])
        self.assertEqual(self.rows(report.report_tables.bases, [self.solve, short], [{**self.solve, "solve_seconds": 0.08}]), [
            ["cavity:9", "isai,power=1", "1e+03", "800", "100", "100"]])


class TemplatesTest(unittest.TestCase):

    def test_templates_have_their_tables(self):
        self.assertEqual({name.removesuffix(".md") for name in os.listdir(report.TEMPLATES)}, set(report.PAGES))
        for name, tables in report.PAGES.items():
            found = report.PLACEHOLDER.findall(report.template(name))
            self.assertEqual(sorted(found), sorted(tables), name)
            self.assertEqual(report.template(name).count("{{"), len(tables), name)

    def test_pages_follow_their_templates(self):
        """So that links to their headings last, and what is told in a template is not changed in the page."""
        index = text_of(RESULTS, "index.md")
        for name in report.PAGES:
            page = text_of(RESULTS, f"{name}.md")
            self.assertIn(f"]({name}.md)", index)
            self.assertRegex(page, r"\| commit \| ([0-9a-f]{7}(, )?)+ \|", name)
            at = 0
            for part in report.PLACEHOLDER.sub("{{}}", report.template(name).partition("\n")[2]).split("{{}}"):
                at = page.find(part.strip(), at)
                self.assertGreaterEqual(at, 0, f"{name}.md lacks what its template says: {part[:200]}")

    def test_calls_of_a_study(self):
        """papers.py tells whose records are whose, and report.py finds them again."""
        with open(os.path.join(SAMPLE, "sweeps-table2.calls.json"), encoding="utf-8") as file:
            calls = json.load(file)["calls"]
        recorded = report.papers.Recorded(SAMPLE, report.paper_studies.STUDIES["sweeps/table2"])
        self.assertEqual({key: len(records) for key, records in recorded.results.items()},
                         {call["key"]: call["records"] for call in calls})
        self.assertEqual(report.papers.hashable([["newton", "8", "2"], "host"]), (("newton", "8", "2"), "host"))


if __name__ == "__main__":
    unittest.main()
