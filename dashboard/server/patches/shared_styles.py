"""For the browser: each text of a style sheet is made into one once, which all parts of the page adopt.

Bokeh writes each style sheet of each part into a `<style>` of its own: some thousands of the same few texts.
"""

from pathlib import Path

#: Style sheets are adopted instead of written. Whatever Bokeh does to one of its style sheets it does to a text; where
#: that text has been seen before, the sheet is there already. The order among a part's own sheets is kept.
SHARED_STYLES = Path(__file__).with_name("shared_styles.js").read_text(encoding="utf-8")
