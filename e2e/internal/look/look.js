// What is wrong with the look of the page at its present size, one line each.
// Called with the least size of a target in CSS pixels.
least => {
  const faults = new Set()
  const width = document.documentElement.clientWidth, height = innerHeight
  const style = e => getComputedStyle(e)
  const told = e => `<${e.tagName.toLowerCase()}${e.id ? " id=" + e.id : ""}${e.classList.length ? ` class="${e.classList}"` : ""}> “${(e.ariaLabel ?? e.textContent).trim().replace(/\s+/g, " ").slice(0, 50)}”`
  const px = n => Math.round(n * 10) / 10

  if (document.scrollingElement.scrollWidth > width) faults.add(`the document is ${document.scrollingElement.scrollWidth} px wide`)

  const sticks = e => { while (e && style(e).position !== "sticky") e = e.parentElement; return e }
  const floating = e => e.closest(":popover-open, [role=listbox]:not([hidden])")
  /** The part of an element in sight; sideways and clipped say what hides the rest without a way to scroll there. */
  const sight = e => {
    const whole = e.getBoundingClientRect(), r = { left: whole.left, top: whole.top, right: whole.right, bottom: whole.bottom }
    let clipped = null, scrolls = false
    for (let p = e; p; p = p.parentElement) {
      if (p !== e) {
        const s = style(p), box = p.getBoundingClientRect()
        const across = /auto|scroll/.test(s.overflowX), down = /auto|scroll/.test(s.overflowY)
        if (s.overflowX !== "visible") {
          if (!across && !scrolls && (box.left - r.left > 1.5 || r.right - box.right > 1.5) && r.right > box.left && r.left < box.right) clipped = p
          r.left = Math.max(r.left, box.left); r.right = Math.min(r.right, box.right)
        }
        if (s.overflowY !== "visible") {
          if (!down && !scrolls && (box.top - r.top > 1.5 || r.bottom - box.bottom > 1.5) && r.bottom > box.top && r.top < box.bottom) clipped = p
          r.top = Math.max(r.top, box.top); r.bottom = Math.min(r.bottom, box.bottom)
        }
        scrolls ||= across || down
      }
      if (style(p).position === "fixed") break
    }
    r.left = Math.max(r.left, 0); r.right = Math.min(r.right, width)
    r.top = Math.max(r.top, 0); r.bottom = Math.min(r.bottom, height)
    return { whole, r, clipped, scrolls }
  }

  const controls = [...document.querySelectorAll("button, a[href], input:not([type=hidden]), select, textarea, summary, [role=tab], [role=option], [role=separator], [role=switch]")]
  const modal = document.querySelector("dialog:modal") // the page behind it is inert
  for (const e of controls) {
    if (modal && !modal.contains(e)) continue
    if (!e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || e.matches(".skip, .sr") || e.closest("[inert]")) continue
    const { whole, r, clipped, scrolls } = sight(e)
    if (!whole.width || !whole.height || r.right - r.left < 1 || r.bottom - r.top < 1) continue
    if (clipped) faults.add(`${told(e)} is cut off by ${told(clipped).split(" “")[0]}`)
    if (!scrolls && (whole.right > width + 1 || whole.left < -1)) faults.add(`${told(e)} lies outside the window`)
    // In sight for the most part: then nothing may lie over it.
    if ((r.right - r.left) * (r.bottom - r.top) > .6 * whole.width * whole.height && !e.matches("[role=separator]")) {
      const on = [e, ...(e.labels ?? [])]
      for (const [x, y] of [[.5, .5], [.1, .5], [.9, .5]].map(([x, y]) => [r.left + x * (r.right - r.left), r.top + y * (r.bottom - r.top)])) {
        const hit = document.elementFromPoint(x, y)
        if (!hit || on.some(o => o.contains(hit) || hit.contains(o)) || floating(hit) && floating(hit) !== floating(e)) continue
        // What sticks to an edge, and a button within a text box, may lie over it.
        if (hit.matches("[role=separator]") || scrolls && sticks(hit) && !sticks(hit).contains(e)) continue
        if (e.matches("input") && hit.closest("button")?.parentElement === e.parentElement) continue
        faults.add(`${told(e)} is covered by ${told(hit)}`)
      }
    }
    const text = style(e).display === "inline" || e.matches(".link, summary .link, td a, p:not(.formats) a, dd a") || e.closest("pre, .tree, .in-line")
    const label = e.labels?.[0]?.getBoundingClientRect() ?? whole
    const row = e.matches(".item") ? e.closest("li").getBoundingClientRect() : whole // all of its row is the button
    const wide = Math.max(label.width, row.width), high = Math.max(label.height, row.height)
    if (!text && !e.matches("[role=separator]") && (wide < least - .6 || high < least - .6)) faults.add(`${told(e)} is a target of ${px(wide)} × ${px(high)} px`)
    if (e.matches("button, .button, summary") && !/ellipsis/.test(style(e).textOverflow) && e.scrollWidth > e.clientWidth + 1 && style(e).display !== "inline") faults.add(`${told(e)} does not hold its words`)
    if (e.matches("button:not(.link, .item, .more, .story, [role=option])") && style(e).display !== "inline") {
      const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), lines = new Set()
      while (texts.nextNode()) {
        const words = document.createRange()
        words.selectNodeContents(texts.currentNode)
        const tops = new Set([...words.getClientRects()].filter(q => q.width > 2).map(q => Math.round(q.top)))
        for (let i = 0; i < tops.size; i++) lines.add(i)
      }
      if (lines.size > 2) faults.add(`${told(e)} is squeezed into ${lines.size} lines`)
    }
  }

  // In a wide window a call's heading is one line, which cuts off long names only.
  if (width >= 1440) for (const head of document.querySelectorAll("#call .head")) {
    if (!head.checkVisibility()) continue
    if (head.offsetHeight > 48) faults.add(`${told(head)} is ${head.offsetHeight} px high`)
    const name = head.querySelector(".named > *")
    if (name.scrollWidth > name.clientWidth + 1 && name.textContent.trim().length < 24) faults.add(`${told(name)} is cut short`)
    const cut = [...head.querySelectorAll(".named > *")].filter(e => e.scrollWidth > e.clientWidth + 1 && e.offsetTop < name.offsetTop + name.offsetHeight)
    if (cut.length > 1) faults.add(`${cut.map(told).join(" and ")} are both cut short`)
  }
  const strip = document.querySelector("#calls:not(:has(li))")
  if (width < 900 && strip?.offsetHeight > 16) faults.add(`a strip of ${strip.offsetHeight} px without calls stands above the rest`)

  // Words over other words.
  const leaves = []
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walk.nextNode() && leaves.length < 1500) {
    const e = walk.currentNode.parentElement
    if (!walk.currentNode.data.trim() || !e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || e.closest(".sr, .skip, .logo span, svg, .paint, option, textarea, .lasted")) continue
    const { r } = sight(e)
    if (r.right - r.left < 1 || r.bottom - r.top < 1) continue
    const range = document.createRange(); range.selectNodeContents(walk.currentNode)
    let layer = e
    while (layer && !/fixed|sticky/.test(style(layer).position) && !(style(layer).position === "absolute" && style(layer).zIndex !== "auto")) layer = layer.parentElement
    for (const q of range.getClientRects()) {
      const box = { left: Math.max(q.left, r.left), right: Math.min(q.right, r.right), top: Math.max(q.top, r.top) + 2, bottom: Math.min(q.bottom, r.bottom) - 2 }
      if (box.right - box.left > 1 && box.bottom - box.top > 1) leaves.push({ e, layer, ...box })
    }
  }
  leaves.sort((a, b) => a.top - b.top)
  for (let i = 0; i < leaves.length; i++) {
    for (let j = i + 1; j < leaves.length && leaves[j].top < leaves[i].bottom; j++) {
      const a = leaves[i], b = leaves[j]
      if (a.layer !== b.layer || a.e === b.e) continue
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3) faults.add(`${told(a.e)} overlaps ${told(b.e)}`)
    }
  }
  return [...faults]
}
