const still = new CSSStyleSheet()
still.replaceSync(`@media (prefers-reduced-motion: reduce) {
    *, *::before, *::after {
        animation-duration: 0.01ms !important; animation-iteration-count: 1 !important;
        transition-duration: 0.01ms !important; scroll-behavior: auto !important;
    }
}
/* A tip lies over what is to the right of its button, which must stay what a click is for. */
.MuiTooltip-popper { pointer-events: none !important; }
/* Its sign stands in the frame of a field: the tip stands above, and covers nothing of the field. */
.MuiTooltip-popper[data-above] > .MuiTooltip-tooltip { translate: 0 calc(-50% - 16px); max-width: 420px; }
.MuiTooltip-popper[data-above] .MuiTooltip-arrow { display: none; }`)
const ROLES = [
    ['span[aria-label]:not([role])', {role: 'img'}],
    ['[role=progressbar]:not([aria-label])', {'aria-label': 'Progress'}],
    ['h3.title:not([aria-level])', {'aria-level': '1'}],
    ['h5:not([aria-hidden])', {'aria-hidden': 'true'}],
    ['.MuiInputAdornment-positionStart button:not([aria-label])', {'aria-label': 'Less'}],
    ['.MuiInputAdornment-positionEnd button:not([aria-label])', {'aria-label': 'More'}],
    ['pre:not([tabindex])', {tabindex: '0'}],
    ['.bk-events:not([role])', {role: 'application', 'aria-label': 'Chart'}],
    ['.bk-OnOffButton:not([role]), .bk-ClickButton:not([role])', {role: 'button'}],
    // One stop for all tools of a chart; arrows lead to the others.
    ['.bk-OnOffButton ~ [tabindex="0"], .bk-ClickButton ~ [tabindex="0"]', {tabindex: '-1'}],
    ['.tabulator-tableholder:not([role])', {role: 'rowgroup'}],
    ['.tabulator-table[role=rowgroup]', {role: 'none'}],
]
const give = (part, attributes) => {
    for (const [attribute, value] of Object.entries(attributes)) part.setAttribute(attribute, value)
}
// What can be read of a button, without the names of its signs.
const words = (part) => {
    const copy = part.cloneNode(true)
    const signs = 'svg, style, input, [aria-hidden=true], [class*=material-icons]'
    for (const sign of copy.querySelectorAll(signs)) sign.remove()
    return copy.textContent.trim()
}
// Root of what the pointer, or the focus, is on.
let over = null
const DEEDS = [
    // The widgets' library makes a menu of what is a list to choose from, and does not say what is chosen.
    ['[role=listbox] > [role=menuitem]', (part) => {
        const box = part.getRootNode().querySelector('[role=combobox]')
        give(part, {role: 'option', 'aria-selected': String(box !== null && words(box) === words(part))})
    }],
    // A button with help is named by the help: what stands on it is its name, and the help its description.
    ['button[aria-label], label[aria-label], [role=button][aria-label]', (part) => {
        const label = part.getAttribute('aria-label'), text = words(part)
        if (text && !label.includes(text)) give(part, {'aria-label': text, 'aria-description': label})
    }],
    ['.MuiTooltip-popper', (part) => {
        if (over?.querySelector('.MuiOutlinedInput-root')) part.toggleAttribute('data-above', true)
    }],
]
const deeds = [...DEEDS, ...ROLES.map(([selector, attributes]) => [selector, (part) => give(part, attributes)])]
const name = (part) => {
    for (const [selector, deed] of deeds) {
        if (part.matches && part.matches(selector)) deed(part)
        for (const element of part.querySelectorAll(selector)) deed(element)
    }
}
const followed = new WeakSet()
const follow = (root) => {
    followed.add(root)
    name(root)
    root.adoptedStyleSheets.push(still)
    new MutationObserver((changes) => {
        for (const change of changes) {
            for (const node of change.addedNodes) if (node.nodeType === Node.ELEMENT_NODE) { name(node); walk(node) }
            // A tool that is chosen is made a stop anew.
            if (change.type === 'attributes') name(change.target)
        }
    }).observe(root, {childList: true, subtree: true, attributeFilter: ['tabindex']})
}
// What was made before this ran may be shown later, such as another tab.
const walk = (part) => {
    for (const {shadowRoot} of [part, ...part.querySelectorAll('*')])
        if (shadowRoot && !followed.has(shadowRoot)) { follow(shadowRoot); walk(shadowRoot) }
}
// The sign of a control's help shows the help to a pointer alone: it is shown as well where Tab has led to the control,
// until the focus goes on or Escape is pressed. In a legend is a copy of the sign that nobody sees.
const SIGN = 'svg:has(+ span[aria-label]):not(legend *)'
let sign = null
const point = (kind) => { if (sign) sign.dispatchEvent(new MouseEvent(kind, {bubbles: true})) }
const tell = (at) => {
    const root = at.getRootNode()
    point('mouseout')
    sign = root instanceof ShadowRoot ? root.querySelector(SIGN) : null
    over = root
    point('mouseover')
}
const hush = () => { point('mouseout'); sign = null }
const help = (event) => {
    if (event.key === 'Tab') {
        // A group of buttons has its first one as its stop, whichever is chosen; arrows lead to the others.
        event.composedPath()[0].closest?.('.MuiToggleButtonGroup-root')?.querySelector('[aria-pressed=true]')?.focus()
        tell(event.composedPath()[0])
    }
    if (event.key === 'Escape') hush()
}
// The library's selects open, and are chosen from, by a click alone.
const press = (event) => {
    const at = event.composedPath()[0]
    if (!at.matches || event.ctrlKey || event.metaKey || event.altKey) return
    const opens = at.matches('.MuiSelect-select[role=combobox]:not([aria-disabled=true])')
    const chooses = at.matches('li.MuiMenuItem-root[value]')
    if ((opens && ['Enter', ' ', 'ArrowDown', 'ArrowUp'].includes(event.key)) ||
        (chooses && ['Enter', ' '].includes(event.key))) {
        event.preventDefault()
        event.stopPropagation()
        at.click()
    }
}
if (!window.colltune_names) {
    window.colltune_names = true
    document.adoptedStyleSheets.push(still)
    walk(document)
    window.addEventListener('keydown', press, true)
    window.addEventListener('keyup', help, true)
    window.addEventListener('mouseover', (event) => { over = event.composedPath()[0].getRootNode() }, true)
    window.addEventListener('focusout', hush, true)
    const attach = Element.prototype.attachShadow
    Element.prototype.attachShadow = function (...options) {
        const root = attach.apply(this, options)
        follow(root)
        return root
    }
}
