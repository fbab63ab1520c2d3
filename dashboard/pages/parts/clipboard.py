"""For the browser: text to the clipboard."""

#: Copies what a ``holder`` holds. The clipboard of the browser needs a secure page; through a tunnel to another machine
#: there may be none.
COPY = """
const by_hand = () => {
    const area = document.createElement('textarea')
    area.value = holder.value
    document.body.append(area)
    area.select()
    document.execCommand('copy')
    area.remove()
}
if (navigator.clipboard && window.isSecureContext) navigator.clipboard.writeText(holder.value).catch(by_hand)
else by_hand()
"""
