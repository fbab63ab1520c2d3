"""What is made of the lines that a check writes, also of those of jobs that a method took down."""

import json
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dashboard.benchmarks.campaigns.plan import Plan
from dashboard.benchmarks.launchers.launch import Job, Status
from dashboard.benchmarks.libraries.library import Installation
from dashboard.benchmarks.libraries.methods import DEFAULT, Method
from dashboard.benchmarks.libraries.named import open_mpi
from dashboard.benchmarks.safety import check, worker
from dashboard.benchmarks.safety.cases import cases
from dashboard.benchmarks.safety.check import order_of_plan, report_of
from dashboard.benchmarks.safety.order import Forced, Order, Records
from dashboard.benchmarks.safety.verdict import UNSAFE, as_attr
from dashboard.commands.check_methods import lines_of

PLACE = next(n for n, case in enumerate(cases("allreduce", 2)) if case.kind == "in place")
ORDER = Order(
    (2, 3),
    {
        "allreduce": tuple(
            Forced(Method(name, library_id=n), {"x": n}) for n, name in enumerate((DEFAULT, "linear", "ring"))
        )
    },
)


def fault(number: int, kind: str, *, dead: bool = False) -> dict[str, Any]:
    words, at = f"{kind}: 2 processes, 1 element", ["allreduce", number, 2, PLACE]
    return {"fault": at, "kind": kind, "words": words, "text": "wrong result", "dead": dead}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records.jsonl"


def read(path: Path, *lines: dict[str, Any]) -> Records:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Records.read(path)


def test_an_order_comes_back_as_it_was_written(path: Path) -> None:
    ORDER.save(path)
    assert Order.load(path) == ORDER
    assert len(ORDER.steps) == 6
    of_han = Order((2,), {"bcast": (Forced(Method("han"), {"x": 0}, "han"),)}, set_at_call=True)
    of_han.save(path)
    assert Order.load(path) == of_han


@pytest.mark.parametrize(("ranks", "sizes"), [(4, (2, 3, 4)), (64, tuple(range(2, 10)))])
def test_before_a_campaign_is_timed_its_methods_are_called_by_all_small_communicators(
    ranks: int, sizes: tuple[int, ...]
) -> None:
    methods = {"bcast": (Method(DEFAULT, library_id=0), Method("linear", library_id=1))}
    given: dict[str, Any] = {"ranks": ranks, "comm_sizes": (4, ranks), "message_sizes": (8,), "methods": methods}
    order = order_of_plan(Plan(**given, settings={"bcast": ({"x": 0}, {"x": 1})}))
    assert order is not None
    assert order.comm_sizes == sizes
    # The library's own decision is nobody's choice.
    assert order.methods == {"bcast": (Forced(methods["bcast"][1], {"x": 1}),)}
    given["methods"] = {"bcast": methods["bcast"][:1]}
    assert order_of_plan(Plan(**given, settings={"bcast": ({"x": 0},)})) is None


def test_what_was_begun_last_is_what_the_job_died_of(path: Path) -> None:
    at = ["allreduce", 1, 2, 7]
    assert read(path, {"at": at}).calling == tuple(at)
    assert read(path, {"at": at}, {"done": at[:3], "cases": 8}).calling is None
    path.write_text(json.dumps({"at": at}) + '\n{"at": ["allr')
    assert Records.read(path).calling == tuple(at)


def test_while_methods_are_called_it_is_told_how_many_were(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read(path, {"done": ["allreduce", 0, 2], "cases": 8})
    monkeypatch.setattr(worker, "ToolInterface", lambda: SimpleNamespace(path="", close=lambda: None))
    monkeypatch.setattr(worker, "Handles", lambda *_: None)
    monkeypatch.setattr(worker, "subset", lambda *_, **__: nullcontext(enter_result=True))
    monkeypatch.setattr(worker.Worker, "_step", lambda *_: None)
    world, said = SimpleNamespace(Get_rank=lambda: 0, bcast=lambda value: value), []
    ranks = worker.Worker(SimpleNamespace(COMM_WORLD=world), ORDER, path)
    ranks.run(said.append)
    ranks._lines.close()
    assert said == ["1 of 6", "2 of 6", "3 of 6", "4 of 6", "5 of 6"]


def test_a_method_that_dies_twice_is_called_no_more_and_one_that_dies_once_is_told(path: Path) -> None:
    died = {"died": ["allreduce", 2, 2, 7], "words": "plain: 2 processes", "text": "hangs"}
    once = read(path, died)
    assert ("allreduce", 2, 3) in once.missing(ORDER)
    assert report_of(ORDER, once, "X 1").once[0]["label"] == "ring"
    twice = read(path, died, fault(2, "in place", dead=True))
    assert not [step for step in twice.missing(ORDER) if step[1] == 2]
    report = report_of(ORDER, twice, "X 1")
    assert report.once == ()
    assert report.faulty[0].excluded


def test_methods_that_are_refused_are_told_with_the_numbers_of_processes_and_why(path: Path) -> None:
    steps = (["allreduce", 1, 3], ["allreduce", 2, 2], ["allreduce", 2, 3])
    records = read(path, *({"refused": step, "why": f"not for {step[2]}"} for step in steps))
    told = [(each["label"], each["comm_sizes"], each["why"]) for each in report_of(ORDER, records, "X 1").not_for]
    assert told == [("linear", [3], "not for 3"), ("ring", [2, 3], "not for 2")]


def test_operations_that_do_not_commute_limit_a_method_and_all_else_excludes_it(path: Path) -> None:
    unusual = "in place, operation that does not commute"
    limited = report_of(ORDER, read(path, fault(2, unusual)), "X 1").faulty[0]
    assert limited.only_commutative
    assert not limited.excluded
    both = report_of(ORDER, read(path, fault(2, unusual), fault(2, "in place")), "X 1").faulty[0]
    assert both.excluded
    assert both.case.startswith("in place: ")
    assert str(both) == "allreduce ring (2): in place: 2 processes, 1 element: wrong result"


def test_where_too_much_hangs_for_all_to_be_called_that_is_said_and_not_that_the_time_was_up(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung = Status("failed", "hangs: nothing came back for 20 s")
    monkeypatch.setattr(check, "finish_job", lambda *_: hung)
    seen = read(path, fault(2, "in place", dead=True))
    monkeypatch.setattr(check.Records, "read", lambda _: seen)
    report = check.check(Installation(Path("mpiexec"), open_mpi("5.0")), ORDER)
    said = lines_of(report)[-2:]
    assert said[0] == f"not called everywhere: 2 methods; {hung.reason}"
    assert said[1].startswith("NOT SAFE: 1 of 3 methods")


def test_the_library_s_own_decision_cannot_be_left_out(path: Path) -> None:
    assert not report_of(ORDER, read(path, fault(0, "in place")), "X 1").faulty[0].excluded


def test_what_is_not_called_is_not_safe(path: Path) -> None:
    report = report_of(ORDER, read(path), "X 1")
    assert report.missing == 3
    assert not report.safe


def test_where_the_time_was_too_short_for_a_start_nothing_was_called_and_the_library_is_not_blamed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs: list[Job] = []
    late = Status("timed out", "ended at its time limit of 1 s")
    monkeypatch.setattr(check, "finish_job", lambda _, job, *__: (jobs.append(job), late)[1])
    report = check.check(Installation(Path("mpiexec"), open_mpi("5.0")), ORDER, seconds=1.0)
    assert (report.missing, report.cases) == (3, 0)
    said = lines_of(report)[-2:]
    assert said[0] == "not called everywhere: 3 methods; the time was up (--time-limit)"
    assert said[1].startswith("NOT ALL CALLED: 0 of 3 methods")
    # What it writes tells whether it hangs.
    assert [file.name for file in jobs[0].watched] == ["records.jsonl"]
    assert jobs[0].starts[0].quiet == check.HANGS_S


def test_a_header_holds_findings_as_json(path: Path) -> None:
    findings = report_of(ORDER, read(path, fault(2, "in place")), "X 1").faulty
    assert json.loads(as_attr(findings))[0]["label"] == "ring"
    assert as_attr(()) == ""
    assert UNSAFE == "unsafe_methods"
