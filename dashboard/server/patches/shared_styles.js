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
        // Of a text that a part has twice, as after the theme went there and back, the last one decides.
        const last = (sheet) => { sheets.delete(sheet); sheets.add(sheet) }
        for (const {shared} of laid.get(root) ?? []) if (shared) last(shared)
        for (const sheet of ruled(root)) last(sheet)
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
