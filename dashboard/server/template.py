"""The page before it is there: what the browser is to fetch first, and what stands until there is more."""

from dashboard.server.patches.lean import EARLY, FIRST, OUTLINE

#: As the header will be. The template's veil stays, over what is there but is not heard by the server yet; unseen.
#: Browsers draw white scroll bars on a dark page, which says nowhere else that it is dark.
_STYLE = f"""
@media (prefers-color-scheme: dark) {{ html:has(#{FIRST}) {{ background: #121212; color: #fff; }} }}
:root {{ scrollbar-color: color-mix(in srgb, var(--panel-on-background-color, #888) 45%, transparent) transparent; }}
#{FIRST} {{ position: absolute; inset: 0; z-index: -1; font: 16px system-ui, sans-serif; padding: 0 8px; }}
#{FIRST} header {{ height: 52px; line-height: 48px; margin: 0 -8px; padding-left: 24px; box-sizing: border-box;
    border-bottom: 1px solid rgba(128, 128, 128, 0.3); font-size: 20px; font-weight: 700; }}
body > #loader:not(.error) {{ background: none; cursor: progress; }}
body > #loader:not(.error) > .spinner {{ display: none; }}
"""
#: Scripts run in their order once the document is read, instead of holding it up: so it can be painted before them.
_LATER = (
    "replace('<script type=\"text/javascript\" src', '<script defer src') | "
    "replace('<script type=\"text/javascript\">', '<script type=\"module\">')"
)


def template(title: str, bundle: str) -> str:
    """Write the page's template for Jinja.

    Parameters
    ----------
    title
        On the header.
    bundle
        Address of the widgets' code, which is otherwise asked for once all scripts have run.
    """
    return (
        "{% extends 'base.html' %}"
        f'{{% block preamble %}}{{{{ super() }}}}<link rel="preload" as="fetch" crossorigin href="{bundle}">'
        f"<style>{_STYLE}</style>{{% endblock %}}"
        f"{{% block js_resources %}}{{{{ (bokeh_js or '') | {_LATER} }}}}{{% endblock %}}"
        "{% block postamble %}{{ super() }}"
        '<script type="module">{% raw %}' + EARLY + "{% endraw %}</script>{% endblock %}"
        f'{{% block loader %}}{{{{ super() }}}}<div id="{FIRST}" aria-hidden="true">'
        f"<header>{title}</header>{OUTLINE}</div>{{% endblock %}}"
    )
