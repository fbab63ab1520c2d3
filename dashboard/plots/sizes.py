"""How high charts are."""

#: Lines of a window up to which charts have the height that they name, in pixels.
_WINDOW = 1200


def filling(least: int, around: int) -> str:
    """Length in CSS of what fills its window, and is `least` pixels at least.

    Parameters
    ----------
    least
        In pixels.
    around
        Lines of the window that are taken by what stands above it and below.
    """
    return f"max({least}px, 100vh - {around}px)"


def growing(height: int) -> dict[str, str]:
    """Style of a plot `height` pixels high, and higher in a window of more than 1200 lines.

    There it keeps its share of the window: on a large screen charts would else be flat bands above an empty page.

    Parameters
    ----------
    height
        In pixels, in a window of usual size.
    """
    return {"min-height": f"max({height}px, {100 * height / _WINDOW:.1f}vh)"}
