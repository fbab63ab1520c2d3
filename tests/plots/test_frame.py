"""What all charts have in common."""

from dashboard.plots.frame import framed


def test_what_fills_its_place_has_no_size_of_its_own_but_a_least_height() -> None:
    fills, fixed = framed("map", 340, fills=True), framed("chart", 340)
    assert [options.get(name) for options in (fills, fixed) for name in ("height", "min_height")] == [
        *(None, 340),
        *(340, None),
    ]
    assert "min_width" in {*fixed} - {*fills}
