"""For the browser: when figures and what is around them are laid out and drawn, and what goes with one that is gone."""

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

#: A figure of Bokeh 3.9 listens to the zoom of the window for good, so that one that is gone is kept, with all that it
#: was made of.
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
        visualViewport.addEventListener = (kind, heard, until = {signal: gone.signal}) =>
            addEventListener.call(visualViewport, kind, heard, until)
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
