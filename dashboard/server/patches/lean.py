"""What keeps the document small and the page quick however long it is open: for the browser, before anything is drawn.

Bokeh 3.9 writes each style sheet of each part of the page into a `<style>` of its own, some thousands of the same few
texts, and a hidden page stays in the document; every style that is asked for goes over all of it. Here a text is made
into a style sheet once, which all parts adopt; what is hidden leaves the document until it is shown, as it was, and
needs no work to be shown again; parts that are resized are laid out together; a figure that is laid out anew takes with
it what it had made before; and the first figures are drawn once, in the page's colours and letters.

This is the one module that changes what Bokeh does in the browser. It was made for `MADE_FOR`; where what it takes hold
of is not there, it says so in the browser's console and leaves everything as Bokeh has it. Once Bokeh shares its style
sheets by itself, `tests/browser/test_lean.py` fails, and this module goes.
"""

from __future__ import annotations

#: Series of Bokeh's and Panel's releases whose insides this takes hold of.
MADE_FOR = {"bokeh": "3.9", "panel": "1.9"}
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

#: Style sheets are adopted instead of written. Whatever Bokeh does to one of its style sheets it does to a text; where
#: that text has been seen before, the sheet is there already. The order among a part's own sheets is kept.
SHARED_STYLES = """
const share = (dom) => {
    const {InlineStyleSheet, ImportedStyleSheet, GlobalInlineStyleSheet} = dom
    for (const name of ['install', 'uninstall'])
        if (typeof dom.StyleSheet.prototype[name] !== 'function') throw new Error(`StyleSheet.${name}`)
    for (const name of ['_update', 'replace', 'remove'])
        if (typeof InlineStyleSheet.prototype[name] !== 'function') throw new Error(`InlineStyleSheet.${name}`)
    if (typeof dom.empty !== 'function' || !dom.supports_adopted_stylesheets) throw new Error('core/dom')

    const texts = new Map(), ours = new WeakSet(), laid = new WeakMap()
    const unused = new FinalizationRegistry((text) => { if (!texts.get(text)?.deref()) texts.delete(text) })
    const of_text = (text) => {
        let sheet = texts.get(text)?.deref()
        if (sheet === undefined) {
            sheet = new CSSStyleSheet()
            sheet.replaceSync(text)
            ours.add(sheet)
            texts.set(text, new WeakRef(sheet))
            unused.register(sheet, text)
        }
        return sheet
    }
    const rules = new WeakMap(), ruling = new WeakMap()
    const ruled = (root) => {
        const elements = [...ruling.get(root) ?? []].filter((each) => each.getRootNode() === root)
        if (elements.length) ruling.set(root, elements)
        elements.sort((a, b) => a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1)
        return elements.map((each) => rules.get(each))
    }
    const lay = (root) => {
        const sheets = new Set([...root.adoptedStyleSheets].filter((each) => !ours.has(each)))
        for (const {shared} of laid.get(root) ?? []) if (shared) sheets.add(shared)
        for (const sheet of ruled(root)) sheets.add(sheet)
        root.adoptedStyleSheets = [...sheets]
    }
    const put = (sheet, root) => {
        take(sheet)
        sheet.root = root
        if (!laid.has(root)) laid.set(root, new Set())
        laid.get(root).add(sheet)
        if (sheet.shared) lay(root)
    }
    const take = (sheet) => {
        const {root} = sheet
        if (root === undefined) return
        sheet.root = undefined
        laid.get(root)?.delete(sheet)
        if (sheet.shared) lay(root)
    }

    const cleared = new Set()
    const clear = () => {
        for (const sheet of cleared) {
            if (sheet.text !== '' || !sheet.shared) continue
            sheet.shared = null
            if (sheet.root !== undefined) lay(sheet.root)
        }
        cleared.clear()
    }
    const plain = InlineStyleSheet.prototype.install
    Object.defineProperty(InlineStyleSheet.prototype, 'css', {
        // Those made before this ran hold their text as an element.
        get() { return this.text ?? this.el.textContent }, configurable: true,
    })
    InlineStyleSheet.prototype._update = function (css) {
        if (this.text === css) return
        this.text = css
        if (this instanceof GlobalInlineStyleSheet || this.el.parentNode) {
            this.el.textContent = css
            return
        }
        if (css === '') {
            // Bokeh lays out by clearing what it then writes again, mostly as it was.
            cleared.add(this)
            if (cleared.size === 1) queueMicrotask(clear)
            return
        }
        const sheet = of_text(css)
        if (this.shared === sheet) return
        this.shared = sheet
        if (this.root !== undefined) lay(this.root)
    }
    InlineStyleSheet.prototype.install = function (target) {
        if (target instanceof ShadowRoot) {
            if (this.shared === undefined) this.shared = this.css === '' ? null : of_text(this.css)
            put(this, target)
            return
        }
        this.el.textContent = this.css
        plain.call(this, target)
    }
    InlineStyleSheet.prototype.uninstall = InlineStyleSheet.prototype.remove = function () {
        take(this)
        this.el.remove()
    }

    // A file is asked for once. Who waits for its element to load is told when it has.
    const files = new Map(), linked = ImportedStyleSheet.prototype.install
    const of_file = (address) => {
        if (!files.has(address)) {
            const sheet = new CSSStyleSheet({baseURL: address}), file = {sheet, there: false}
            ours.add(sheet)
            file.come = fetch(address).then(async (answer) => {
                if (!answer.ok) throw new Error(`${address}: ${answer.status}`)
                sheet.replaceSync(await answer.text())
                file.there = true
            })
            files.set(address, file)
        }
        return files.get(address)
    }
    ImportedStyleSheet.prototype.install = function (target) {
        const address = this.el.href
        if (!(target instanceof ShadowRoot) || new URL(address).origin !== location.origin) {
            linked.call(this, target)
            return
        }
        const file = of_file(address)
        this.shared = file.sheet
        Object.defineProperty(this.el, 'sheet', {get: () => file.there ? file.sheet : null, configurable: true})
        put(this, target)
        file.come.then(
            () => this.el.dispatchEvent(new Event('load')),
            () => {
                files.delete(address)
                this.el.dispatchEvent(new Event('error'))
            },
        )
    }
    ImportedStyleSheet.prototype.uninstall = ImportedStyleSheet.prototype.remove = function () {
        take(this)
        this.el.remove()
    }
    ImportedStyleSheet.prototype.replace = function (url) {
        const {root} = this
        take(this)
        this.el.href = url
        if (root !== undefined) this.install(root)
    }

    // The widgets' library writes rules into the sheet of an element without text; they are lost where that leaves the
    // document, and none can be added while it is away.
    const {get} = Object.getOwnPropertyDescriptor(HTMLStyleElement.prototype, 'sheet')
    Object.defineProperty(HTMLStyleElement.prototype, 'sheet', {configurable: true, get() {
        const root = this.dataset.emotion === undefined ? null : this.getRootNode()
        if (!(root instanceof ShadowRoot) || this.textContent !== '') return get.call(this)
        if (!rules.has(this)) {
            const sheet = new CSSStyleSheet()
            ours.add(sheet)
            rules.set(this, sheet)
            ruling.set(root, [...ruling.get(root) ?? [], this])
            lay(root)
        }
        return rules.get(this)
    }})

    // Before a part is drawn anew it is emptied, and with its elements went its style sheets.
    const empty = dom.empty
    dom.empty = function (node, ...more) {
        if (node instanceof ShadowRoot && laid.has(node)) {
            for (const each of laid.get(node)) each.root = undefined
            laid.delete(node)
            lay(node)
        }
        return empty(node, ...more)
    }
}
"""

#: A page that is not visible leaves the document, and is left out when Bokeh lays out what is on it, all of it at any
#: change of size. Bokeh puts hidden pages back whenever one is added. A click on the navigation is answered before the
#: server is: by the page, where it was shown before, or by the outline of one.
LEAVE = f"""
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
    const shown = () => {{
        for (const view of main.child_views) {{
            if (!known.has(view)) {{
                known.add(view)
                const lay_out = view.invalidate_layout.bind(view)
                let there = view.model.visible, stale = false
                view.invalidate_layout = () => {{
                    const before = there
                    there = view.model.visible
                    shown()
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
    navigation?.model.data.properties.value.change.connect(() => {{
        const name = navigation.model.data.value
        for (const {{model}} of main.child_views) model.setv({{visible: model.name === name}}, {{sync: false}})
        // Each page begins at its top, however far down the one before was read.
        main.el.closest('.main-content')?.scrollTo(0, 0)
        if (main.child_views.some(({{model}}) => model.visible)) return
        outline.querySelector('b').textContent = name
        main.shadow_el.append(outline)
    }})
    return true
}}
"""

#: What has left the document keeps the size that it had there, and is not painted; what comes back as large as it went
#: needs nothing. Bokeh lays out the whole page for each part that is resized or gets other children: here once for all
#: of one frame.
CALM = """
const calm = ({UIElementView}, {LayoutDOMView}, {PlotView}, {CanvasView}) => {
    const resized = UIElementView.prototype.after_resize, lay_out = LayoutDOMView.prototype._after_resize
    const {paint} = PlotView.prototype, canvas_resized = CanvasView.prototype.after_resize
    const invalidate = LayoutDOMView.prototype.invalidate_layout
    for (const each of [resized, lay_out, paint, canvas_resized, invalidate])
        if (typeof each !== 'function') throw new Error('after_resize, paint, invalidate_layout')
    const waiting = new Map(), unpainted = new WeakSet()
    const relay = () => {
        const views = [...waiting]
        waiting.clear()
        for (const [view, method] of views) if (view.el.isConnected) view[method]()
    }
    const soon = (view, method = 'compute_layout') => {
        while (view.is_managed) view = view.parent
        if (waiting.size === 0) requestAnimationFrame(relay)
        // To lay out anew is to compute, too.
        if (waiting.get(view) !== 'invalidate_layout') waiting.set(view, method)
    }
    LayoutDOMView.prototype.invalidate_layout = function () {
        const {parent} = this
        if (this.is_managed && !parent.is_managed && parent._layout_computed) soon(parent, 'invalidate_layout')
        else invalidate.call(this)
    }
    UIElementView.prototype.after_resize = function () {
        if (!this.el.isConnected) {
            this._resized = true
            this.finish()
            return
        }
        resized.call(this)
        if (unpainted.delete(this)) this.request_repaint()
        // All but figures is laid out by the browser alone. Which one has another size may have been seen before.
        const {layout, bbox} = this
        if (layout != null && (layout.bbox.width !== bbox.width || layout.bbox.height !== bbox.height)) soon(this)
    }
    LayoutDOMView.prototype._after_resize = function () {
        if (this.is_layout_root && !this._was_built) lay_out.call(this)
    }
    // A figure that was made while its page was away took its canvas for one without a size.
    CanvasView.prototype.after_resize = function () {
        canvas_resized.call(this)
        if (Math.floor(this.el.getBoundingClientRect().width) === this.bbox.width) return
        for (const view of this.plot_views) soon(view)
    }
    PlotView.prototype.paint = function () {
        if (this.is_displayed && !this.el.isConnected) unpainted.add(this)
        else paint.call(this)
    }
}
"""

#: Milliseconds that the first figures wait at most for the page's theme, and for its fonts.
_DRESSED = 1000
#: The first figures would be drawn before the page's theme and its fonts are there, and again for each.
WAIT = f"""
const dressed = async () => {{
    const end = performance.now() + {_DRESSED}, wait = (time) => new Promise((next) => setTimeout(next, time))
    const [page] = Bokeh.index.query((view) => view.model.class_name === 'Page')
    // What the widgets' library writes there it writes once all figures have its colours.
    while (page && !document.getElementById('page-style')?.textContent && performance.now() < end) await wait(10)
    await Promise.race([document.fonts.ready, wait({_DRESSED})])
}}
"""

#: A figure listens to the zoom of the window for good, so that one that is gone is kept, with all that it was made of.
#: Each layout of a figure makes a new row for its title and tools, and leaves the former one in the document, empty;
#: and it draws the figure once more, also where another part has changed and the figure's sizes have not.
ROWS = """
const sweep = (plot) => {
    const lay_out = plot._update_layout, invalidate = plot.invalidate_layout, connect = plot.connect_signals
    const {paint} = plot, changed = new WeakSet()
    const undressed = new Set()
    let waiting = null, stands = false
    plot.paint = function () {
        if (stands) {
            paint.call(this)
            return
        }
        undressed.add(this)
        waiting ??= dressed().finally(() => {
            stands = true
            for (const each of undressed) each.request_paint()
            undressed.clear()
        })
    }
    if (typeof lay_out !== 'function') throw new Error('PlotView._update_layout')
    plot.connect_signals = function () {
        const {addEventListener} = visualViewport, gone = new AbortController()
        visualViewport.addEventListener = (kind, heard) =>
            addEventListener.call(visualViewport, kind, heard, {signal: gone.signal})
        try { connect.call(this) }
        finally { delete visualViewport.addEventListener }
        this.removed.connect(() => gone.abort())
    }
    plot.invalidate_layout = function () {
        changed.add(this)
        invalidate.call(this)
    }
    plot._update_layout = function () {
        const {layout, _invalidate_all, _needs_paint} = this
        lay_out.call(this)
        if (layout != null && !changed.delete(this)) Object.assign(this, {_invalidate_all, _needs_paint})
        for (const each of [...this.top_panel.shadow_el.children])
            if (each.className === '' && each.shadowRoot === null && !each.hasChildNodes()) each.remove()
    }
}
"""

#: Where the reader's system is dark, the page is so from the first thing that is drawn.
DARK = """
const darken = ({Document}) => {
    const {add_root} = Document.prototype
    if (typeof add_root !== 'function') throw new Error('Document.add_root')
    if (!matchMedia('(prefers-color-scheme: dark)').matches) return
    Document.prototype.add_root = function (model, ...more) {
        if (model.class_name === 'Page') model.data.setv({dark_theme: true}, {silent: true})
        return add_root.call(this, model, ...more)
    }
}
"""

EARLY = f"""(() => {{
{SHARED_STYLES}{CALM}{WAIT}{ROWS}{DARK}
    try {{
        share(Bokeh.require('core/dom'))
        window.colltune_lean = true
    }} catch (error) {{ console.warn('colltune: style sheets are not shared:', error) }}
    const parts = ['ui/ui_element', 'layouts/layout_dom', 'plots/plot_canvas', 'canvas/canvas']
    try {{ calm(...parts.map((each) => Bokeh.require(`models/${{each}}`))) }}
    catch (error) {{ console.warn('colltune: the page is laid out for each part that is resized:', error) }}
    try {{ sweep(Bokeh.require('models/plots/plot_canvas').PlotView.prototype) }}
    catch (error) {{ console.warn('colltune: empty rows stay in the document:', error) }}
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
