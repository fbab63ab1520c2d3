"""Decisions in compiled C: tables against nested ifs on an exact noisy 27 × 48 map; aim: at most a fifth of the time.

The two are compiled by themselves, so that each is called as a library is, and timed in turn in one run
over the same log-uniform sizes in random order. The limit beside them is a function that returns at once.
"""

from dashboard.decisions import decision_map, exact
from dashboard.export.decide_time import decide_time, log_uniform
from tests.cubes import synthetic_cube


def main() -> None:
    decision = exact(decision_map(synthetic_cube(27, 48, 20, seed=20, noise=0.5)))
    timed = decide_time(decision, {"log-uniform": log_uniform((2, 42), (1, 3 * 2**23))})
    nanoseconds = {variant.name: variant.nanoseconds["log-uniform"] for variant in timed}
    print(f"exact noisy 27 × 48 map, {decision.simplified().leaves} leaves after merging")
    print(", ".join(f"{name} {ns:.2f} ns" for name, ns in nanoseconds.items()), "a decision")
    print(f"tables take {nanoseconds['tables'] / nanoseconds['nested ifs']:.3f} of the time of nested ifs")


if __name__ == "__main__":
    main()
