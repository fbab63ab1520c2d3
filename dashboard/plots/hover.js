const find = (edges, at) => {
    let low = 0, high = edges.length - 1
    while (high - low > 1) { const mid = (low + high) >> 1; if (edges[mid] <= at) low = mid; else high = mid }
    return low
}
const column = find(x_edges, special_vars.x), row = find(y_edges, special_vars.y)
const where = `${collective} · ${y_names[row]} · ${x_names[column]}`
if (cells.tags.includes('stale')) {
    if (ask.tags[0] !== cells.tags[1]) ask.tags = [cells.tags[1]]
    return `${where}\nfetching the figures …`
}
const data = cells.data
if (data.best === undefined) return `${where}\ntap for the figures`
const cell = row * x_names.length + column
const best = data.best[cell], chosen = data.chosen[cell]
const time = (s) => {
    if (!isFinite(s)) return 'not measured'
    const [factor, unit] = s >= 0.99995 ? [1, 's'] : s >= 0.99995e-3 ? [1e3, 'ms'] : [1e6, 'µs']
    return `${(s * factor).toFixed(s * factor < 9.9995 ? 3 : s * factor < 99.995 ? 2 : 1)} ${unit}`
}
const doubted = data.untrusted ? data.untrusted[cell].split('; ').filter(Boolean) : []
const doubts = doubted.map((words) => `\nnot trusted: ${words}`).join('')
const otherwise = !compares || chosen < 0 ? '' : `\nchosen   ${names[chosen]}`
if (best < 0) return `${where}\nnot measured${doubts}${otherwise}`
const chosen_time = data.chosen_time[cell], best_time = data.best_time[cell]
const penalty = 100 * (chosen_time - best_time) / best_time
const digits = Math.abs(penalty) < 99.995 ? 2 : 1
const written = penalty.toLocaleString('en', {minimumFractionDigits: digits, maximumFractionDigits: digits})
const percent = isFinite(penalty) ? `${penalty === 0 ? 0 : written} %` : 'unknown, it is not in these results'
const name = (method) => method < 0 ? 'not among the methods' : names[method]
const wide = Math.max(compares ? name(chosen).length : 0, name(best).length)
const line = (title, method, t, n) =>
    `\n${title}${name(method).padEnd(wide)}  ${time(t)}` + (n > 0 ? `  (${n.toLocaleString('en')} repetitions)` : '')
const assumed = data.unmeasured[cell] && isFinite(chosen_time) ? '  (not measured: what it counts)' : ''
return where
    + (compares ? line('chosen   ', chosen, chosen_time, data.chosen_repetitions[cell]) + assumed : '')
    + line('best     ', best, best_time, data.best_repetitions[cell])
    + (compares ? `\npenalty  ${percent}` : '')
    + doubts
    + `\n${data.measured[cell]} method${data.measured[cell] === 1 ? '' : 's'} measured · tap to pin`
