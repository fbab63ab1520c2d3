"""The drop area for uploads: what arrives is counted and written to disk piece by piece, never gathered in memory."""

from collections.abc import Callable
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

from dashboard.pages.data.files import Uploads

#: Of a piece, as the browser cuts them; the server's bound on messages is a little above.
CHUNK_BYTES = 5_000_000
_LONGEST_NAME = 300


class Dropper(JSComponent):
    """A place to drop files, with one row that sums up all of them, however many they are.

    The bounds that the browser is told of are for honest ones; `Uploads` keeps them.

    Parameters
    ----------
    uploads
        Where the files go.
    report
        Called with the name of a file, and why it was refused or None where it was taken or removed.
    """

    chunk = param.Integer(default=CHUNK_BYTES, constant=True, doc="Bytes of a piece.")
    kept = param.Integer(default=0, doc="Files that have come and were taken.")
    loads = param.Integer(default=0, doc="Times that loading was asked for: files that come later replace.")
    answered = param.Integer(default=0, doc="Files of which it is known whether they were taken.")

    _esm = """
    export function render({model}) {
        const box = document.createElement('div')
        box.className = 'drop'
        box.innerHTML = `<label>Drop files here, or <u>browse</u><input type="file" multiple></label>
            <p role="status"></p><progress aria-label="Files sent"></progress>
            <details><summary>The files</summary><ul></ul></details>`
        const [input, status, bar] = ['input', 'p', 'progress'].map((name) => box.querySelector(name))
        const [list, names] = [box.querySelector('details'), box.querySelector('ul')]
        const files = new Map(), waiting = [], replaced = new Set()
        let replaceable = new Set()
        let sending = false
        const many = (count) => `${count} ${count === 1 ? 'file' : 'files'}`
        const size = (bytes) => bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
        const show = () => {
            const bytes = [...files.values()].reduce((sum, file) => sum + file.size, 0)
            // What was sent is still under way.
            const coming = sending || model.answered < files.size, there = Math.min(model.answered, files.size)
            bar.hidden = !coming
            bar.max = files.size || 1
            bar.value = there
            list.hidden = !files.size
            status.textContent = !files.size ? 'No file yet.' : coming
                ? `Sending ${Math.min(there + 1, files.size)} of ${many(files.size)}, ${size(bytes)}`
                : `${model.kept} of ${many(files.size)} here, ${size(bytes)}` +
                    (replaced.size ? `; ${replaced.size > 1 ? many(replaced.size) : [...replaced][0]} replaced` : '') +
                    (files.size > model.kept ? '; why not all is said on this page' : '')
        }
        // The names are written when somebody wants to see them.
        const write = () => {
            if (!list.open) return
            names.replaceChildren(...[...files.values()].map((file) => {
                const row = document.createElement('li'), button = document.createElement('button')
                button.textContent = '×'
                button.setAttribute('aria-label', `Remove ${file.name}`)
                button.addEventListener('click', () => {
                    for (const each of [files, replaceable, replaced]) each.delete(file.name)
                    model.send_msg({name: file.name, removed: true})
                    write()
                    show()
                })
                row.append(button, ` ${file.name}, ${size(file.size)}`)
                return row
            }))
        }
        const send = async () => {
            if (sending) return
            sending = true
            while (waiting.length) {
                const file = waiting.shift(), pieces = Math.max(Math.ceil(file.size / model.chunk), 1)
                for (let at = 0; at < pieces && files.get(file.name) === file; at++) {
                    const data = await file.slice(at * model.chunk, (at + 1) * model.chunk).arrayBuffer()
                    model.send_msg({name: file.name, chunk: at + 1, total_chunks: pieces, data})
                }
                show()
            }
            sending = false
            show()
        }
        // Files of one name that come before they are loaded may be of several folders: the later ones are numbered.
        const named = (file) => {
            if (replaceable.delete(file.name)) {
                replaced.add(file.name)
                return file
            }
            const dot = file.name.lastIndexOf('.'), end = dot > 0 ? dot : file.name.length
            let name = file.name
            for (let n = 2; files.has(name); n++) name = `${file.name.slice(0, end)} (${n})${file.name.slice(end)}`
            return name === file.name ? file : new File([file], name)
        }
        const take = (given) => {
            for (const file of [...given].map(named)) { files.set(file.name, file); waiting.push(file) }
            write()
            void send()
        }
        input.addEventListener('change', () => { take([...input.files]); input.value = '' })
        for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop'])
            box.addEventListener(kind, (event) => {
                event.preventDefault()
                box.classList.toggle('over', kind === 'dragenter' || kind === 'dragover')
                if (kind === 'drop') take([...event.dataTransfer.files])
            })
        list.addEventListener('toggle', write)
        for (const each of ['kept', 'answered']) model.on(each, show)
        model.on('loads', () => {
            replaceable = new Set(files.keys())
            replaced.clear()
            show()
        })
        show()
        return box
    }
    """
    _stylesheets: ClassVar[list[str]] = [
        """
.drop { border: 1px dashed color-mix(in srgb, currentColor 45%, transparent); border-radius: 6px; padding: 12px 16px;
  color: var(--panel-on-background-color, #222); font-size: 14px; }
.drop.over { border-style: solid; }
.drop label { display: block; padding: 16px; text-align: center; cursor: pointer; }
.drop input { position: absolute; opacity: 0; width: 1px; height: 1px; }
.drop label:focus-within { outline: 2px solid; }
.drop p { margin: 4px 0; }
.drop progress { width: 100%; }
.drop ul { max-height: 240px; overflow: auto; list-style: none; margin: 4px 0 0; padding: 0; }
.drop li button { border: 0; background: none; color: inherit; font-size: 16px; cursor: pointer; }
"""
    ]

    def __init__(self, uploads: Uploads, report: Callable[[str, str | None], None], **params: Any) -> None:
        self._uploads, self._report = uploads, report
        self._answered: set[str] = set()
        super().__init__(**params)

    def _handle_msg(self, data: Any) -> None:
        if not isinstance(data, dict):
            return
        name = str(data.get("name", ""))[:_LONGEST_NAME]
        if data.get("removed"):
            self._uploads.remove(name)
            self._answer(name, None, removed=True)
            return
        chunk, chunks, piece = data.get("chunk"), data.get("total_chunks"), data.get("data")
        if not (
            isinstance(chunk, int) and isinstance(chunks, int) and isinstance(piece, bytes | bytearray | memoryview)
        ):
            return
        if chunk == 1:
            self._answered.discard(name)
        refused = self._uploads.begin(name) if chunk == 1 else None
        refused = refused or self._uploads.add(name, bytes(piece), last=chunk >= chunks)
        # The last piece of a file that was refused before says nothing new.
        if refused or self._uploads.holds(name):
            self._answer(name, refused)

    def _answer(self, name: str, refused: str | None, *, removed: bool = False) -> None:
        self._report(name, refused)
        (self._answered.discard if removed else self._answered.add)(name)
        self.answered = len(self._answered)
