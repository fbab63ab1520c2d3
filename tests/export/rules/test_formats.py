"""Rules of other libraries, and every sample file: read, or refused with the right reason."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.export.rules import RulesError
from dashboard.export.rules.lint import read_rules, read_text
from tests.export.rules.acting import algorithms

READ = {
    "rules_ompi/own_v1.conf": ("openmpi-1", 0),
    "rules_ompi/own_v2.conf": ("openmpi-2", 0),
    "rules_ompi/own_v3.json": ("openmpi-3", 0),
    "rules_ompi/ompi-collectives-tuning__decision.file": ("openmpi-1", 105),
    "mpich_json/mpich-main__mpir_generic.json": ("mpich", 0),
    "mpich_json/mpich-main__ch4_generic.json": ("mpich", 0),
    "mpich_json/mpich-main__ch4_posix_generic.json": ("mpich", 0),
    "ucc/ucc.conf": ("ucc", 0),
    "nccl_tuner/nccl_tuner.conf": ("nccl", 0),
}
REFUSED = {
    "rules_ompi/local__ompi_info_coll_tuned_4.1.4.txt": "what ompi_info prints",
    "rules_ompi/local__ompi_info_coll_tuned_5.0.11.txt": "what ompi_info prints",
    "rules_ompi/ompi-main__tuned_dynamic_file_schema.json": "a JSON schema",
    "nccl_tuner/sample_performance_data.csv": "measurements for NCCL",
    "rules_ompi/SOURCES.md": "no rules file that is known",
}


@pytest.mark.parametrize("name", READ)
def test_samples_that_are_rules_are_read(samples: Path, name: str) -> None:
    read = read_rules(samples / name)
    assert (read.format, read.errors) == READ[name]


@pytest.mark.parametrize("name", REFUSED)
def test_samples_that_are_none_are_refused_with_the_reason(samples: Path, name: str) -> None:
    with pytest.raises(RulesError, match=REFUSED[name]):
        read_rules(samples / name)
    with pytest.raises(RulesError, match=REFUSED[name]):
        read_text(f"\ufeff{(samples / name).read_text()}")


@pytest.mark.parametrize("head", ["collective,algorithm,comm_size,message_size", "\ufeffsystem, collective, kb"])
def test_results_are_no_rules_though_their_rows_begin_as_those_of_nccl(head: str) -> None:
    with pytest.raises(RulesError, match="no rules file: results"):
        read_text(f"{head},time\nallreduce,ring,2,1024,0.1\n")


def test_all_samples_of_rules_are_among_these(samples: Path) -> None:
    folders = ("rules_ompi", "mpich_json", "ucc", "nccl_tuner")
    names = {f"{path.parent.name}/{path.name}" for folder in folders for path in (samples / folder).iterdir()}
    assert {name for name in names if not name.endswith(("SOURCES.md", ".tsv"))} <= {*READ, *REFUSED}


def test_ucc_strings_act_by_range_team_and_score() -> None:
    text = "UCC_TL_UCP_TUNE=bcast:0-4k:host:[2-3,5-8]:@0#bcast:4k-inf:@sag_knomial#bcast:0-1k:[4-4]:10:@1\n"
    read = read_text(text)
    assert read.faults == ()
    assert [method.label for method in read.decisions["bcast"].methods] == ["default", "knomial", "sag_knomial"]
    assert algorithms(read, "bcast", [2, 2, 4, 4, 9, 9], [0, 4096, 0, 1024, 0, 4096]) == [
        "knomial",
        "sag_knomial",
        "sag_knomial",
        "default",
        "default",
        "sag_knomial",
    ]


def test_ucc_compares_whole_buffers_of_allgather() -> None:
    read = read_text("UCC_TL_UCP_TUNE=allgather:0-4k:@0#allgather:4k-inf:@1\n")
    assert algorithms(read, "allgather", 4, [1023, 1024]) == ["knomial", "ring"]


@pytest.mark.parametrize("part", ["bcast:0-4q:@0", "brodcast:@0", "bcast:8-4:@0", "bcast:[2-:@0"])
def test_faulty_ucc_strings_are_named(part: str) -> None:
    read = read_text(f"# tune\nUCC_TL_UCP_TUNE=allreduce:@1#{part}\n")
    assert read.errors == 1
    assert read.faults[0].line == 2
    assert read.decisions == {}


def test_sections_of_a_ucc_conf_are_told_apart(samples: Path) -> None:
    read = read_rules(samples / "ucc" / "ucc.conf")
    section = "vendor=intel model=broadwell team_size=28 ppn=28 nnodes=1"
    assert read.decisions[f"allreduce [{section}]"].provenance["section"] == section


def test_the_radix_of_a_section_tells_what_ucc_s_algorithms_are(samples: Path) -> None:
    # By contrib/ucc.conf: KN_RADIX=2 with SRA_KN_RADIX=7, and 2 for both.
    read = read_rules(samples / "ucc" / "ucc.conf")
    section = "[vendor=intel model=broadwell team_size={0} ppn={1} nnodes={2}]"
    for sizes, expected in (((28, 28, 1), "sra_knomial radix=7"), ((2, 1, 2), "rabenseifner")):
        methods = read.decisions[f"allreduce {section.format(*sizes)}"].methods
        assert [method.label for method in methods] == ["default", "recursive_doubling", expected]
    (other,) = read_text("UCC_TL_CUDA_TUNE=allreduce:@0\n").decisions.values()
    assert "0" in [method.label for method in other.methods]


@pytest.mark.parametrize(
    ("value", "acting", "faults"),
    [
        # By the messages of MPI_Bcast at 64, 512, 4096, 16384 and 65536 bytes, Intel MPI 2021.9.0 and 2021.18.1.
        ("8:0-1000;3", {4: "88333"}, 0),
        ("3:0-999;8:1000-8000;2", {4: "33822"}, 0),
        ("8:0-1000,1001-20000;3", {4: "88883"}, 0),
        ("(8:0-1000;3)@2-4;(1)@5-6;(3:0-1000;8)", {3: "88333", 6: "11111", 8: "33888"}, 0),
        ("8:0-20000;3:0-1000;1", {4: "88881"}, 1),
        ("8:0-1000;3;1", {4: "88333"}, 1),
        ("8:0-1000;3:0-1000;1", {4: "33111"}, 1),
        ("8:1000-8000", {4: "88888"}, 1),
        ("8:512;1", {4: "88111"}, 1),
        ("3:1001-2147483647;8:0-1000", {4: "33333"}, 2),
        ("3;8:0-1000", {4: "33333"}, 1),
        ("1;3:257-2147483647@1-2147483647", {4: "11111"}, 1),
        ("8:0-1000@2-8;3:1001-2147483647@2-8", {4: "33333"}, 3),
        ("8:0-1000@2-5;3:0-1000@6-8;1", {4: "88888", 6: "33333"}, 2),
        ("8:0-1000@6-8;3:0-1000@4-5;1", {2: "88888", 8: "88888"}, 3),
        ("3:0-1000@2-5;8:0-1000@4-6;1:0-9@2-3", {5: "33333", 6: "88888", 8: "11111"}, 4),
        ("8:0-1000;3:1001-20000@4-5;2", {4: "22222", 8: "22222"}, 2),
        ("8:0-1000@2-6;1;3:1001-2147483647@2-6", {6: "33333", 8: "11111"}, 2),
        ("8:0-2000@6-8,0-1000@2-4;3", {4: "88888", 5: "33333"}, 2),
        ("(8:0-1000;3)@4-6", {2: "88333", 8: "88333"}, 1),
        ("(8:0-1000@2-4;3)", {8: "88333"}, 1),
        ("(8:0-1000;3)@2-4;(1:0-1000;8)@2-4;1", {4: "11888", 8: "11111"}, 1),
    ],
)
def test_intel_s_conditions_are_read_as_they_act(value: str, acting: dict[int, str], faults: int) -> None:
    read = read_text(f'export I_MPI_ADJUST_BCAST="{value}"\n')
    assert (read.errors, len(read.faults)) == (0, faults)
    for comm, numbers in acting.items():
        wanted = [f"algorithm {number}" for number in numbers]
        assert algorithms(read, "bcast", comm, [64, 512, 4096, 16384, 65536]) == wanted


def test_what_never_acts_of_intel_s_or_acts_elsewhere_is_named_with_what_does() -> None:
    text = "I_MPI_ADJUST_BCAST=1;8:0-9\nI_MPI_ADJUST_REDUCE=8:10-99;1\n"
    assert [str(fault) for fault in read_text(text).faults] == [
        "line 1: warning: '8:0-9' never acts → what stands before it reaches as far, or what follows replaces it",
        (
            "line 2: warning: '8:10-99' acts for other bytes, too → Intel MPI takes it from 0 to 99, since upper ends "
            "alone act; sizes are written as 8:0-1000;3, those of a range of processes as (8:0-1000;3)@2-8"
        ),
    ]


@pytest.mark.parametrize(("value", "sign"), [("3:0-100@1-3;1", ";"), ("(3)@1-2;(1)", "("), ("3 ; 1", ";")])
def test_a_value_of_intel_s_that_the_shell_does_not_hand_on_is_named(value: str, sign: str) -> None:
    (fault,) = read_text(f"export I_MPI_ADJUST_BCAST={value}\n").faults
    assert fault.text == f"the value is not in quotes: the shell ends it at {sign!r}, or refuses the file"
    # Elsewhere than in a script nothing ends it.
    assert not read_text(f'export I_MPI_ADJUST_BCAST="{value}"\nI_MPI_ADJUST_REDUCE={value}\n').errors


@pytest.mark.parametrize("value", ["3:0-8k;1", "3:0-8;", "3x"])
def test_intel_mpi_is_not_said_to_ignore_what_it_reads_numbers_of(value: str) -> None:
    # 2021.9.0 and 2021.18.1, by the bytes that they send: 1 at all sizes, then 3, then 3.
    (fault,) = read_text(f"I_MPI_ADJUST_BCAST={value}\n").faults
    assert fault.effect.startswith("Intel MPI acts by the numbers that it makes out")


def test_nccl_lines_that_never_act_or_are_wrong_are_named() -> None:
    text = "allreduce,0,1000,ring,simple,2,-1,-1\nallreduce,10,20,tree,simple,2,1,8\nallreduce,9,1,rong,ll,2,1\n"
    assert [(fault.line, fault.severity) for fault in read_text(text).faults] == [(2, "warning"), (3, "error")]


@given(st.text(max_size=120))
def test_any_text_is_read_or_refused(text: str) -> None:
    for start in (
        "",
        "{",
        "UCC_A_TUNE=",
        "I_MPI_ADJUST_BCAST=",
        "allreduce,",
        '{"collectives":',
        '{"collective=bcast":',
    ):
        try:
            read = read_text(start + text)
        except RulesError:
            continue
        assert all(fault.text for fault in read.faults)


_KEYS = (
    *("bcast", "rules", "alg", "comm_size_min", "msg_size_max", "comm_size<=4", "comm_type=intra", "comm_size=any"),
    *("algorithm=MPIR_Bcast_intra_smp", "is_commutative=yes", "avg_msg_size<9", "x"),
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 99) | st.sampled_from(["inf", "any", "ring", "", "k=2"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=3),
    max_leaves=12,
)


@given(_JSON, st.sampled_from(["collectives", "collective=bcast"]))
def test_any_json_is_read(value: Any, key: str) -> None:
    read = read_text(json.dumps({key: value}))
    for decision in read.meant.values():
        decision.predict([1, 4, 99], [0, 8, 10**6])


@pytest.mark.parametrize(
    ("value", "errors", "text"),
    [
        ("x", 1, "'x' is no algorithm number with conditions such as 1:0-1024@2-8"),
        ("1:a-b", 1, "condition 'a-b', expected l, l-m, l@p or l-m@p-q"),
        ("1:9-1", 0, "condition '9-1' ends before it begins"),
        ("1:0-1@", 1, "condition '0-1@', expected l, l-m, l@p or l-m@p-q"),
        ("", 1, "'' is no algorithm number with conditions such as 1:0-1024@2-8"),
        ("1;;2", 1, "'' is no algorithm number with conditions such as 1:0-1024@2-8"),
    ],
)
def test_a_faulty_setting_of_intel_s_is_named_with_what_is_right(value: str, errors: int, text: str) -> None:
    read = read_text(f"I_MPI_ADJUST_BCAST={value}\n")
    assert (read.errors, [(fault.line, fault.text) for fault in read.faults]) == (errors, [(1, text)])
    assert len(read.decisions) == 1 - errors
    assert read_text("I_MPI_ADJUST_BCASTS=1\n").errors == 1


def test_of_two_settings_of_intel_s_for_one_collective_the_later_acts() -> None:
    read = read_text("I_MPI_ADJUST_BCAST=1\nI_MPI_ADJUST_BCAST=3\n")
    assert [str(fault) for fault in read.faults] == [
        "line 2: warning: BCAST is set a second time → the later setting acts"
    ]
    assert algorithms(read, "bcast", [4], [8]) == ["algorithm 3"]


@pytest.mark.parametrize(
    ("line", "text", "effect"),
    [
        ("allreduce,x,1,ring,ll,2,1,1", "field 2 is 'x', expected a whole number", "the plugin takes 0"),
        ("allreduce,0,64k,ring,ll,2,1,1", "field 3 is '64k', expected a whole number", "the plugin takes 64"),
        ("allreduce,0,1,rong,ll,2,1,1", "algorithm 'rong', expected one of tree, ring", "the plugin takes ring"),
        ("alreduce,0,1,tree,ll,2,1,1", "collective 'alreduce', expected one of", "the plugin takes allreduce"),
        ("allreduce,0,1,ring,l,2,1,1", "protocol 'l', expected one of ll", "the plugin takes simple"),
        ("allreduce,-1,99,ring,ll,2,1,1", "min_bytes -1 is above max_bytes 99 (below 0 is", "the line never acts"),
        ("allreduce,0,1,ring,ll,2,,1,1", "field 7 is empty", "what follows it moves up one field"),
        ("allreduce,0,1,ring,ll,2,1", "7 fields, expected", "the line is left out"),
        ("allreduce,0,1,ring,ll,2,1,1,1,1,1", "11 fields, expected", "what is behind field 10 is not looked at"),
        (f"allreduce,0,1,ring,ll,2,1,{'0' * 250}1", "more than 255 bytes", "what follows is read as a line"),
    ],
)
def test_what_nccl_s_plugin_reads_otherwise_is_said(line: str, text: str, effect: str) -> None:
    # NVIDIA/nccl, plugins/tuner/example/plugin.c: parseCollType and the like, strtoull, strtok_r, fgets of 256 bytes.
    (fault,) = read_text(f"{line}\nallreduce,0,4096,ring,ll,2,1,1\n").faults
    assert fault.text.startswith(text)
    assert fault.effect.startswith(effect)
    assert fault.line == 1


def test_of_nccl_s_lines_255_bytes_are_read_at_once_and_the_wrong_way_round_is_no_error() -> None:
    line = "allreduce,0,1,ring,ll,2,1,"
    assert read_text(f"{line}{'1'.rjust(255 - len(line), ' ')}\n").faults == ()
    (fault,) = read_text("allreduce,9,1,ring,ll,2,1,1\n").faults
    assert (fault.severity, fault.text) == ("warning", "min_bytes 9 is above max_bytes 1")
    (fault,) = read_text("allreduce,-1,99,ring,ll,2,1,1\nallreduce,0,1,ring,ll,2,1,1\n").faults
    assert (fault.severity, fault.effect) == ("error", "the line never acts")


def test_a_largest_size_below_0_has_no_end_for_nccl_s_plugin() -> None:
    (fault,) = read_text("allreduce,0,-1,ring,ll,2,1,1\nallreduce,0,4096,tree,ll,2,1,1\n").faults
    assert str(fault) == "line 2: warning: all it is for is covered by line 1 → the first that fits acts"


def test_a_file_of_nccl_s_whose_collective_is_misspelt_is_one() -> None:
    read = read_text("allredcue,0,65536,tree,simple,2,1,-1\n")
    assert (read.format, read.errors) == ("nccl", 1)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("allreduce:0-4k:@bogus", "no allreduce bogus; it has 0 knomial, 1 sra_knomial"),
        ("bcast:@3", "no bcast 3; it has 0 knomial, 1 sag_knomial, 2 dbt"),
        ("barrier:@knomial", "takes no algorithm for barrier"),
        ("bcast,alltoall:@pairwise", "no bcast pairwise"),
        ("@knomial", "no alltoall knomial"),
    ],
)
def test_an_algorithm_that_ucc_lacks_costs_the_whole_string(part: str, text: str) -> None:
    # openucx/ucc, ucc_coll_score_parse_str and ucc_tl_ucp_alg_id_to_init: an unknown one ends the reading.
    read = read_text(f"UCC_TL_UCP_TUNE=gather:0-4k:5#{part}\n")
    (fault,) = read.faults
    assert (fault.line, fault.severity, fault.effect.startswith("UCC refuses")) == (1, "error", True)
    assert text in fault.text
    assert read.decisions == {}
    assert read_text(f"UCC_TL_CUDA_TUNE={part}\n").errors == 0


@pytest.mark.parametrize("name", ["UCC_TL_UPC_TUNE", "UCC_TL_UCP_TUNEE", "UCC_TL_UCP_TUEN"])
def test_a_variable_that_ucc_does_not_read_is_an_error(name: str) -> None:
    read = read_text(f"{name}=bcast:0-inf:@0\n")
    assert (read.errors, read.meant) == (1, {})
    assert f"UCC has no variable {name}; it has UCC_TL_UCP_TUNE" in read.faults[0].text
    assert read_text("UCC_CL_BASIC_TLS=ucp\nUCC_TL_UCP_TUNE=bcast:0-inf:@0\n").faults == ()


def test_a_number_beyond_intel_s_reference_is_warned_of() -> None:
    read = read_text("I_MPI_ADJUST_ALLREDUCE=99:0-8;2\nI_MPI_ADJUST_IBCAST=9\n")
    (fault,) = read.faults
    assert (fault.line, fault.severity) == (1, "warning")
    assert fault.text == "allreduce has no algorithm 99 in Intel MPI's reference; it has 1 to 12"
    # What a file itself names was measured.
    assert read_text("# Algorithms:\n#   bcast 15: preset_15\nI_MPI_ADJUST_BCAST=15\n").faults == ()


HUGE = "9" * 5000


@pytest.mark.parametrize(
    "text",
    [
        f"1\n{HUGE}\n1\n2\n1\n1\n1\n0 han\n",
        f"UCC_TL_UCP_BCAST_KN_RADIX={HUGE}",
        *(
            json.dumps({"collective=bcast": {key: {"algorithm=MPIR_Bcast_intra_pipelined_tree": {chunk: {}}}}})
            for key, chunk in (
                (f"comm_size<{HUGE}", "k=2"),
                (f"comm_size<={HUGE}", "k=2"),
                ("comm_size=any", f"chunk_size={HUGE}"),
            )
        ),
    ],
    ids=["collective", "radix", "below", "up to", "chunk"],
)
def test_a_number_of_thousands_of_digits_is_a_fault(text: str) -> None:
    assert any("9" * 20 in fault.text for fault in read_text(text).faults)


def test_a_variable_that_is_set_twice_is_one_decision_and_an_error() -> None:
    rules = read_text("UCC_TL_UCP_TUNE=bcast:0-1k:@knomial:inf\nUCC_TL_UCP_TUNE=bcast:@sag_knomial\n")
    assert list(rules.decisions) == ["bcast"]
    assert [rules.decisions["bcast"].methods[place].label for place in rules.decisions["bcast"].used] == ["sag_knomial"]
    (fault,) = rules.faults
    assert (fault.line, fault.text) == (2, "UCC_TL_UCP_TUNE is set a second time, after line 1")
    assert "refuses a ucc.conf as a whole" in fault.effect
    # Two layers may each be told of the same collective, and so may each section.
    both = "UCC_TL_UCP_TUNE=bcast:@knomial\nUCC_CL_BASIC_TUNE=bcast:@1\n[team_size=4]\nUCC_TL_UCP_TUNE=bcast:@dbt\n"
    rules = read_text(both)
    assert list(rules.decisions) == ["bcast", "bcast (UCC_CL_BASIC_TUNE)", "bcast [team_size=4]"]
    assert not rules.faults
