"""Generated source with syntax colours, as HTML that needs nothing from elsewhere."""

from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

#: Longer sources are shown up to here; what is downloaded or copied is whole.
MOST_LINES = 1500
#: By the end of a file's name, as Pygments names them; rules of numbers have comments as a shell script has.
LANGUAGES = {".c": "c", ".py": "python", ".json": "json", ".conf": "bash", ".sh": "bash"}

# Mixed with the page's text colour, one set of hues reads on light and on dark ground.
_TEXT = "var(--panel-on-background-color, #222)"
_HUES = {
    ".k, .kt, .kr, .kc": "#1f6feb 75%",
    ".cp, .cpf": "#a5480f 75%",
    ".c, .c1, .cm, .ch": "#6b7280 70%",
    ".s, .s1, .s2, .sc": "#1a7f37 75%",
    ".mi, .mf, .mh, .m": "#9a34c9 75%",
    ".nf": "#b0308a 75%",
}
STYLE = "\n".join(
    [
        ".source { overflow: auto; max-height: 560px; border-radius: 6px; }",
        ".source { border: 1px solid rgba(120, 120, 120, 0.35); }",
        f".source pre {{ margin: 0; padding: 12px; font: 12.5px/1.5 ui-monospace, monospace; color: {_TEXT}; }}",
        *(f".source :is({names}) {{ color: color-mix(in srgb, {hue}, {_TEXT}); }}" for names, hue in _HUES.items()),
        ".source .c1, .source .cm { font-style: italic; }",
    ]
)


def highlighted(text: str, language: str = "c") -> str:
    """Write source as HTML, its first `MOST_LINES` lines.

    Parameters
    ----------
    language
        As Pygments names it.
    """
    lines = text.splitlines()
    shown = "\n".join(lines[:MOST_LINES])
    lexer = get_lexer_by_name(language, stripnl=False)
    body = highlight(shown, lexer, HtmlFormatter(nowrap=True))
    rest = len(lines) - MOST_LINES
    more = f"<p>{rest:,} more lines: download or copy the source to have all of it.</p>" if rest > 0 else ""
    label = escape(f"Generated source, {len(lines):,} lines", quote=True)
    return f'{more}<div class="source" role="region" tabindex="0" aria-label="{label}"><pre>{body}</pre></div>'
