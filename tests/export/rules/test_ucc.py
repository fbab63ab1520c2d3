"""Tune strings as UCC 1.8.0 and 1.10.0 (8263de4, with UCX 1.22.0) take them: what their table of scores shows.

Recorded with ``UCC_LOG_LEVEL=debug mpiexec -n 3 ucc_perftest -c barrier``, of which it is the part of bcast.
"""

import pytest

from dashboard.export.rules.lint import read_text
from tests.export.rules.acting import algorithms

KNOMIAL, SAG, DBT, OWN = "knomial", "sag_knomial", "dbt", "default"


@pytest.mark.parametrize(
    ("tune", "acting"),
    [
        ("bcast:0-4k:@1", {4095: SAG, 4096: OWN}),
        # {0..4K}:sag_knomial {4097..}:dbt: where one part ends and another begins, the higher score has the size.
        ("bcast:0-4k:inf:@1#bcast:4k-inf:@2", {4096: SAG, 4097: DBT}),
        ("bcast:0-4k:@2#bcast:4k-8k:20:@1#bcast:8k-inf:@0", {4095: DBT, 4096: SAG, 8192: SAG, 8193: KNOMIAL}),
        ("bcast:0-4k:5:@1", {4095: SAG, 4096: OWN}),
        ("bcast:[3]:@2", {1: DBT}),
        ("bcast:[2,3-4]:@2", {1: DBT}),
        ("bcast:[2,4-INF]:@2", {1: OWN}),
        ("#bcast:@1##allreduce:@3", {1: SAG}),
        ("BCAST:0-4kB:HOST:@KNOMIAL", {4095: KNOMIAL, 4096: OWN}),
        ("bcast:CudaManaged,cuda_managed,host:0-1t:@1", {2**40 - 1: SAG, 2**40: OWN}),
        ("bcast:cuda:@2#bcast:host:@1", {1: SAG}),
    ],
)
def test_parts_act_as_in_ucc(tune: str, acting: dict[int, str]) -> None:
    read = read_text(f"UCC_TL_UCP_TUNE={tune}\n")
    assert read.faults == ()
    assert algorithms(read, "bcast", 3, list(acting)) == list(acting.values())


@pytest.mark.parametrize(
    ("tune", "text"),
    [
        # "attempt to add overlaping range"
        ("bcast:0-4k:@1#bcast:2k-8k:@2", "parts of bcast overlap in a team of 1"),
        ("bcast:0-8k:@1#bcast:2k-4k:20:@2", "parts of bcast overlap"),
        ("bcast:[2-3]:@1#bcast:[3-inf]:@2", "parts of bcast overlap in a team of 3"),
        # "failed to parse token"
        ("bcast:8-8:@1", "ends before it begins"),
        ("bcast:[2-8,]:@1", "'[2-8,]' is neither"),
        ("bcast:[2-84-8]:@1", "'[2-84-8]' is neither"),
        ("bcast:0-4k:@1:7:8", "'8' is said twice"),
    ],
)
def test_what_ucc_refuses_is_an_error(tune: str, text: str) -> None:
    read = read_text(f"UCC_TL_UCP_TUNE={tune}\n")
    (fault,) = read.faults
    assert (fault.severity, fault.effect[:28]) == ("error", "UCC refuses the whole string")
    assert text in fault.text
    assert read.decisions == {}


def test_a_part_that_says_nothing_is_passed_over() -> None:
    read = read_text("UCC_TL_UCP_TUNE=bcast#bcast:@2\n")
    assert [(fault.severity, fault.effect) for fault in read.faults] == [("warning", "UCC silently ignores it")]
    assert algorithms(read, "bcast", 3, [1]) == [DBT]


def test_alltoallv_is_always_looked_up_as_of_no_bytes() -> None:
    # Sizes differ by process, so that the range with 0 acts on all (ucc_perftest -c alltoallv).
    read = read_text("UCC_TL_UCP_TUNE=alltoallv:0-1k:@1#alltoallv:1k-inf:@0\n")
    assert algorithms(read, "alltoallv", 3, [1, 4096]) == ["hybrid", "hybrid"]


def test_a_ucc_conf_is_read_with_its_quotes_and_up_to_a_length() -> None:
    # "failed to parse token '"bcast'"; "incorrect parameter name", with which ucc_perftest ends.
    assert not read_text('export UCC_TL_UCP_TUNE="bcast:@1"\n').faults
    (quoted,) = read_text('UCC_TL_UCP_BCAST_KN_RADIX="2"\n').faults
    assert (quoted.severity, quoted.text) == ("warning", "the value is quoted")
    line = f"UCC_TL_UCP_TUNE=bcast:@1{'#' * 8167}"
    assert not read_text(line).faults
    (long,) = read_text(f"{line}#").faults
    assert long.text == "8,192 characters, of which UCC takes 8,191 for one line of a ucc.conf"


def test_long_strings_act_in_all_their_parts() -> None:
    parts = "#".join(f"bcast:{8 * k}-{8 * k + 8}:[{n}]:@{k % 3}" for n in range(2, 130) for k in range(20))
    read = read_text(f"export UCC_TL_UCP_TUNE={parts}\n")
    assert algorithms(read, "bcast", 129, [0, 8, 159, 160]) == [KNOMIAL, SAG, SAG, OWN]


@pytest.mark.parametrize(
    "line",
    [
        "UCC_TL_UCP_TUNE = bcast:@1 ; comment",
        "; comment\n  ; comment\nUCC_TL_UCP_TUNE=bcast:@1",
        'export UCC_TL_UCP_TUNE="bcast:@1" # comment',
        "export UCC_TL_UCP_TUNE=bcast:@1; mpirun ./program",
    ],
)
def test_comments_are_no_part_of_a_value(line: str) -> None:
    """The first two as 1.10.0 takes them in a ucc.conf."""
    read = read_text(f"{line}\n")
    assert read.faults == ()
    assert algorithms(read, "bcast", 3, [1]) == [SAG]


def test_without_a_blank_before_it_a_comment_belongs_to_the_value() -> None:
    """With 1.10.0: "incorrect algorithm id provided: ring;comment"."""
    (fault,) = read_text("UCC_TL_UCP_TUNE = bcast:@1;comment\n").faults
    assert fault.severity == "error"


def test_with_the_score_0_tl_ucp_is_left_out() -> None:
    """The table of scores has no entry for these sizes, and ucc_perftest ends with an error."""
    read = read_text("UCC_TL_UCP_TUNE=bcast:0-4k:@1:0\n")
    assert [fault.text for fault in read.faults] == ["'bcast:0-4k:@1:0' has the score 0"]
    assert algorithms(read, "bcast", 3, [1]) == [OWN]


@pytest.mark.parametrize(
    ("setting", "wrong"),
    [
        # The first three never came to an end with 1.10.0, the next two left UCC without tl/ucp.
        ("BCAST_KN_RADIX=1", True),
        ("BCAST_KN_RADIX=0-8k:host:8,8k-inf:host:2", True),
        ("BCAST_SAG_KN_RADIX=1", True),
        ("BCAST_KN_RADIX=auto", True),
        ("BCAST_SAG_KN_RADIX=abc", True),
        ("BCAST_KN_RADIX=8", False),
        ("BCAST_SAG_KN_RADIX=0-8k:host:8,2", False),
        ("BCAST_SAG_KN_RADIX=auto", False),
        ("KN_RADIX=0", False),
    ],
)
def test_radixes_that_ucc_cannot_work_with_are_errors(setting: str, wrong: bool) -> None:
    faults = read_text(f"UCC_TL_UCP_{setting}\nUCC_TL_UCP_TUNE=bcast:@0\n").faults
    assert [fault.severity for fault in faults] == ["error"] * wrong


def test_the_radix_of_all_stands_before_those_of_collectives_that_have_one_at_all_sizes() -> None:
    """``tl_ucp_lib.c`` of 1.10.0: not of allreduce, allgather, and what scatters first."""
    read = read_text(
        "UCC_TL_UCP_KN_RADIX=2\nUCC_TL_UCP_BCAST_KN_RADIX=8\nUCC_TL_UCP_TUNE=bcast:0-8:@0#bcast:8-inf:@1#reduce:@0\n"
    )
    assert algorithms(read, "bcast", 3, [1, 9]) == ["binomial", SAG]
    assert algorithms(read, "reduce", 3, [1]) == ["binomial"]


@pytest.mark.parametrize(
    ("conf", "refused"),
    [
        # What "ucc_info -c" shows of a file, or that it "failed to parse config file".
        ("{} : bcast:@1", False),
        ("\ufeff{}: bcast:@1", False),
        ("  {}=bcast:@1\nUCC_LOG_LEVEL=warn", False),
        ("{}=bcast:@1\n  ; a word\n\t", False),
        ("{}=bcast:@1\nOURS_UCC_LOG_LEVEL=warn", False),
        ("{}=bcast:@1\n[nnodes=1] one node\n{}=bcast:@2", False),
        ("{}=bcast:@1\nUCC_LOG_LEVEL", True),
        ("{}=bcast:@1\nLOG_LEVEL=warn", True),
        ("{}=bcast:@1\n[nnodes=1", True),
        ("{}=bcast:@1\n  UCC_LOG_LEVEL=warn", True),
        ("{}=bcast:@1\n [nnodes=1]", True),
    ],
)
def test_the_lines_of_a_ucc_conf_are_read_as_by_ucc(conf: str, *, refused: bool) -> None:
    read = read_text(conf.replace("{}", "UCC_TL_UCP_TUNE"))
    assert algorithms(read, "bcast", 3, [1]) == [SAG]
    effects = [fault.effect for fault in read.faults if fault.severity == "error"]
    assert effects == ["UCC refuses the file, and no program starts"] * refused


def test_the_other_lines_of_a_script_are_the_shell_s() -> None:
    lines = ("[ -d /tmp ] && cd /tmp", "if true; then", "  export UCC_TL_UCP_TUNE=bcast:@1", "  LOG=1", "fi", "")
    script = read_text("\n".join(lines))
    assert list(script.decisions) == ["bcast"]
    assert [(fault.line, fault.effect) for fault in script.faults] == [(n, "not looked at") for n in (1, 2, 4, 5)]


@pytest.mark.parametrize(
    ("section", "wrong"),
    [
        ("nnodes=2-4  ppn=1", ""),
        (" Vendor=intel model=a-b sock=2 team_size=8 ", ""),
        ("nodes=2", "'nodes=2'"),
        ("nnodes=2-inf", "'nnodes=2-inf'"),
        # A segmentation fault of every program.
        ("nnodes = 2", "'nnodes'"),
    ],
)
def test_sections_of_a_ucc_conf_are_known_by_their_keys(section: str, wrong: str) -> None:
    faults = read_text(f"[{section}]\nUCC_TL_UCP_TUNE=bcast:@1\n").faults
    assert [fault.text.partition(",")[0] for fault in faults] == [f"a section with {wrong}"] * bool(wrong)
    assert all("no program starts" in fault.effect for fault in faults)
