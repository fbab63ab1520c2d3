"""For the browser: the page follows the way back, the tab the page on show, and the theme the reader's system."""

#: Panel hears nothing of the browser's way back; the address it leads to is a view's, so the page is opened again.
HISTORY = "window.addEventListener('popstate', () => window.location.reload())"

#: Nor does the browser's tab hear of the document's title.
TITLE = """
for (const shown of Bokeh.documents) {
    document.title = shown.title()
    shown.on_change((event) => { if (event.kind === 'TitleChanged') document.title = event.title })
}
"""

#: The theme is what the reader's system has, until it is switched. On a busy machine the page is drawn after this, or
#: told once more what the server took it for: so it is seen to for some seconds.
SCHEME = """
let drawn = false
const follow = setInterval(() => {
    for (const {model} of Bokeh.index.query((view) => view.model.class_name === 'Page')) {
        if (!drawn) {
            // It is drawn dark already, of which the server, whose figures are to be dark too, knows nothing.
            model.data.setv({dark_theme: false}, {silent: true})
            // A slow start may take longer than this.
            setTimeout(stop, 20000)
        }
        if (!model.data.dark_theme) model.data.dark_theme = true
        drawn = true
    }
}, 100)
const stop = () => clearInterval(follow)
const switched = (event) => event.composedPath().some((each) => each.ariaLabel === 'Toggle theme')
if (!matchMedia('(prefers-color-scheme: dark)').matches) stop()
document.addEventListener('click', (event) => { if (switched(event)) stop() }, true)
"""
