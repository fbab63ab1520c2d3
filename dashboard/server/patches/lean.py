"""What keeps the document small and the page quick however long it is open: for the browser, before anything is drawn.

Bokeh writes each style sheet of each part of the page into a `<style>` of its own, some thousands of the same few
texts, and a hidden page stays in the document; every style that is asked for goes over all of it. Here a text is made
into a style sheet once, which all parts adopt; what is hidden leaves the document until it is shown, as it was, and
needs no work to be shown again; parts that are resized are laid out together; a figure that is laid out anew takes with
it what it had made before; the first figures are drawn once, in the page's colours and letters; and what is no longer
on the page is let go of while it changes.

This and the two modules that it imports are all that changes what Bokeh does in the browser. It was made for
`MADE_FOR`; where what it takes hold of is not there, it says so in the browser's console and leaves everything as Bokeh
has it. Once Bokeh shares its style sheets by itself, `tests/browser/test_lean.py` fails, and these modules go.
"""

from dashboard.server.patches.figures import CALM, DARK, ROWS, WAIT
from dashboard.server.patches.shared_styles import SHARED_STYLES

#: Series of Bokeh's and Panel's releases whose insides this takes hold of.
MADE_FOR = {"bokeh": ("3.9", "3.10"), "panel": ("1.9", "1.10")}
#: Class of the column of which the children that are not visible leave the document.
PAGES_CLASS = "colltune-pages"
#: Class of the widget of which the value is the name of the page on show.
NAVIGATION_CLASS = "colltune-navigation"

_BLOCK = "background: currentColor; opacity: 0.08; border-radius: 6px"
#: Of the element that is there until the page is.
FIRST = "colltune-first"
#: Pixels from which on a page is higher than its margins and its empty parts.
_STANDS = 150
#: What stands until a page does that was not shown before: controls, and three pictures.
OUTLINE = f"""<p style="margin: 12px 10px; opacity: 0.7"><b></b> …</p>
<div style="{_BLOCK}; height: 48px; margin: 10px"></div><div style="display: flex; gap: 16px; margin: 16px 10px">
{f'<div style="{_BLOCK}; height: 340px; flex: 1"></div>' * 3}</div>"""

#: A page that is not visible leaves the document, and is left out when Bokeh lays out what is on it, all of it at any
#: change of size. Bokeh puts hidden pages back whenever one is added. A click on the navigation is answered before the
#: server is: by the page, where it was shown before, or by the outline of one; first of all, in a frame of its own, by
#: the name that was clicked. A tab's, too: what it shows takes longer to be laid out than a click may go unanswered.
#: What the server shows for a click before the last is not shown: it comes when another page has been asked for.
#: A link to a page (`dashboard.pages.parts.links`) opens it in this session.
LEAVE = f"""
const painted = (work) => requestAnimationFrame(() => setTimeout(work))
const leave = () => {{
    const named = (name) => [...Bokeh.index.query((view) => view.class_list?.has(name))][0]
    const main = named('{PAGES_CLASS}'), navigation = named('{NAVIGATION_CLASS}')
    if (main === undefined) return false
    const known = new WeakSet(), outline = document.createElement('div')
    outline.setAttribute('role', 'status')
    outline.innerHTML = `{OUTLINE}`
    const says = (root) => [...root.childNodes].some((node) =>
        node.nodeType === Node.TEXT_NODE ? node.data.trim() !== ''
        : node.tagName !== 'STYLE' && (says(node) || node.shadowRoot && says(node.shadowRoot)))
    // A page is there before its parts are drawn: until it is high or says something, the outline stands below it.
    const standing = new ResizeObserver((entries) => {{
        const stands = ({{contentRect, target}}) => contentRect.height > {_STANDS} || says(target.shadowRoot)
        if (!entries.some(stands)) return
        outline.remove()
        standing.disconnect()
    }})
    let current = navigation?.model.data.value
    const turn = () => {{
        if (navigation === undefined) return
        for (const {{model}} of main.child_views) model.setv({{visible: model.name === current}}, {{sync: false}})
    }}
    const shown = () => {{
        turn()
        for (const view of main.child_views) {{
            if (!known.has(view)) {{
                known.add(view)
                const lay_out = view.invalidate_layout.bind(view)
                let there = view.model.visible, stale = false
                view.invalidate_layout = () => {{
                    const before = there
                    shown()
                    there = view.model.visible
                    if (there && (before || stale)) lay_out()
                    // What has changed on a page that is away is laid out when it comes back; else it is as it was.
                    stale = !there && (before ? stale : true)
                }}
                // A picture that is still being built has nothing to be measured; the size of its page may change.
                const measure = view.measure_layout.bind(view)
                view.measure_layout = () => {{
                    try {{ measure() }}
                    catch (error) {{ view.update_layout(); measure() }}
                }}
            }}
            if (!view.model.visible) view.el.remove()
            else {{
                if (view.el.parentNode === null) main.shadow_el.append(view.el)
                if (outline.isConnected) standing.observe(view.el)
            }}
        }}
    }}
    Object.defineProperty(main, 'layoutable_views', {{
        get: () => main.child_views.filter((view) => view.model.visible && 'layoutable_views' in view),
    }})
    new MutationObserver(shown).observe(main.shadow_el, {{childList: true}})
    shown()
    // The server says the same when it comes to it.
    navigation?.model.data.properties.value.change.connect(() => painted(() => {{
        current = navigation.model.data.value
        turn()
        // Each page begins at its top, however far down the one before was read.
        let around = main.el
        while (around && !around.classList.contains('main-content'))
            around = around.parentElement ?? around.getRootNode().host
        around?.scrollTo(0, 0)
        if (main.child_views.some(({{model}}) => model.visible)) return
        outline.querySelector('b').textContent = current
        main.shadow_el.append(outline)
    }}))
    addEventListener('click', (event) => {{
        const [clicked] = event.composedPath(), tab = clicked.closest?.('[role=tab]')
        const name = clicked.closest?.('a[href^="?page="]')?.getAttribute('href').slice('?page='.length)
        if (name && navigation && !event.ctrlKey && !event.metaKey && !event.shiftKey) {{
            event.preventDefault()
            navigation.model.data.value = name
        }}
        if (!tab || !event.isTrusted || !event.detail || tab.ariaSelected === 'true') return
        event.stopImmediatePropagation()
        tab.classList.add('Mui-selected')
        painted(() => tab.click())
    }}, true)
    return true
}}
"""

#: Bokeh 3.9 lets go of the models that a page no longer has some time after the *last* change: of a page that changes
#: more often than that, as one that is worked with, all that it ever showed stayed in memory. 3.10 does as this does.
RELEASE = """
const release = ({Document}) => {
    const {_schedule_recompute_all_models: schedule, _recompute_all_models: recompute} = Document.prototype
    if (typeof schedule !== 'function' || typeof recompute !== 'function') throw new Error('Document.recompute')
    Document.prototype._schedule_recompute_all_models = function () {
        if (this._recompute_timer == null) schedule.call(this)
    }
}
"""

EARLY = f"""(() => {{
{RELEASE}{SHARED_STYLES}{CALM}{WAIT}{ROWS}{DARK}
    try {{
        share(Bokeh.require('core/dom'))
        window.colltune_lean = true
    }} catch (error) {{ console.warn('colltune: style sheets are not shared:', error) }}
    const parts = ['ui/ui_element', 'layouts/layout_dom', 'plots/plot_canvas', 'canvas/canvas']
    try {{ calm(...parts.map((each) => Bokeh.require(`models/${{each}}`))) }}
    catch (error) {{ console.warn('colltune: the page is laid out for each part that is resized:', error) }}
    try {{ sweep(Bokeh.require('models/plots/plot_canvas').PlotView.prototype) }}
    catch (error) {{ console.warn('colltune: empty rows stay in the document:', error) }}
    try {{ release(Bokeh.require('document')) }}
    catch (error) {{ console.warn('colltune: what was on show stays in memory while the page changes:', error) }}
    try {{ darken(Bokeh.require('document')) }}
    catch (error) {{ console.warn('colltune: the page is light until it is drawn:', error) }}
}})()"""

#: For the browser, once the page is drawn.
LATE = f"""
document.getElementById('{FIRST}')?.remove()
{LEAVE}
try {{ if (!leave()) console.warn('colltune: hidden pages stay in the document') }}
catch (error) {{ console.warn('colltune: hidden pages stay in the document:', error) }}
"""
