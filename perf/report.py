#!/usr/bin/env python3
"""Writes the pages of docs/results from the records of a run:
perf/report.py FOLDER... -o docs/results [--page PAGE]...

FOLDER is where perf/targets.sh, perf/run_all.sh, perf/papers.py, perf/block_isai.sh or perf/peers.sh left their
records; of several the first that has records for a table counts. A page is a template of perf/templates, whose
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

import factors_table
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
# is both, of one folder. Of their commands those with the words `of` are shown. That of a paper's study has the
# study instead.
Table = collections.namedtuple("Table", "files show of study", defaults=((), None, "", None))


def study(name):
    return Table(study=paper_studies.STUDIES[name])


def targets(*files):
    targets_table.show(dict(zip(targets_table.FILES, files)))


STRATEGIES = {"strategies": Table(["block-isai+block-isai-host"], table.show), "papers": study("block-isai/tables1-4")}
ON_GPUS = {"block-isai", "sweeps", "ranks"}  # pages that take records of GPUs only; of hosts only: those in -host

# The tables of a page by their placeholders.
PAGES = {
    "targets": {"targets": Table(targets_table.FILES, targets), "growth": Table(["growth"], report_tables.growth)},
    "defaults": {"defaults": Table(["defaults"], report_tables.solved)},
    "block-isai": STRATEGIES,
    "block-isai-host": STRATEGIES,
    "storage": {"storage": Table(["isai-float-basis"], report_tables.storage),
                "bases": Table(["isai", "isai-float-basis"], report_tables.bases)},
    "products": {"products": Table(["products+sweeps-product"], report_tables.products)},
    "patterns": {"patterns": Table(["patterns"], report_tables.patterns),
                 "host": Table(["patterns-host"], report_tables.patterns)},
    "threads": {"threads": Table(["threads"], report_tables.threads)},
    "factorisation": {"factors": Table(["factors+sweeps-factor"], report_tables.factors)},
    "sweeps": {"cost": study("sweeps/table2"), "convergence": study("sweeps/figures2-5"),
               "totals": Table(["sweeps"], report_tables.totals)},
    "sweeps-host": {"cost": study("sweeps/table2"), "convergence": study("sweeps/figures2-5"),
                    "factors": Table(["factors+sweeps-factor"], report_tables.factors)},
    "fsai": {"setups": Table(["setups", "setups-host"], lambda *files: report_tables.setups(*files, "fsai"),
                             "--precond fsai"),
             "papers": study("fsai/tables1-7")},
    "cholesky": {"cholesky": Table(["cholesky"], paper_studies.show_cholesky)},
    "ainv": {"setups": Table(["setups", "setups-host"], lambda *files: report_tables.setups(*files, "ainv"),
                             "--precond ainv"),
             "papers": study("thesis/tables7.2-7.9")},
    "factors": {"factors": Table(["factor-kinds"], factors_table.show)},
    "host-and-gpu": {"host-and-gpu": Table(["on-device", "on-host"], host_and_gpu_table.show)},
    "peers": {"peers": Table(["peers+peers-one-core"], peers_table.show)},
    "ranks": {"papers": study("block-jacobi/figures3-11")},
}


class Folder:
    """The records of a run by file, studies of papers among them, and the commands behind each file."""

    def __init__(self, folder):
        if not os.path.isdir(folder):
            fail(f"there is no folder {folder}")
        self.records = collections.defaultdict(list)
        for path in glob.glob(os.path.join(folder, "*.jsonl")):
            self.records[os.path.basename(path).removesuffix(".jsonl")] = read(path)
        self.commands = collections.defaultdict(list)  # file: (date, call of the script, command)
        for path in sorted(glob.glob(os.path.join(folder, "*.commands"))):
            with open(path, encoding="utf-8") as file:
                (date, call), *lines = (line.rstrip("\n").split("\t", 1) for line in file)
            for name, command in lines:
                self.commands[name].append((date, plain(call), plain(command)))
        self.studies = {name: papers.Recorded(folder, one) for name, one in paper_studies.STUDIES.items()}


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
    """A page: its tables as text, None for one without records, and what its head says of the records."""

    def __init__(self, name, folders):
        self.name = name
        # Used as sets that keep their order.
        self.records, self.dates, self.calls, self.commands = [], {}, {}, {}
        self.tables = {}
        for key, one in PAGES[name].items():
            texts = (self.study(one, folder) if one.study else self.table(one, folder) for folder in folders)
            self.tables[key] = next(filter(None, texts), None)

    def of_space(self, records):
        if self.name.endswith("-host"):
            return [record for record in records if record["exec_space"] in HOSTS]
        return [record for record in records if record["exec_space"] not in HOSTS or self.name not in ON_GPUS]

    def study(self, one, folder):
        recorded = folder.studies[one.study.name]
        records = self.of_space([record for runs in recorded.results.values() for record in runs])
        if not records:
            return None
        self.records += records
        self.dates[recorded.date] = None
        self.commands.update(dict.fromkeys(plain(call["command"]) for call in recorded.calls))
        return printed(papers.show, one.study, recorded, recorded.results)

    def table(self, one, folder):
        names = [name.split("+") for name in one.files]
        files = [[record for part in parts for record in self.of_space(folder.records[part])] for parts in names]
        if not files[0]:
            return None
        for parts, records in zip(names, files):
            self.records += records
            for date, call, command in (line for part in parts if records for line in folder.commands[part]):
                self.dates[date] = self.calls[call] = None
                if one.of in command:
                    self.commands[command] = None
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
        commands = [f"    {command}" for command in self.commands]
        return "\n".join([head(["", "of these tables"], left=2), *map(row, rows), *([""] if commands else []), *commands])

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
    parser.add_argument("-o", "--out", required=True, help="folder of the pages")
    parser.add_argument("--page", action="append", choices=PAGES)
    given = parser.parse_args()
    folders = [Folder(path) for path in given.folders]
    os.makedirs(given.out, exist_ok=True)
    written = []
    for name in given.page or PAGES:
        page = Page(name, folders)
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
