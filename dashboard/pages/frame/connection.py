"""For the browser: says when the server is gone or slow, and leads back; what the view is stands in the address."""

#: Milliseconds that the server may take for a small answer, and between two looks; it is looked at when somebody does
#: something, never on its own.
SLOW_MS, LOOK_MS = 4_000, 3_000

_COLOURS = "background: var(--mui-palette-warning-light, #ffb74d); color: #1b1f24"
_PLACE = "position: fixed; left: 50%; bottom: 16px; transform: translateX(-50%); z-index: 1400; max-width: 90vw"
_BOX = "display: flex; gap: 12px; align-items: center; padding: 8px 16px; border-radius: 6px; font: 14px/1.4 sans-serif"
_BUTTON = "font: inherit; padding: 2px 10px; border: 1px solid; border-radius: 6px; background: none; color: inherit"

#: One banner for the page, as ``window.colltune_banner``: ``say(text, {button: action})`` and ``hush()``.
BANNER = f"""
if (!window.colltune_banner) {{
    const [box, words, ways] = ['div', 'span', 'span'].map((name) => document.createElement(name))
    box.style.cssText = '{_PLACE}; {_BOX}; {_COLOURS}'
    box.setAttribute('role', 'alert')
    box.append(words, ways)
    let kind = null
    const say = (what, text, buttons = {{}}) => {{
        kind = what
        words.textContent = text
        ways.replaceChildren(...Object.entries(buttons).map(([label, action]) => {{
            const button = document.createElement('button')
            button.textContent = label
            button.style.cssText = '{_BUTTON}'
            button.addEventListener('click', action)
            return button
        }}))
        document.body.append(box)
    }}
    const hush = (what) => {{ if (kind === what) {{ box.remove(); kind = null }} }}
    window.colltune_banner = {{say, hush, get kind() {{ return kind }}}}
    let next = 0, looking = false
    const look = async () => {{
        if (looking || kind === 'gone') return
        looking = true
        await new Promise((go) => setTimeout(go, Math.max(next - performance.now(), 0)))
        const late = setTimeout(() => {{
            if (kind === null) say('slow', 'The server is slow to answer: it is busy. What you asked for will come.')
        }}, {SLOW_MS})
        await fetch('static/js/bokeh.min.js', {{method: 'HEAD', cache: 'no-store'}}).catch(() => null)
        clearTimeout(late)
        hush('slow')
        next = performance.now() + {LOOK_MS}
        looking = false
    }}
    for (const what of ['pointerdown', 'keydown']) window.addEventListener(what, look, true)
}}
"""
#: When the connection is lost; Bokeh tries five times, at longer and longer intervals.
CONNECTION = (
    BANNER
    + """
const kept = 'The server does not answer. What you see stays as it is; '
const anew = 'The server runs, but knows nothing of this page: it was started anew, most likely. Reload to go on.'
const reload = () => window.location.reload()
const answers = () => fetch('static/js/bokeh.min.js', {method: 'HEAD', cache: 'no-store'}).then(() => true, () => false)
let lost = 0
for (const document of Bokeh.documents) {
    document.on_event('connection_lost', (_, event) => {
        const {timeout} = event, banner = window.colltune_banner
        const again = () => { banner.say('gone', 'Connecting …'); event.reconnect() }
        const number = ++lost
        const wait = timeout < 1000 ? '' : ` in ${Math.round(timeout / 1000)} s`
        if (timeout !== null) banner.say('gone', `${kept}connecting again${wait} …`, {Reload: reload})
        else banner.say('gone', `${kept}once it runs again, reload to go on.`, {'Try again': again, Reload: reload})
        // It answers and has refused this page: what is lost once comes back by itself.
        if (number > 1) answers().then((runs) => {
            if (runs && number === lost) banner.say('gone', anew, {Reload: reload})
        })
    })
    document.on_event('client_reconnected', () => {
        lost = 0
        window.colltune_banner.say('back', 'Connected again.')
        setTimeout(() => window.colltune_banner.hush('back'), 3000)
    })
}
"""
)
