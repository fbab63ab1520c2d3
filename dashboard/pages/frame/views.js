const PLACE = 'colltune views'
export function render({model}) {
    let kept = {}, count = 0
    // Other tabs keep views, too.
    const read = () => {
        try { kept = JSON.parse(localStorage.getItem(PLACE) || '{}') } catch (error) { /* a private window */ }
    }
    read()
    if (Object.keys(kept).length) model.views = kept
    model.on('keeping', () => {
        read()
        const {name, view} = model.keeping
        kept = {...kept}
        if (view) kept[name] = view
        else delete kept[name]
        try { localStorage.setItem(PLACE, JSON.stringify(kept)) } catch (error) { /* a private window */ }
        model.views = kept
    })
    window.addEventListener('storage', (event) => {
        if (event.key !== PLACE) return
        read()
        model.views = kept
    })
    window.addEventListener('keydown', (event) => {
        const at = event.composedPath()[0]
        // Where something is being written the keys undo the writing.
        const writing = at.tagName === 'TEXTAREA' ||
            (at.tagName === 'INPUT' && !['range', 'checkbox', 'radio'].includes(at.type))
        if (event.key === 'Escape') model.asked = `close ${++count}`
        if (!(event.ctrlKey || event.metaKey) || event.altKey || writing) return
        const key = event.key.toLowerCase()
        const step = key === 'y' || (key === 'z' && event.shiftKey) ? 'redo' : key === 'z' ? 'undo' : null
        if (step === null) return
        event.preventDefault()
        model.asked = `${step} ${++count}`
    })
}
