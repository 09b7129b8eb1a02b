#!/usr/bin/env python3
"""The tables and figures of the five papers whose methods Ainvil has, by our programs, with the papers'
numbers beside ours:

perf/papers.py --list [--size full|quick|smoke]
perf/papers.py NAME... [--size full|quick|smoke] [--build BUILD] [--out FOLDER]

NAME is one of the list, or all. Prints Markdown tables and keeps the JSON lines in FOLDER. Of the sizes only
full, the default, is that of the papers; quick takes seconds to minutes on two cores, smoke are toys. The
papers' numbers are in perf/papers.json. Their matrices are read from AINVIL_MATRIX_DIR or ../shared/matrices
where they are there; a table says what stands in for one that is not.
"""
import argparse
import datetime
import itertools
import json
import os
import shlex
import subprocess
import sys
import time

from paper_studies import DATA, HERE, SIZES, STUDIES, find_matrix
from records import HOSTS, machine, read, stored, write


class Failed(Exception):
    pass


def file_of(study):
    """The name that its files begin with."""
    return study.name.replace("/", "-")


def hashable(key):
    """A key of results, from JSON."""
    return tuple(map(hashable, key)) if isinstance(key, list) else key


def on_host(command):
    """The same systems on the host, set up only."""
    at = command.index("--max-iters") if "--max-iters" in command else len(command)
    return [*command[:at], *command[at + 2:], "--exec", "host", "--max-iters", "0"]


class Run:
    """Where the programs are, where results go, and the size."""

    def __init__(self, build, out, size):
        self.build, self.out, self.size = build, out, size
        self.matrices = {}  # of the papers, those that were looked for: name: file or None

    def program(self, name="ainvil-solve"):
        """Those of the presets tpetra and tpetra-cuda lie in folders of their own."""
        preset = os.path.basename(os.path.abspath(self.build))
        paths = [os.path.normpath(os.path.join(self.build, folder, "bin", name))
                 for folder in (".", f"../tpetra-{preset}", "../tpetra")]
        return next(filter(os.path.exists, paths), paths[0])

    def matrix(self, name):
        return self.matrices.setdefault(name, find_matrix(name))

    def has(self, name):
        return os.access(self.program(name), os.X_OK)

    def records(self, call, log):
        """Of one call; code 3, some run did not converge, is a result too."""
        part = os.path.join(self.out, ".part.jsonl")
        log.write(f"$ {shlex.join(call.command)}\n".encode())
        log.flush()
        done = subprocess.run([*call.command, "--json", part], stdout=log, stderr=subprocess.STDOUT,
                              check=False)
        if done.returncode not in (0, 3):
            raise Failed(f"code {done.returncode} of {shlex.join(call.command)}")
        lines = read(part)
        os.remove(part)
        return lines

    def measure(self, study):
        results, files, calls = {}, {}, []
        name = file_of(study)
        told = os.path.join(self.out, f"{name}.calls.json")
        if os.path.exists(told):
            os.remove(told)

        def keep(call, key, records):
            results[key] = records
            part = f"{name}{'-' if call.part else ''}{call.part}"
            file = files.setdefault(part, [])
            file += records
            # A study that is cut short leaves what it has.
            write(os.path.join(self.out, f"{part}.jsonl"), file)
            calls.append({"key": key, "file": part, "records": len(records), "command": shlex.join(call.command)})

        with open(os.path.join(self.out, f"{name}.txt"), "wb") as log:
            for call in study.calls(self):
                keep(call, call.key, self.records(call, log))
                if call.host and results[call.key][0]["exec_space"] not in HOSTS:
                    again = call._replace(command=on_host(call.command))
                    keep(again, (call.key, "host"), self.records(again, log))
        # Which records are whose, for Recorded.
        matrices = {matrix: file and os.path.basename(file) for matrix, file in self.matrices.items()}
        with open(told, "w", encoding="utf-8") as out:
            json.dump({"date": str(datetime.datetime.now(datetime.timezone.utc).date()), "size": self.size,
                       "matrices": matrices, "calls": calls}, out, indent=1)
        return results


class Recorded(Run):
    """A study that was measured into a folder before: its `results` and `calls`, none where it was not."""

    def __init__(self, folder, study):
        super().__init__(None, folder, "full")
        self.results, self.calls, self.date = {}, [], ""
        path = os.path.join(folder, f"{file_of(study)}.calls.json")
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
        self.size, self.matrices, self.date, self.calls = (told[key] for key in ("size", "matrices", "date", "calls"))
        files = {}
        for call in self.calls:
            records = files.setdefault(call["file"], iter(stored(folder, call["file"])))
            self.results[hashable(call["key"])] = list(itertools.islice(records, call["records"]))


def show_list(at):
    for study in STUDIES.values():
        needs = "" if at.has(study.program) else f" (needs {study.program}, which is not built)"
        print(f"{study.name}: {study.what}{needs}")
        for call in study.calls(at):
            print(f"    {shlex.join(call.command)}")


def show(study, at, results):
    """Its tables and where the numbers are from."""
    study.show(at, results)
    first = next(iter(results.values()))[0]
    smaller = "" if at.size == "full" else f"; size {at.size}, smaller than the paper's"
    print(f"\nThe paper's numbers: {study.numbers()['source']}. Ours: {machine(first)}{smaller}.")


def run_study(study, at):
    paper = study.name.split("/")[0]
    print(f"\n## {study.name}\n\n{study.what[0].upper()}{study.what[1:]}. Paper: {DATA['papers'][paper]}.\n")
    if not at.has(study.program):
        preset = "tpetra" if study.program == "ainvil-solve-mpi" else "openmp"
        print(f"Skipped: needs {study.program}; cmake --preset {preset} && cmake --build --preset {preset}",
              flush=True)
        return
    start = time.monotonic()
    results = at.measure(study)
    show(study, at, results)
    print(f"{time.monotonic() - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="names, what they show, and their commands")
    parser.add_argument("--build", default=os.path.relpath(os.path.join(HERE, "../build/openmp")))
    parser.add_argument("--out", default="results-papers", help="folder for the JSON lines")
    parser.add_argument("--size", choices=SIZES, default="full")
    given = parser.parse_args()
    at = Run(given.build, given.out, given.size)
    if given.list:
        show_list(at)
        return 0
    names = list(STUDIES) if given.names == ["all"] else given.names
    unknown = [name for name in names if name not in STUDIES]
    if unknown or not names:
        what = f"there is no study '{unknown[0]}'" if unknown else "name a study, or all"
        parser.error(f"{what}; --list shows {', '.join(STUDIES)}")
    if not at.has("ainvil-solve"):
        parser.error(f"{given.build}/bin has no ainvil-solve; "
                     "cmake --preset openmp && cmake --build --preset openmp")
    # Ranks share cores and do not spin; each has one thread.
    for variable in ("OMPI_MCA_mpi_yield_when_idle", "OMPI_MCA_rmaps_base_oversubscribe"):
        os.environ.setdefault(variable, "1")
    os.makedirs(given.out, exist_ok=True)
    failed = []
    for name in names:
        try:
            run_study(STUDIES[name], at)
        except Failed as error:
            print(f"Failed: {error}", flush=True)
            print(f"papers: {name} failed with {error}; see {given.out}/{name.replace('/', '-')}.txt",
                  file=sys.stderr)
            failed.append(name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
