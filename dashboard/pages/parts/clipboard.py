"""For the browser: text to the clipboard."""

#: Defines ``to_clipboard(text)``. The clipboard of the browser needs a secure page; through a tunnel to another machine
#: there may be none.
TO_CLIPBOARD = """
const to_clipboard = (text) => {
    const by_hand = () => {
        const area = document.createElement('textarea')
        area.value = text
        document.body.append(area)
        area.select()
        document.execCommand('copy')
        area.remove()
    }
    if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(text).catch(by_hand)
    else by_hand()
}
"""
