const TOOLS = '.bk-OnOffButton, .bk-ClickButton, .bk-tool-overflow'
const STEPS = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [1, 0], ArrowDown: [-1, 0]}
const places = new WeakMap()
const figure_of = (at) => [...Bokeh.index.query((view) => view.canvas_view?.events_el === at)][0]
const cells_of = (view) => {
    for (const {formatters} of view.model.toolbar.tools) {
        const formatter = formatters && (formatters.get?.('@image') ?? formatters['@image'])
        if (formatter?.args) return formatter.args.get ? Object.fromEntries(formatter.args) : formatter.args
    }
}
const middle = (edges, at) => (edges[at] + edges[at + 1]) / 2
const go = (at, view, cells, [up, right]) => {
    const [rows, columns] = [cells.y_names.length, cells.x_names.length]
    const [row, column] = places.get(view) ?? [Math.floor(rows / 2) - up, Math.floor(columns / 2) - right]
    const within = (value, count) => Math.min(Math.max(value, 0), count - 1)
    const place = [within(row + up, rows), within(column + right, columns)]
    places.set(view, place)
    at.setAttribute('aria-label', `${cells.y_names[place[0]]}, ${cells.x_names[place[1]]}`)
    const {sx, sy} = on_screen(view, cells, place), box = at.getBoundingClientRect()
    const where = {clientX: box.left + sx, clientY: box.top + sy, bubbles: true, composed: true}
    at.dispatchEvent(new PointerEvent('pointermove', {...where, pointerType: 'mouse'}))
}
const on_screen = (view, cells, [row, column]) => {
    const x = middle(cells.x_edges, column), y = middle(cells.y_edges, row)
    return {x, y, sx: view.frame.x_scale.compute(x), sy: view.frame.y_scale.compute(y)}
}
const on_map = (event, at) => {
    const view = figure_of(at), cells = view && cells_of(view)
    if (!cells) return
    if (STEPS[event.key]) go(at, view, cells, STEPS[event.key])
    else if (event.key === 'Enter' && places.has(view)) {
        const {x, y, sx, sy} = on_screen(view, cells, places.get(view))
        view.model.trigger_event(new (Bokeh.require('core/bokeh_events').Tap)(sx, sy, x, y, {}))
    } else if (event.key === 'Escape') {
        at.dispatchEvent(new PointerEvent('pointerleave', {pointerType: 'mouse'}))
        at.blur()
    } else return
    event.preventDefault()
    event.stopPropagation()
}
const on_tools = (event, at) => {
    const tools = [...at.getRootNode().querySelectorAll(TOOLS)], step = STEPS[event.key]
    if (!step) return
    tools[(tools.indexOf(at) + step[1] - step[0] + tools.length) % tools.length].focus()
    event.preventDefault()
    event.stopPropagation()
}
if (!window.colltune_keys) {
    window.colltune_keys = true
    window.addEventListener('keydown', (event) => {
        const at = event.composedPath()[0]
        if (!at.matches || event.ctrlKey || event.metaKey || event.altKey) return
        if (at.matches('.bk-events')) on_map(event, at)
        else if (at.matches(TOOLS)) on_tools(event, at)
    }, true)
    // Where the focus moves within a figure, nothing is heard of it out here.
    window.addEventListener('keyup', (event) => {
        const at = event.composedPath()[0]
        const view = event.key === 'Tab' && at.matches?.('.bk-events') && figure_of(at)
        if (!view) return
        const how = cells_of(view) ? ': arrows go over the cells, Enter pins one, Escape leaves' : ''
        const {title, left, below} = view.model
        const axes = [left, below].map((side) => side.map((each) => each.axis_label).find(Boolean)).filter(Boolean)
        at.setAttribute('aria-label', `${title?.text || axes.join(' over ') || 'Chart'}${how}`)
    }, true)
}
