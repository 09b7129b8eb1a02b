#!/usr/bin/env python3
"""Writes the pages of docs/results from the records of a run:
perf/report.py FOLDER... [-o docs/results] [--page PAGE]...

FOLDER is where perf/targets.sh, perf/run_all.sh, perf/papers.py, perf/block_isai.sh or perf/peers.sh left their
records; files of one name in several folders are taken together. A page is a template of perf/templates, whose
{{names}} are replaced by tables, below a head with the commit, the device, the date and the commands of its records.
A page is written anew as a whole if its first table has records, others stay as they are; --page writes only
those. Explanations are changed in the template.
"""
import argparse
import collections
import contextlib
import glob
import io
import os
import re
import sys

import host_and_gpu_table
import paper_studies
import papers
import peers_table
import report_tables
import table
import targets_table
from records import HOSTS, fail, head, read, row

HERE = os.path.dirname(os.path.abspath(__file__))
TEMPLATES = os.path.join(HERE, "templates")
PLACEHOLDER = re.compile(r"^\{\{([\w-]+)\}\}$", re.MULTILINE)
NOT_MEASURED = "Not measured in this run."

# A table prints what `show` makes of the lists of records of its files, of which the first must not be empty; a+b
# is both. That of a paper's study has the study instead.
Table = collections.namedtuple("Table", "files show study", defaults=((), None, None))


def study(name):
    return Table(study=paper_studies.STUDIES[name])


def on_device(records):
    return [record for record in records if record["exec_space"] not in HOSTS]


def on_host(records):
    return [record for record in records if record["exec_space"] in HOSTS]


def targets(*files):
    targets_table.show(dict(zip(targets_table.FILES, files)))


# The tables of a page by their placeholders. A page whose name ends in -host takes records of hosts, and its twin
# those of GPUs.
PAGES = {
    "targets": {"targets": Table(targets_table.FILES, targets), "growth": Table(["growth"], report_tables.growth)},
    "defaults": {"defaults": Table(["defaults"], report_tables.solved)},
    "block-isai": {"strategies": Table(["block-isai+block-isai-host"], table.show), "papers": study("block-isai/tables1-4")},
    "block-isai-host": {"strategies": Table(["block-isai+block-isai-host"], table.show), "papers": study("block-isai/tables1-4")},
    "storage": {"storage": Table(["isai-float-basis"], report_tables.storage),
                "bases": Table(["isai", "isai-float-basis"], report_tables.bases)},
    "products": {"products": Table(["products+sweeps-product"], report_tables.products)},
    "factorisation": {"factors": Table(["factors+sweeps-factor"], report_tables.factors)},
    "sweeps": {"cost": study("sweeps/table2"), "convergence": study("sweeps/figures2-5"),
               "totals": Table(["sweeps"], report_tables.totals)},
    "sweeps-host": {"cost": study("sweeps/table2"), "convergence": study("sweeps/figures2-5"),
                    "factors": Table(["factors+sweeps-factor"], report_tables.factors)},
    "fsai": {"setups": Table(["setups", "setups-host"], lambda *files: report_tables.setups(*files, "fsai")),
             "papers": study("fsai/tables1-7")},
    "cholesky": {"cholesky": Table(["cholesky"], paper_studies.show_cholesky)},
    "ainv": {"setups": Table(["setups", "setups-host"], lambda *files: report_tables.setups(*files, "ainv")),
             "papers": study("thesis/tables7.2-7.9")},
    "host-and-gpu": {"host-and-gpu": Table(["on-device", "on-host"], host_and_gpu_table.show)},
    "peers": {"peers": Table(["peers+peers-one-core"], peers_table.show)},
    "ranks": {"papers": study("block-jacobi/figures3-11")},
}


class Run:
    """What several folders hold: records by file, studies of papers, and the commands behind each file."""

    def __init__(self, folders):
        self.folders = folders
        self.records = collections.defaultdict(list)
        for folder in folders:
            if not os.path.isdir(folder):
                fail(f"there is no folder {folder}")
            for path in sorted(glob.glob(os.path.join(folder, "*.jsonl"))):
                self.records[os.path.basename(path).removesuffix(".jsonl")] += read(path)
        self.dates = collections.defaultdict(dict)
        self.commands = collections.defaultdict(list)
        self.studies = {}
        for folder in folders:
            for path in sorted(glob.glob(os.path.join(folder, "*.commands"))):
                with open(path, encoding="utf-8") as file:
                    (date, call), *lines = (line.rstrip("\n").split("\t", 1) for line in file)
                for name, command in lines:
                    self.dates[name][date] = None
                    self.commands[name].append((plain(call), plain(command)))
            for name in paper_studies.STUDIES:
                recorded = papers.Recorded(folder, paper_studies.STUDIES[name])
                if recorded.results:
                    self.studies[name] = recorded


def plain(command):
    """A command without the folders of the machine it ran on."""
    def word(text):
        base = os.path.basename(text)
        if base.endswith((".sh", ".py")):
            return f"perf/{base}"
        return base if base.startswith("ainvil-") or os.path.isabs(text) or text.startswith("..") else text
    return " ".join(map(word, command.split()))


def printed(show, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        show(*arguments)
    return text.getvalue().strip()


class Page:
    """A page of a run: its tables as text, None for one without records, and what its head says of the records."""

    def __init__(self, name, run):
        self.name, self.run = name, run
        self.records, self.dates, self.calls, self.commands = [], {}, {}, {}
        self.tables = {key: self.text(one) for key, one in PAGES[name].items()}

    def of_space(self, records):
        twin = self.name.removesuffix("-host")
        if f"{twin}-host" not in PAGES:
            return records
        return on_host(records) if self.name.endswith("-host") else on_device(records)

    def text(self, one):
        """Of a table; None where there are no records for it."""
        if one.study:
            recorded = self.run.studies.get(one.study.name)
            records = self.of_space([r for runs in recorded.results.values() for r in runs]) if recorded else []
            if not records:
                return None
            self.dates[recorded.date] = None
            self.commands.update(dict.fromkeys(plain(call["command"]) for call in recorded.calls))
            self.records += records
            return printed(papers.show, one.study, recorded, recorded.results)
        files = []
        for names in one.files:
            files.append([])
            for name in names.split("+"):
                files[-1] += self.of_space(self.run.records[name])
        if not files[0]:
            return None
        self.records += [record for records in files for record in records]
        for name in "+".join(one.files).split("+"):
            if self.of_space(self.run.records[name]):
                self.dates.update(self.run.dates[name])
                self.calls.update(dict.fromkeys(call for call, _ in self.run.commands[name]))
                self.commands.update(dict.fromkeys(command for _, command in self.run.commands[name]))
        return printed(one.show, *files)

    def distinct(self, *keys):
        return ", ".join(dict.fromkeys(" on ".join(str(record[key]) for key in keys) for record in self.records))

    def head(self):
        """Where, when and how its records were measured."""
        threads = sorted({record["threads"] for record in self.records})
        rows = [("commit", self.distinct("git")),
                ("device", f"{self.distinct('exec_space', 'device')}; "
                           f"{', '.join(map(str, threads))} host thread{'s' if threads != [1] else ''}"),
                ("Kokkos", self.distinct("kokkos_version"))]
        rows += [("date", ", ".join(sorted(self.dates)))] if self.dates else []
        rows += [("run", ", ".join(f"`{call}`" for call in self.calls))] if self.calls else []
        text = "\n".join([head(["", "of these tables"], left=2), *map(row, rows)])
        return text + "".join(f"{chr(10) if k else chr(10) * 2}    {line}" for k, line in enumerate(self.commands))

    def write(self):
        """The page."""
        title, _, body = template(self.name).partition("\n")
        return "\n".join([title, "", f"<!-- perf/report.py wrote this from perf/templates/{self.name}.md and the records "
                          "of a run. -->", "", self.head(),
                          PLACEHOLDER.sub(lambda found: self.tables[found[1]] or NOT_MEASURED, body)])


def template(name):
    with open(os.path.join(TEMPLATES, f"{name}.md"), encoding="utf-8") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("-o", "--out", default=os.path.join(HERE, "../docs/results"))
    parser.add_argument("--page", action="append", choices=PAGES)
    given = parser.parse_args()
    run = Run(given.folders)
    os.makedirs(given.out, exist_ok=True)
    written = []
    for name in given.page or PAGES:
        page = Page(name, run)
        if next(iter(page.tables.values())) is None and not (given.page and any(page.tables.values())):
            print(f"{name}: no records, left as it is")
            continue
        with open(os.path.join(given.out, f"{name}.md"), "w", encoding="utf-8") as file:
            file.write(page.write())
        missing = [key for key, text in page.tables.items() if text is None]
        print(f"{name}: written" + (f", not measured: {', '.join(missing)}" if missing else ""))
        written.append(name)
    if not written:
        fail(f"{' '.join(given.folders)} has records for none of {', '.join(given.page or PAGES)}")


if __name__ == "__main__":
    sys.exit(main())
