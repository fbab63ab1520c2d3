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
