"""What is read from ompi_info, and the variables that force a method. The excerpt is of 5.0.11."""

from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.benchmarks.campaigns.wish import Wish, make_plan
from dashboard.benchmarks.errors import NoMpiError, PlanError
from dashboard.benchmarks.libraries import openmpi
from dashboard.benchmarks.libraries.library import Installation, library_of
from dashboard.benchmarks.libraries.methods import DEFAULT, Method, Variants
from dashboard.export.components import HAN_VARIANTS

OMPI_INFO = """\
mca:coll:tuned:version:"mca:2.1.0"
mca:coll:tuned:version:"component:5.0.11"
mca:coll:tuned:param:coll_tuned_priority:value:30
mca:coll:tuned:param:coll_tuned_use_dynamic_rules:value:false
mca:coll:tuned:param:coll_tuned_use_dynamic_rules:enumerator:value:0:false
mca:coll:tuned:param:coll_tuned_use_dynamic_rules:enumerator:value:1:true
mca:coll:tuned:param:coll_tuned_dynamic_rules_filename:value:
mca:coll:tuned:param:coll_tuned_bcast_algorithm_count:value:10
mca:coll:tuned:param:coll_tuned_bcast_algorithm:value:ignore
mca:coll:tuned:param:coll_tuned_bcast_algorithm:help:Which bcast algorithm is used. 1 basic linear, 2 chain
mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:0:ignore
mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:1:basic_linear
mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:2:chain
mca:coll:tuned:param:coll_tuned_bcast_algorithm:enumerator:value:7:knomial
mca:coll:tuned:param:coll_tuned_bcast_algorithm_segmentsize:value:0
mca:coll:tuned:param:coll_tuned_bcast_algorithm_tree_fanout:value:4
mca:coll:tuned:param:coll_tuned_bcast_algorithm_chain_fanout:value:4
mca:coll:tuned:param:coll_tuned_bcast_algorithm_knomial_radix:value:4
mca:coll:tuned:param:coll_tuned_reduce_scatter_algorithm:value:ignore
mca:coll:tuned:param:coll_tuned_reduce_scatter_algorithm:enumerator:value:3:ring
mca:coll:tuned:param:coll_tuned_reduce_scatter_block_algorithm:value:ignore
mca:coll:tuned:param:coll_tuned_reduce_scatter_block_algorithm:enumerator:value:4:butterfly
mca:coll:han:version:"component:5.0.11"
mca:coll:han:param:coll_han_use_bcast_algorithm:value:default
mca:coll:han:param:coll_han_use_bcast_algorithm:enumerator:value:1:intra
mca:coll:han:param:coll_han_use_bcast_algorithm:enumerator:value:2:simple
mca:coll:han:param:coll_han_use_allreduce_algorithm:value:default
mca:coll:han:param:coll_han_use_barrier_algorithm:value:default
mca:coll:han:param:coll_han_bcast_segsize:value:65536
mca:coll:han:param:coll_han_bcast_low_module:value:self
"""


@pytest.fixture(scope="module")
def library() -> openmpi.OpenMpi:
    return openmpi.parse(OMPI_INFO)


def test_whether_4_1_was_built_to_count_messages_is_asked(tmp_path: Path) -> None:
    ompi_info = tmp_path / "ompi_info"

    def says(version: str, components: str) -> bool:
        """Whether it counts, of an `ompi_info` in whose list of components this stands."""
        (tmp_path / "coll").write_text(OMPI_INFO.replace("5.0.11", version))
        (tmp_path / "all").write_text(components)
        ompi_info.write_text(f'#!/bin/sh\ncase "$1" in --param) cat {tmp_path}/coll ;; *) cat {tmp_path}/all ;; esac\n')
        ompi_info.chmod(0o755)
        return openmpi.read(ompi_info).monitors

    counts = 'mca:pml:ob1:version:"mca:2.1.0"\nmca:pml:monitoring:version:"mca:2.1.0"\n'
    assert says("4.1.4", counts)
    assert not says("4.1.8", counts.splitlines()[0])
    assert says("5.0.11", "")


def test_methods_are_those_of_the_library_that_starts_the_ranks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def program(path: str, says: str) -> Path:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\n")
        file.chmod(0o755)
        return file

    program("other/ompi_info", OMPI_INFO)
    monkeypatch.setenv("PATH", f"{tmp_path / 'other'}:/usr/bin:/bin")
    with pytest.raises(NoMpiError, match=r"is of Open MPI 4\.1\.4, but .*/other/ompi_info of 5\.0\.11: put the folder"):
        library_of(program("site/mpiexec", "mpiexec (OpenRTE) 4.1.4"))
    assert library_of(program("site/mpiexec", "mpiexec (Open MPI) 5.0.11")).version == "5.0.11"
    # Beside what a link leads to is its own.
    program("own/ompi_info", OMPI_INFO.replace("5.0.11", "4.1.8"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mpiexec").symlink_to(program("own/mpiexec", "mpiexec (OpenRTE) 4.1.8"))
    assert library_of(tmp_path / "bin" / "mpiexec").version == "4.1.8"


def test_what_a_site_has_switched_on_before_tuned_is_told_since_no_rules_act_then() -> None:
    def of_site(hcoll: int, priority: int, selection: str = "") -> openmpi.OpenMpi:
        """An installation with hcoll, switched on or not, UCC of its usual priority, and what the site lets be."""
        values = {"hcoll_enable": hcoll, "hcoll_priority": priority, "ucc_enable": 1, "ucc_priority": 10}
        lines = [f"mca:coll:{name.split('_')[0]}:param:coll_{name}:value:{value}" for name, value in values.items()]
        return openmpi.parse("\n".join([OMPI_INFO, f"mca:coll:base:param:coll:value:{selection}", *lines]))

    assert "asks hcoll first" in of_site(1, 90).unheeded
    assert "OMPI_MCA_coll=^hcoll in" in of_site(1, 90).unheeded
    assert of_site(0, 90).unheeded == of_site(1, 20).unheeded == ""
    # What environment or files of the site leave out is listed all the same.
    assert of_site(1, 90).components == ("tuned", "han")
    assert (left := of_site(1, 90, "^han,hcoll")).components == ("tuned",)
    assert (only := of_site(1, 90, "tuned,libnbc")).components == ("tuned",)
    assert left.unheeded == only.unheeded == ""


def test_algorithms_are_those_that_the_library_names(library: openmpi.OpenMpi) -> None:
    assert library.version == "5.0.11"
    assert library.algorithms["bcast"] == {1: "basic_linear", 2: "chain", 7: "knomial"}
    assert library.algorithms["reduce_scatter"] == {3: "ring"}
    assert library.algorithms["reduce_scatter_block"] == {4: "butterfly"}


def test_methods_are_algorithms_with_all_their_parameters(library: openmpi.OpenMpi) -> None:
    methods = library.methods("bcast", Variants((0, 1024), (2, 8), (4,)))
    assert methods[0] == Method(DEFAULT, library_id=0)
    assert methods[1] == Method("basic_linear", library_id=1)
    assert [(m.segment_size, dict(m.parameters)) for m in methods if m.algorithm == "chain"] == [
        (0, {"fan_out": 2}),
        (1024, {"fan_out": 2}),
        (0, {"fan_out": 8}),
        (1024, {"fan_out": 8}),
    ]
    assert {m.parameters for m in methods if m.algorithm == "knomial"} == {(("radix", 4),)}
    assert library.methods("scan", Variants()) == [Method(DEFAULT, library_id=0)]


def test_forcing_sets_every_variable_of_the_collective(library: openmpi.OpenMpi) -> None:
    said = library.settings("bcast", Method("chain", 1024, (("fan_out", 8),), 2))
    assert said["coll_tuned_use_dynamic_rules"] == 1
    assert said["coll_tuned_bcast_algorithm"] == 2
    assert said["coll_tuned_bcast_algorithm_segmentsize"] == 1024
    assert said["coll_tuned_bcast_algorithm_chain_fanout"] == 8
    assert said["coll_tuned_bcast_algorithm_knomial_radix"] == 4
    assert "coll_tuned_bcast_algorithm_count" not in said
    assert not any("reduce_scatter" in name for name in said)


def test_the_radixes_of_6_0_are_fan_outs_from_two_up() -> None:
    # Of 6.0.0a1 (v6.0.x, bb1c85d), which never ends with a radix of 1.
    lines = [
        "allgather_algorithm:enumerator:value:2:bruck-k-fanout",
        "allgather_algorithm_tree_fanout:value:4",
        "allgather_algorithm_chain_fanout:value:4",
        "reduce_algorithm:enumerator:value:8:knomial",
        "reduce_algorithm_tree_fanout:value:4",
        "reduce_algorithm_chain_fanout:value:4",
    ]
    text = OMPI_INFO.replace("5.0.11", "6.0.0")
    library = openmpi.parse(text + "\n".join(f"mca:coll:tuned:param:coll_tuned_{line}" for line in lines))
    for collective, kind in (("allgather", "tree"), ("reduce", "chain")):
        _, *methods = library.methods(collective, Variants((0,), (1, 2, 8)))
        assert [dict(method.parameters) for method in methods] == [{"fan_out": 2}, {"fan_out": 8}]
        said = library.settings(collective, methods[1])
        assert {name for name, value in said.items() if value == 8} >= {
            f"coll_tuned_{collective}_algorithm_{kind}_fanout"
        }


def test_han_is_measured_with_its_own_algorithms_and_segment_sizes(library: openmpi.OpenMpi) -> None:
    methods = [
        each for each in library.methods("bcast", Variants((0, 8192), components=("han",))) if each.algorithm == "han"
    ]
    # The one that it takes by itself is not named again.
    assert methods == [Method("han"), Method("han", 0, (("variant", "simple"),)), Method("han", 8192)]
    own, simple, segmented = (library.settings("bcast", method) for method in methods)
    assert simple == {**own, "coll_han_use_bcast_algorithm": 2}
    assert segmented == {**own, "coll_han_bcast_segsize": 8192}
    assert {library.component("bcast", method) for method in methods} == {"han"}


def test_components_inside_of_han_are_methods_where_each_has_a_launch_and_are_told_by_number() -> None:
    six = OMPI_INFO + "mca:coll:han:param:coll_han_bcast_up_module:value:self\n"
    library = openmpi.parse(six + 'mca:coll:sm:version:"component:5.0.11"\n')
    variants = Variants((0,), components=("han",), launched=True)
    inside = [each for each in library.methods("bcast", variants) if {"low", "up"} & dict(each.parameters).keys()]
    assert [dict(each.parameters) for each in inside] == [{"low": "sm"}, {"up": "adapt"}, {"low": "sm", "up": "adapt"}]
    forced = library.forcing("bcast", inside[2])
    assert forced["OMPI_MCA_coll_han_bcast_low_module"] == forced["OMPI_MCA_coll_han_bcast_up_module"] == "1"
    # Open MPI 6 has no sm: its number is another component's there.
    methods = openmpi.parse(six).methods("bcast", variants)
    assert [dict(each.parameters) for each in methods if "up" in dict(each.parameters)] == [{"up": "adapt"}]
    # Of a collective that has no such variables there are none.
    assert not any({"low", "up"} & dict(each.parameters).keys() for each in library.methods("allreduce", variants))


def test_where_rules_must_say_it_components_are_methods_of_what_han_serves_alone(library: openmpi.OpenMpi) -> None:
    def components(collective: str, **choice: bool) -> list[str]:
        methods = library.methods(collective, Variants(components=("tuned",), **choice))
        return [name for each in methods if (name := library.component(collective, each))]

    assert components("bcast", ruled=True) == components("bcast") == ["tuned"]
    assert components("alltoall") == ["tuned"]
    assert components("alltoall", ruled=True) == []


def test_one_algorithm_of_han_is_asked_for_as_its_rules_name_it(library: openmpi.OpenMpi) -> None:
    variants = Variants((0, 8192), components=("han @simple", "han @reproducible"))
    own = {name: [each for each in library.methods(name, variants) if each.algorithm == "han"] for name in HAN_VARIANTS}
    simple, reproducible = (Method("han", 0, (("variant", name),)) for name in ("simple", "reproducible"))
    assert own["bcast"] == [simple]
    assert own["allreduce"] == [simple, reproducible]
    # The only one that it has there.
    assert own["barrier"] == []
    with pytest.raises(PlanError, match="no component 'han @complex'"):
        library.methods("bcast", Variants(components=("han @complex",)))


def test_the_default_is_the_library_as_it_was(library: openmpi.OpenMpi) -> None:
    said = library.settings("bcast", Method(DEFAULT, library_id=0))
    assert said["coll_tuned_use_dynamic_rules"] == said["coll_tuned_bcast_algorithm"] == 0
    assert said["coll_tuned_priority"] == 30


def test_settings_of_one_collective_leave_the_other_of_a_longer_name_alone(library: openmpi.OpenMpi) -> None:
    said = library.settings("reduce_scatter", Method("ring", library_id=3))
    assert said["coll_tuned_reduce_scatter_algorithm"] == 3
    assert not any("block" in name for name in said)


def test_the_environment_lets_root_and_many_ranks_run(
    library: openmpi.OpenMpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openmpi, "FABRICS", (str(tmp_path / "infiniband"), str(tmp_path / "cxi")))
    environment = library.environment(here=True, graphs=True)
    assert environment["OMPI_ALLOW_RUN_AS_ROOT"] == "1"
    assert environment["OMPI_MCA_pml_monitoring_enable"] == "1"
    # `ob1` alone would switch the monitoring off.
    assert environment["OMPI_MCA_pml"] == "^ucx,cm"
    assert "OMPI_MCA_btl" not in library.environment(here=False, graphs=False)
    # By itself the library takes what the adapter is made for, within a node, too.
    (tmp_path / "cxi" / "cxi0").mkdir(parents=True)
    asked = library.environment(here=True, graphs=True)
    assert environment.items() - asked.items() == {("OMPI_MCA_btl", "self,sm"), ("OMPI_MCA_pml", "^ucx,cm")}


def test_a_library_without_tuned_is_refused_with_what_to_install() -> None:
    with pytest.raises(NoMpiError, match="install"):
        openmpi.parse('mca:coll:basic:version:"component:5.0.11"\n')


def test_an_algorithm_that_is_not_offered_is_refused_with_those_that_are(library: openmpi.OpenMpi) -> None:
    here = Installation(Path("/nowhere/mpiexec"), library)
    wish = Wish(2, ("bcast",), (2,), (8,), algorithms=("knomial",))
    assert {method.algorithm for method in make_plan(wish, here).methods["bcast"]} == {"knomial"}
    with pytest.raises(PlanError, match="algorithm 'binomail'; they have default, basic_linear, chain, knomial"):
        make_plan(replace(wish, algorithms=("knomial", "binomail")), here)
