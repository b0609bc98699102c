var __defProp = Object.defineProperty;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __esm = (fn, res, err) => function __init() {
  if (err) throw err[0];
  try {
    return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;
  } catch (e) {
    throw err = [e], e;
  }
};
var __export = (target, all2) => {
  for (var name in all2)
    __defProp(target, name, { get: all2[name], enumerable: true });
};

// dom.js
function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
  }
}
function remembered(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}
function pulse(e) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const outlineOffset = "-2px";
  e.animate([{ outline: "2px solid var(--accent)", outlineOffset, easing: "ease-out" }, { outline: "2px solid transparent", outlineOffset }], 1200);
}
function focusField(control) {
  const group2 = control?.matches("[role=radiogroup], [role=group]");
  const to = group2 ? one("input:checked", control) ?? one("input", control) : control;
  to?.focus();
}
function focusFirst(root, otherwise) {
  const first2 = all(".field :is(input, textarea, select):not(.data, .toggle *)", root).find((e) => e.checkVisibility());
  focusField(near(first2, "[role=radiogroup], [role=group]") ?? first2 ?? otherwise);
}
var $, one, all, near, on, bare, grouped;
var init_dom = __esm({
  "dom.js"() {
    $ = (id) => document.getElementById(id);
    one = (match, root = document) => root?.querySelector(match) ?? null;
    all = (match, root = document) => [...root?.querySelectorAll(match) ?? []];
    near = (t, match) => t instanceof Element ? t.closest(match) : null;
    on = (type, fn, options) => document.addEventListener(type, fn, options);
    bare = (e) => !(e.ctrlKey || e.metaKey || e.altKey);
    grouped = (n) => n.toLocaleString("en").replaceAll(",", " ");
  }
});

// ask.js
async function ask(url, init) {
  try {
    const response = await fetch(url, init), { ok, status: status2, headers } = response, text = await response.text();
    if (!ok && status2 !== 422) notice(`${text || response.statusText} (${status2})`);
    return { ok, status: status2, headers, text };
  } catch (e) {
    if (!(e instanceof DOMException && e.name === "AbortError")) notice("The inspector did not answer. It may have been stopped.");
    return { ok: false, status: 0, headers: new Headers(), text: "" };
  }
}
async function drawn(url, signal) {
  const { ok, text, headers } = await ask(url, { signal });
  return ok ? { html: text, headers } : null;
}
function openLine(socket2) {
  const waiting = /* @__PURE__ */ new Map();
  line = { socket: socket2, waiting };
  socket2.addEventListener("close", () => {
    for (const take4 of waiting.values()) take4({ status: 0 });
  });
  return (answer2) => {
    waiting.get(answer2.answer)?.(answer2);
    waiting.delete(answer2.answer);
  };
}
async function postForm(path2, form) {
  const body = String(form), { socket: socket2, waiting } = line ?? {};
  if (socket2?.readyState !== WebSocket.OPEN || body.length > 6e4) return post(path2, form, { headers: { Accept: "text/html" } });
  const id = ++sent, answered3 = new Promise((take4) => waiting?.set(id, take4));
  socket2.send(JSON.stringify({ id, path: path2, body }));
  const { status: status2, type = "", text = "" } = await answered3, ok = status2 >= 200 && status2 < 300;
  if (!status2) notice("The inspector did not answer. It may have been stopped.");
  else if (!ok && status2 !== 422) notice(`${text} (${status2})`);
  return { ok, status: status2, headers: new Headers({ "Content-Type": type }), text };
}
function notice(text, seconds = 12) {
  clearTimeout(clearing);
  if (!seconds) standing = text;
  $("notice").textContent = text || standing;
  if (text && seconds) clearing = setTimeout(notice, 1e3 * seconds, "");
}
function announce(text) {
  if (words.push(text) === 1) setTimeout(() => {
    const to = $("announce"), all2 = words.join(" ");
    words = [];
    to.textContent = to.textContent === all2 ? all2 + " " : all2;
  });
}
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
  }
  const area = document.createElement("textarea"), back2 = (
    /** @type {any} */
    document.activeElement
  );
  area.value = text;
  area.className = "sr";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  back2?.focus();
  return done;
}
var post, line, sent, clearing, standing, words;
var init_ask = __esm({
  "ask.js"() {
    init_dom();
    post = (url, body, init) => ask(url, { method: "POST", body, ...init });
    sent = 0;
    clearing = 0;
    standing = "";
    words = [];
  }
});

// clock.js
function setTime(base, rate = time.rate) {
  time = { base, since: Date.now(), rate };
  tick();
}
function tick(part) {
  const now = time.base + (Date.now() - time.since) * time.rate, two = (n) => String(n).padStart(2, "0");
  for (const e of all("[data-since]", part)) {
    const s = Math.max(0, Math.floor((now - e.dataset.since) / 1e3)), m = Math.floor(s / 60);
    const text = m < 60 ? `${m}:${two(s % 60)}` : `${Math.floor(m / 60)}:${two(m % 60)}:${two(s % 60)}`;
    if (e.textContent !== text) e.textContent = text;
  }
}
var opened, time;
var init_clock = __esm({
  "clock.js"() {
    init_dom();
    [opened] = /** @type {any[]} */
    performance.getEntriesByType("navigation");
    time = { base: Number(document.documentElement.dataset.now), since: performance.timeOrigin + opened.responseStart, rate: 1 };
    setInterval(tick, 1e3);
    tick();
  }
});

// changes.js
function whenChanged(fn) {
  after.push(fn);
  fn();
}
function settle() {
  settling ||= setTimeout(() => {
    settling = 0;
    for (const fn of after) fn();
  });
}
function push(changes) {
  if (asking) {
    held.push(changes);
    return pushed();
  }
  for (const change of changes) apply(change);
  settle();
}
async function drawInTurn(answer2, draw5) {
  asking++;
  try {
    return draw5(await answer2);
  } finally {
    if (!--asking) held.splice(0).forEach(push);
    settle();
  }
}
function fetched(url, draw5, signal) {
  const late = AbortSignal.timeout(2e4);
  return drawInTurn(drawn(url, signal ? AbortSignal.any([signal, late]) : late), (answer2) => answer2 ? draw5(answer2) : void 0);
}
function apply({ id, html, op, at }) {
  const old = $(id);
  if (!html) return old?.remove();
  const fresh2 = parse(html).firstElementChild;
  if (old) update(old, fresh2);
  else if (op && at && fresh2) $(at)?.[op](fresh2);
}
async function answered(url, body, init) {
  const answer2 = await (init ? post(url, body, { headers: { Accept: "text/html" }, ...init }) : postForm(url, body));
  const elements = answer2.headers.get("Content-Type")?.startsWith("text/html") ? [...parse(answer2.text).children] : [];
  if (elements[0]?.id === "call" && !held.length) await new Promise((done) => setTimeout(pushed = () => done(0), 50));
  return { ...answer2, elements };
}
function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  tick(template.content);
  return template.content;
}
function update(old, fresh2) {
  for (const box2 of all(".several:checked", old)) {
    const again4 = one(`#${one("textarea", near(box2, ".field")).id}`, fresh2);
    if (again4) setLines(one(".several", near(again4, ".field")), true);
  }
  morph(old, fresh2);
  for (const form of [near(old, "form"), ...all("form", old)]) if (form && !typed.has(form)) form.reset();
}
function setLines(box2, many) {
  const old = one("input[placeholder], textarea", near(box2, ".field"));
  box2.checked = many || old.value.includes("\n");
  if (box2.checked !== many) return false;
  if (many === (old.localName === "textarea")) return true;
  const fresh2 = (
    /** @type {any} */
    document.createElement(many ? "textarea" : "input")
  );
  for (const { name, value } of old.attributes) if (name !== "type" && name !== "value") fresh2.setAttribute(name, value);
  fresh2.rows = 4;
  fresh2.defaultValue = old.defaultValue;
  fresh2.value = old.value;
  old.replaceWith(fresh2);
  return true;
}
function morph(old, fresh2) {
  if (old.isEqualNode(fresh2)) return;
  if (!alike(old, fresh2)) return old.replaceWith(fresh2);
  if (old.nodeType === Node.TEXT_NODE) {
    old.data = fresh2.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh2.hasAttribute(name) && !own(old, name)) old.removeAttribute(name);
  for (const { name, value } of fresh2.attributes) if (old.getAttribute(name) !== value && !own(old, name)) old.setAttribute(name, value);
  if (old.matches(".picks, .chosen") || old.matches(".kept") && !fresh2.firstChild || old.matches(".data") && typed.has(near(old, "form"))) return;
  const come = new Set([...fresh2.childNodes].map(key));
  const there = new Map([...old.childNodes].map((n) => [key(n), n]));
  let next = old.firstChild;
  const skip = () => {
    next = next.nextSibling;
  };
  for (const child of [...fresh2.childNodes]) {
    while (next && key(next) && !come.has(key(next))) {
      const gone = next;
      skip();
      gone.remove();
    }
    const k = key(child), twin = k ? there.get(k) : next && alike(next, child) ? next : null;
    there.delete(k);
    if (!twin) old.insertBefore(child, next);
    else {
      if (twin === next) skip();
      else (old.moveBefore ?? old.insertBefore).call(old, twin, next);
      morph(twin, child);
    }
  }
  while (next) {
    const gone = next;
    skip();
    gone.remove();
  }
}
var typed, after, settling, asking, held, pushed, redraw, send, key, alike, own;
var init_changes = __esm({
  "changes.js"() {
    init_ask();
    init_clock();
    init_dom();
    typed = /* @__PURE__ */ new WeakSet();
    after = [];
    settling = 0;
    asking = 0;
    held = [];
    pushed = () => {
    };
    redraw = () => fetched("/" + location.search, ({ html }) => {
      const page2 = new DOMParser().parseFromString(html, "text/html");
      tick(page2);
      for (const part of all("[data-live]", page2)) update($(part.id), part);
      document.dispatchEvent(new Event("redrawn"));
      return Number(page2.documentElement.dataset.seq);
    });
    send = (url, body, init) => drawInTurn(answered(url, body, init), (answer2) => {
      for (const fresh2 of answer2.elements) if ($(fresh2.id)) update($(fresh2.id), fresh2);
      return answer2;
    });
    key = (n) => n.id || n.dataset?.item || n.getAttribute?.("name") && `${n.getAttribute("name")}=${n.getAttribute("value")}${n.dataset.force ?? ""}` || "";
    alike = (a, b) => a.nodeName === b.nodeName && key(a) === key(b);
    own = (e, name) => /^(style|open|aria-busy|aria-current)$/.test(name) || e.role === "tabpanel" && name === "hidden" || e.matches("[role=tab]:not([data-to])") && /^(aria-selected|tabindex)$/.test(name) || e.matches(".items") && name === "class" || e.matches(".remembered, .none") && name === "hidden" || e.matches("#search") && name === "placeholder" || e.matches(".item") && name === "tabindex" || e.matches("[data-source], #earlier") && name === "aria-expanded" || e.matches(".picks, .picker > input") && /^(hidden|aria-(expanded|activedescendant))$/.test(name);
  }
});

// address.js
function toAddress(values2, step) {
  const query = new URLSearchParams(location.search);
  query.delete("token");
  for (const [name, value] of Object.entries(values2)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const search = query.size ? "?" + query : "";
  if (search !== location.search) history[step ? "pushState" : "replaceState"](null, "", "/" + search);
}
function middleOf(query) {
  const all2 = new URLSearchParams(query);
  return Object.fromEntries(parts.map((name) => [name, all2.get(name) ?? ""]));
}
function showing() {
  toAddress(middleOf(one("#call > [data-address]")?.dataset.address ?? ""), true);
  mark();
}
async function show(query) {
  fetching?.abort();
  fetching = new AbortController();
  return !!await fetched("/middle" + query, ({ html }) => {
    update($("call"), parse(html).firstElementChild);
    return true;
  }, fetching.signal);
}
function mark() {
  const { call: call3, server, kind, key: key2 } = one("#call > [data-key]")?.dataset ?? {};
  for (const e of all(".item, .call-tab")) {
    const d = e.dataset, on2 = d.showCall ? d.showCall === call3 : d.server === server && d.kind === kind && d.key === key2;
    e.ariaCurrent = on2 ? "true" : null;
  }
}
var inAddress, parts, fetching, drawnOf, offered;
var init_address = __esm({
  "address.js"() {
    init_changes();
    init_dom();
    inAddress = (name) => new URLSearchParams(location.search).get(name) ?? "";
    if (inAddress("token")) toAddress({});
    parts = ["call", "question", "tool", "prompt", "resource", "template", "server", "kind", "key", "args"];
    addEventListener("popstate", () => {
      if (Object.values(middleOf(location.search)).some(Boolean)) show(location.search);
    });
    drawnOf = "";
    offered = "";
    whenChanged(() => {
      mark();
      const offers = all(".server, #catalog .items, #catalog .note, #questions > article").map((e) => e.className + (e.dataset.version ?? e.textContent.length)).join();
      if (offered && offers !== offered && one("#call > [data-awaits]")) show(location.search);
      offered = offers;
      const { server, call: call3 } = one("#call > [data-key]")?.dataset ?? {};
      const now = server ? `${server} ${!!one(`#server-${server}.ready`)}` : "", before2 = drawnOf;
      drawnOf = now;
      if (now === before2 || !before2.startsWith(server + " ")) return;
      show(call3 ? "?call=" + call3 : location.search);
    });
  }
});

// panes.js
function showPane(name) {
  document.body.dataset.pane = name;
  for (const a of all(".panes a")) a.ariaCurrent = a.dataset.pane === name ? "true" : null;
  fold(name, false);
}
function fold(name, on2) {
  const button3 = $("fold-" + name);
  if (!button3) return;
  document.body.classList.toggle("no-" + name, on2);
  button3.ariaExpanded = String(!on2);
  remember("no-" + name, on2 ? "1" : "");
}
function choose(tab) {
  if (tab.dataset.to) return;
  for (const other of all("[role=tab]", tab.parentElement)) {
    other.ariaSelected = other === tab;
    other.tabIndex = other === tab ? 0 : -1;
    $(other.getAttribute("aria-controls")).hidden = other !== tab;
  }
  tab.dispatchEvent(new Event("chosen", { bubbles: true }));
}
var init_panes = __esm({
  "panes.js"() {
    init_dom();
    on("click", (e) => {
      const link = near(e.target, ".panes a");
      if (!link) return;
      e.preventDefault();
      showPane(link.dataset.pane);
    });
    for (const name of ["side", "wire"]) {
      fold(name, !!remembered("no-" + name));
      $("fold-" + name).addEventListener("click", () => fold(name, !document.body.classList.contains("no-" + name)));
    }
    for (const bar2 of all("[role=separator]")) {
      const upright = bar2.ariaOrientation === "vertical", { size: name, least, rest } = bar2.dataset;
      const pane3 = $(bar2.getAttribute("aria-controls")), box2 = bar2.parentElement;
      const after2 = pane3.compareDocumentPosition(bar2) === Node.DOCUMENT_POSITION_PRECEDING;
      const size = () => pane3.getBoundingClientRect()[upright ? "width" : "height"];
      const set = (px) => {
        const room = upright ? box2.clientWidth : box2.clientHeight;
        if (upright && px && px < least / 2) return fold(pane3.dataset.pane, true);
        px = px && Math.round(Math.max(Number(least), Math.min(px, room - rest)));
        box2.style.setProperty(name, px ? px + "px" : "");
        bar2.ariaValueNow = Math.round(100 * size() / room);
        remember(name, px ? String(px) : "");
      };
      bar2.addEventListener("pointerdown", (e) => {
        bar2.setPointerCapture(e.pointerId);
        bar2.classList.add("moving");
        e.preventDefault();
      });
      bar2.addEventListener("pointermove", (e) => {
        if (!bar2.hasPointerCapture(e.pointerId)) return;
        const { left: left3, right, bottom } = pane3.getBoundingClientRect();
        set(!upright ? bottom - e.clientY : after2 ? right - e.clientX : e.clientX - left3);
      });
      bar2.addEventListener("lostpointercapture", () => bar2.classList.remove("moving"));
      bar2.addEventListener("dblclick", () => set(0));
      bar2.addEventListener("keydown", (e) => {
        const step = { ArrowLeft: 24, ArrowUp: 24, ArrowRight: -24, ArrowDown: -24, Home: 9999, End: -9999 }[e.key];
        if (e.key === "Enter" && upright) fold(pane3.dataset.pane, true);
        else if (step) set(Math.max(Number(least), size() + (after2 ? step : -step)));
        else return;
        e.preventDefault();
      });
      set(Number(remembered(name)));
    }
    on("click", (e) => {
      const tab = near(e.target, "[role=tab]");
      if (tab) choose(tab);
    });
    on("keydown", (e) => {
      const tab = near(e.target, "[role=tab]"), one2 = tab ?? near(e.target, "[role=menuitem]");
      if (!one2 || !bare(e)) return;
      const row = all(`[role=${one2.role}]`, one2.parentElement), at = row.indexOf(one2);
      const to = { [tab ? "ArrowLeft" : "ArrowUp"]: at - 1, [tab ? "ArrowRight" : "ArrowDown"]: at + 1, Home: 0, End: -1 }[
        /** @type {string} */
        e.key
      ];
      if (to === void 0) return;
      e.preventDefault();
      const next = row.at(to % row.length);
      next.focus();
      if (tab) next.click();
    });
  }
});

// latest.js
function sight() {
  const { top: top2, bottom } = pane.getBoundingClientRect();
  return { top: Math.max(top2, $("calls").getBoundingClientRect().bottom), bottom };
}
function bring(e) {
  const { top: top2, bottom } = sight(), r = e.getBoundingClientRect();
  if (r.top >= top2 && r.bottom <= bottom) return;
  const head = one(".head", near(e, ".called"))?.getBoundingClientRect().top ?? r.top;
  const first2 = (r.bottom - head <= bottom - top2 - margin ? head : r.top) - top2 - margin;
  pane.scrollTop += r.top < top2 ? first2 : Math.min(r.bottom - bottom + margin, first2);
}
function latest() {
  const n = one("#call > [data-call]")?.dataset.call, mine = `#questions > [data-call="${n}"]`;
  return n ? one(mine + "[data-state=pending]") ?? $(`call-${n}-paused`) ?? one(mine + ".awaits") ?? one(`#result-${n}:has(*)`) : null;
}
function left() {
  const e = scrolled && ($(last) ?? one("#call > *"));
  if (!e) return false;
  const { top: top2, bottom } = sight(), r = e.getBoundingClientRect();
  return r.bottom < top2 || r.top > bottom;
}
function look() {
  const e = latest(), id = e?.id ?? "";
  if (id !== last) {
    kept = !left() && (!typed2 || typed2 !== document.activeElement);
    last = id;
  }
  if (e && kept) bring(e);
}
function lookAt(e) {
  last = latest()?.id ?? "";
  kept = false;
  bring(e);
}
var pane, margin, last, kept, scrolled, typed2, inPane;
var init_latest = __esm({
  "latest.js"() {
    init_changes();
    init_dom();
    pane = $("work");
    margin = 10;
    last = "";
    kept = false;
    scrolled = false;
    typed2 = null;
    inPane = (e) => near(e.target, "#work");
    for (const type of ["wheel", "touchmove", "pointerdown", "keydown"]) on(type, (e) => {
      if (!inPane(e)) return;
      kept = false;
      scrolled ||= type === "wheel" || type === "touchmove" || e.target === pane || /^(Page|Home|End|Arrow)/.test(e.key) && !e.target.matches("input, textarea, select");
    }, { passive: true });
    on("input", (e) => {
      if (inPane(e)) typed2 = e.target;
    });
    for (const type of ["click", "submit"]) on(type, (e) => {
      if (!near(e.target, "#work form, #work button, .item") || near(e.target, "[data-frame]")) return;
      scrolled = false;
      if (type === "submit") typed2 = null;
    }, true);
    whenChanged(look);
    new ResizeObserver(look).observe(pane);
  }
});

// detail.js
async function openFrame(n, { focus: focus2 = false, against = 0 } = {}) {
  keepNote();
  fetching2?.abort();
  const control = fetching2 = new AbortController();
  against ||= first !== n ? first : 0;
  const answer2 = await drawn(`/wire/frames/${n}` + (against ? "?against=" + against : ""), control.signal);
  if (!answer2 || control.signal.aborted) return;
  if (against) compareWith(0);
  detail.replaceChildren(parse(answer2.html));
  seq = Number(one(".detail-head", detail).dataset.seq);
  toAddress({ frame: String(seq) });
  if (against) choose($("detail-tab-compare"));
  else if ($(face)) choose($(face));
  if (detail.hidden) {
    detail.hidden = splitter.hidden = false;
    detail.dispatchEvent(new Event("resized"));
  }
  if (focus2) one("[role=tab][aria-selected=true]", detail)?.focus();
}
function closeFrame() {
  keepNote();
  fetching2?.abort();
  seq = 0;
  toAddress({ frame: "" });
  detail.hidden = splitter.hidden = true;
  detail.replaceChildren();
  detail.dispatchEvent(new Event("resized"));
  detail.dispatchEvent(new Event("closed"));
  $("grid").focus({ preventScroll: true });
}
function steps(node) {
  const { name, index } = node.dataset, up = parent(node);
  if (!up) return [];
  return [...steps(up), index === void 0 ? name : Number(index)];
}
function select(node) {
  const tree = near(node, ".tree");
  for (const old of all("[tabindex='0'], [aria-selected=true]", tree)) {
    old.tabIndex = -1;
    old.ariaSelected = null;
  }
  node.tabIndex = 0;
  node.ariaSelected = "true";
  node.focus({ preventScroll: true });
  one(".line", node).scrollIntoView({ block: "nearest" });
}
async function toggle(node, open5 = node.ariaExpanded === "false") {
  if (open5 && !group(node).childElementCount) await load(node, 0);
  node.ariaExpanded = String(open5);
}
async function load(node, from) {
  const query = new URLSearchParams({ at: pointer(steps(node)), from: String(from), level: node.ariaLevel });
  const answer2 = await drawn(`/wire/frames/${frameOf(node)}/nodes?` + query);
  if (!answer2 || !node.isConnected) return;
  one(":scope > .more", group(node))?.remove();
  group(node).append(parse(answer2.html));
}
async function showMore(button3) {
  const { more, string, raw } = button3.dataset;
  if (button3.ariaBusy) return;
  button3.ariaBusy = "true";
  if (more) {
    const node = near(button3, ".node"), last3 = button3.previousElementSibling;
    await load(node, Number(more));
    const next2 = last3?.nextElementSibling;
    if (next2?.matches(".node")) select(next2);
    return;
  }
  const query = new URLSearchParams({ from: string ?? raw });
  if (string) query.set("at", pointer(steps(near(button3, ".node"))));
  const answer2 = await drawn(`/wire/frames/${frameOf(button3)}/${string ? "string" : "more"}?` + query);
  button3.ariaBusy = null;
  if (!answer2 || !button3.isConnected) return;
  const fresh2 = parse(answer2.html), next = one("button.more", fresh2);
  if (button3.nextElementSibling?.matches(".left")) button3.nextElementSibling.remove();
  button3.replaceWith(fresh2);
  next?.focus({ preventScroll: true });
}
async function reveal(to) {
  if (!$("detail-tab-pretty")) return;
  choose($("detail-tab-pretty"));
  let node = one("#detail-pretty .tree > .node");
  for (const step of to.split("/").slice(1).map((s) => s.replaceAll("~1", "/").replaceAll("~0", "~"))) {
    if (!node.ariaExpanded) break;
    await toggle(node, true);
    const child = () => [...group(node).children].find((e) => e.dataset.name === step || e.dataset.index === step);
    while (!child() && one(":scope > .more", group(node))) await showMore(one(":scope > .more", group(node)));
    if (!child()) break;
    node = child();
  }
  select(node);
  one(".line", node).scrollIntoView({ block: "center" });
}
function last2(node) {
  const inside = node.ariaExpanded === "true" && all(":scope > .node", group(node)).at(-1);
  return inside ? last2(inside) : node;
}
function leaveMenu() {
  $("copy-menu").hidePopover();
  $("copy").focus();
}
async function copy(what) {
  leaveMenu();
  if (what === "link") return put(location.origin + "/?" + new URLSearchParams({ ...inAddress("filter") && { filter: inAddress("filter") }, frame: String(seq) }), "The link");
  if (what === "path") {
    const chosen = one("#detail-pretty [aria-selected=true]", detail), way = path(chosen ? steps(chosen) : []);
    return put(way, way);
  }
  const answer2 = await drawn(`/wire/frames/${seq}/copy/${what}`);
  if (answer2) put(answer2.html, { raw: "The frame", pretty: "The frame", line: "The line", curl: "The command", "curl?secrets=1": "The command, with its secrets," }[what] ?? "It");
}
async function put(text, words2) {
  if (!await copied(text)) return notice("The browser does not let this page copy.", 5);
  notice("");
  say(words2 + " is copied.");
}
function say(text) {
  announce(text);
  const button3 = $("copy");
  if (!button3) return;
  clearTimeout(saying);
  button3.textContent = "Copied";
  saying = setTimeout(() => {
    button3.textContent = "Copy";
  }, 1500);
}
function mark2() {
  const form = one("#noting", detail);
  if (!form) return;
  const body = new URLSearchParams(
    /** @type {any} */
    new FormData(form)
  );
  if ($("pin").ariaPressed === "true") body.set("pinned", "1");
  const text = body.get("note")?.trim() ?? "", noted = $("noted");
  noted.textContent = text;
  noted.hidden = !text;
  $("note-text").defaultValue = $("note-text").value;
  post(`/wire/frames/${seq}/mark`, body);
}
function pin(button3) {
  button3.ariaPressed = String(button3.ariaPressed !== "true");
  announce(button3.ariaPressed === "true" ? "Pinned." : "No longer pinned.");
  mark2();
}
function keepNote() {
  const text = $("note-text");
  if (seq && text && text.value !== text.defaultValue) mark2();
}
function compareWith(n) {
  first = n;
  compareBar.hidden = !n;
  one("span", compareBar).textContent = `Choose the frame to compare #${n} with.`;
  if (!n) return;
  announce(one("span", compareBar).textContent);
  $("grid").focus({ preventScroll: true });
}
var detail, splitter, compareBar, seq, face, first, fetching2, frameOnShow, comparing, group, parent, frameOf, pointer, path, saying;
var init_detail = __esm({
  "detail.js"() {
    init_address();
    init_ask();
    init_changes();
    init_dom();
    init_panes();
    detail = $("detail");
    splitter = $("split-detail");
    compareBar = $("comparing");
    seq = 0;
    face = "";
    first = 0;
    frameOnShow = () => seq;
    comparing = () => !!first;
    detail.addEventListener("chosen", (e) => {
      if (e.target.matches(":focus, :active")) face = e.target.id;
    });
    detail.addEventListener("keydown", (e) => {
      if (e.key !== "Escape" || e.defaultPrevented || near(e.target, "[role=menu]")) return;
      e.preventDefault();
      closeFrame();
    });
    detail.addEventListener("click", (e) => {
      const is = (match) => near(e.target, match);
      const against = is("[data-against]"), show4 = is("[data-show]"), fold2 = is(".line"), more = is("button.more");
      if (is("#detail-close")) closeFrame();
      else if (is("#pin")) pin(is("#pin"));
      else if (is("[data-copy-as]")) copy(is("[data-copy-as]").dataset.copyAs);
      else if (is("#compare-with")) compareWith(seq);
      else if (against) openFrame(seq, { against: Number(against.dataset.against) });
      else if (show4) reveal(show4.dataset.show);
      else if (more) showMore(more);
      else if (fold2) {
        const node = near(fold2, ".node"), { left: left3 } = fold2.getBoundingClientRect();
        select(node);
        if (node.ariaExpanded && !fold2.matches(".end") && /** @type {MouseEvent} */
        e.clientX < left3 + 16) toggle(node);
      }
    });
    detail.addEventListener("dblclick", (e) => {
      const line2 = near(e.target, ".line:not(.end)"), node = near(line2, ".node");
      if (!node?.ariaExpanded) return;
      getSelection()?.empty();
      toggle(node);
    });
    group = (node) => one(":scope > [role=group]", node);
    parent = (node) => near(node.parentElement, ".node");
    frameOf = (e) => near(e, "[data-of]")?.dataset.of ?? seq;
    pointer = (steps2) => steps2.map((s) => "/" + String(s).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
    path = (steps2) => "$" + steps2.map((s) => typeof s === "number" ? `[${s}]` : /^[\p{L}_][\p{L}\p{N}_]*$/u.test(s) ? "." + s : `['${JSON.stringify(s).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}']`).join("");
    detail.addEventListener("keydown", (e) => {
      const node = (
        /** @type {any} */
        e.target
      );
      if (!node.matches(".node") || !bare(e)) return;
      const folds = !!node.ariaExpanded, open5 = node.ariaExpanded === "true", up = parent(node);
      const sibling = (n, which) => n[which]?.matches(".node") ? n[which] : null;
      const after2 = (n) => n && (sibling(n, "nextElementSibling") ?? after2(parent(n)));
      const before2 = sibling(node, "previousElementSibling");
      const inside = open5 ? one(":scope > .node", group(node)) : null;
      const root = near(node, ".tree").firstElementChild;
      let to = node;
      if (e.key === "ArrowDown") to = inside ?? after2(node);
      else if (e.key === "ArrowUp") to = before2 ? last2(before2) : up;
      else if (e.key === "ArrowRight" && folds && !open5) toggle(node, true);
      else if (e.key === "ArrowRight") to = inside;
      else if (e.key === "ArrowLeft" && open5) toggle(node, false);
      else if (e.key === "ArrowLeft") to = up;
      else if (e.key === "Home") to = root;
      else if (e.key === "End") to = last2(root);
      else if ((e.key === "Enter" || e.key === " ") && folds) toggle(node);
      else if ((e.key === "Enter" || e.key === " ") && one(":scope > .line > .more", node)) showMore(one(":scope > .line > .more", node));
      else return;
      e.preventDefault();
      if (to && to !== node) select(to);
    });
    detail.addEventListener("keydown", (e) => {
      if (!near(e.target, "[role=menuitem]") || e.key !== "Tab") return;
      e.preventDefault();
      leaveMenu();
    });
    saying = 0;
    detail.addEventListener("change", (e) => {
      if (near(e.target, "#noting")) mark2();
    });
    detail.addEventListener("submit", (e) => e.preventDefault());
    addEventListener("pagehide", keepNote);
    on("visibilitychange", keepNote);
    one("button", compareBar).addEventListener("click", () => {
      compareWith(0);
      $("grid").focus({ preventScroll: true });
    });
  }
});

// wire.js
function measure() {
  rowHeight = one(".names", grid).offsetHeight || 24;
  measured = grid.clientHeight;
  height = Math.max(0, measured - rowHeight);
  const full = total * rowHeight;
  $("spacer").style.height = Math.min(full, tallest) + rowHeight + "px";
  scale = full > tallest ? (full - height) / (tallest - height) : 1;
}
function moveTo(to) {
  top = Math.max(0, Math.min(lowest(), to));
  if (Math.abs(grid.scrollTop - top / scale) >= 1) grid.scrollTop = top / scale;
  bar = grid.scrollTop;
  paintSoon();
}
function follow(on2) {
  if (on2 !== following) {
    following = on2;
    interrupted = false;
    left2 = frames;
    fresh = 0;
    $("follow").ariaPressed = String(on2);
  }
  if (!filter) fresh = frames - Math.max(left2, since);
  newer.hidden = following || fresh <= 0;
  if (!newer.hidden) newer.textContent = `${grouped(fresh)} new ↓`;
}
function toEnd() {
  follow(true);
  moveTo(lowest());
}
function grown(n, kept2) {
  if (kept2) $("kept").textContent = kept2;
  if (n === frames) return;
  if (n < frames) {
    for (const i of rows.keys()) stale.add(i);
    judged = asked = Math.min(judged, n - 1);
    left2 = Math.min(left2, n);
  }
  frames = n;
  $("frames").textContent = grouped(n);
  if (filter) fetchRows();
  else resize(n - since);
}
function resize(n) {
  total = Math.max(0, n);
  grid.ariaRowCount = total;
  grid.style.setProperty("--seq", Math.max(3, String(frames).length) * 0.47 + 0.1 + "rem");
  waitNoMore();
  say2();
  measure();
  follow(following);
  moveTo(following ? lowest() : top);
}
function waitNoMore() {
  for (const [i, row] of rows) if (row.classList.contains("pending")) stale.add(i);
}
function say2() {
  const cleared = since ? " since cleared" : "";
  status.textContent = !filter ? since ? grouped(total) + cleared : "" : `${grouped(total)} match${cleared}` + (judged < asked ? `, searched ${grouped(judged)} of ${grouped(asked)} so far` : "");
  status.classList.toggle("wait", judged < asked);
  $("no-match").hidden = !filter || !number || total > 0 || judged < asked;
}
function pointOut(seq2) {
  pointed = { seq: seq2, until: performance.now() + 2e3 };
  paintSoon();
}
function pulseRow() {
  const row = box.querySelector(`[data-seq="${pointed.seq}"]`);
  if (!row || performance.now() > pointed.until) return;
  pointed.seq = 0;
  pulse(row);
}
function paintSoon() {
  painting ||= requestAnimationFrame(paint);
}
function sight2() {
  const first2 = Math.floor(top / rowHeight);
  return [first2, Math.min(total, first2 + Math.ceil(height / rowHeight) + 1)];
}
function paint() {
  painting = 0;
  const [first2, end] = sight2(), shown2 = [];
  const some = following && box.querySelector("[data-seq]"), now = performance.now();
  let lacks = false;
  for (let i = first2; i < end; i++) lacks ||= !rows.has(i);
  if (!some || !lacks) held2 = 0;
  else if (now - (held2 ||= now) < 500) return fetchRows();
  for (let i = first2; i < end; i++) {
    const row = rows.get(i) ?? blank(i);
    row.style.transform = `translateY(${i * rowHeight - top}px)`;
    row.ariaSelected = String(i === selected);
    shown2.push(row);
  }
  const keep = new Set(shown2);
  for (const e of [...box.children]) if (!keep.has(e)) e.remove();
  shown2.forEach((row, i) => {
    if (box.children[i] !== row) box.insertBefore(row, box.children[i] ?? null);
  });
  const active2 = rows.get(selected);
  if (active2?.isConnected) grid.setAttribute("aria-activedescendant", active2.id);
  else grid.removeAttribute("aria-activedescendant");
  tick();
  pulseRow();
  fetchRows();
}
function blank(i) {
  const row = document.createElement("div");
  Object.assign(row, { className: "row blank", role: "row", ariaRowIndex: String(i + 1), ariaBusy: "true" });
  return row;
}
function forget() {
  asking2?.control.abort();
  asking2 = void 0;
  clearTimeout(again);
}
async function fetchRows() {
  const [first2, end] = sight2(), page2 = end - first2;
  const due = filter && (!number || judged < frames || asked < frames);
  if (asking2 && (filter && !number || asking2.from < end && asking2.end > first2)) return;
  const lacks = (i2) => !rows.has(i2) || stale.has(i2);
  let from = Math.max(0, first2 - page2), to = following && due ? end + page2 : Math.min(total, end + page2);
  while (from < to && !lacks(from)) from++;
  while (to > from && !lacks(to - 1)) to--;
  const later = from >= to || from >= end + page2 / 2 || to <= first2 - page2 / 2;
  if (later && (!due || asking2)) return;
  if (later || filter && !number) to = from = first2;
  asking2?.control.abort();
  clearTimeout(again);
  const control = new AbortController();
  asking2 = { from, end: to, control };
  const query = new URLSearchParams({ from: String(from), count: String(to - from), since: String(since), time: timeMode });
  if (filter) query.set("filter", filter);
  if (anchor) query.set("near", String(anchor.seq));
  if (!following) query.set("after", String(left2));
  const answer2 = await drawn("/wire/rows?" + query, control.signal);
  if (asking2?.control !== control) return;
  asking2 = void 0;
  if (!answer2) return;
  take(answer2.headers);
  let i = from;
  for (const row of [...parse(answer2.html).children]) {
    rows.set(
      i,
      /** @type {HTMLElement} */
      row
    );
    stale.delete(i++);
  }
  if (rows.size > most) {
    for (const i2 of rows.keys()) if (Math.abs(i2 - first2) > most / 3) rows.delete(i2);
  }
  if (selected >= 0 && !selectedSeq && rows.has(selected)) choose2(selected);
  if (i > from) paintSoon();
  if (filter && judged < frames) again = setTimeout(fetchRows, frames - judged > 2e4 ? 0 : 150);
}
function take(headers) {
  const n = (name) => Number(headers.get(name));
  const before2 = number, wasJudging = !number || judged < asked;
  number = headers.get("X-View") ?? "";
  if (!filter) return;
  if (before2 && number !== before2) {
    rows.clear();
    stale.clear();
    anchor ??= selectedSeq ? { seq: selectedSeq, select: true } : void 0;
    selected = -1;
  }
  if (headers.has("X-New") && !following) fresh = n("X-New");
  judged = n("X-Judged");
  asked = n("X-Frames");
  waitNoMore();
  if (asked > frames) grown(asked);
  if (n("X-Total") !== total || !before2) resize(n("X-Total"));
  else {
    follow(following);
    say2();
  }
  settleAnchor(headers);
  if (wasJudging && judged >= asked) announce(status.textContent ?? "");
}
function settleAnchor(headers) {
  if (!anchor || !headers.has("X-Near")) return;
  const { seq: seq2, select: pick, open: open5 } = anchor, found = headers.get("X-Near-Found") === "true", at = Number(headers.get("X-Near"));
  if (!found && filter && judged < seq2) return;
  anchor = void 0;
  if (!following || pick) moveTo(at * rowHeight - height / 3);
  if (pick && found) {
    selected = at;
    selectedSeq = seq2;
    reveal2(at);
  }
  if (!open5 || found) return;
  notice(`Frame ${seq2} is hidden by the filter. It is shown below the log.`, 6);
}
function resized() {
  const at = selected * rowHeight, inSight = selected >= 0 && at >= top && at + rowHeight <= top + height;
  measure();
  if (following) moveTo(lowest());
  else if (inSight) reveal2(selected);
  else moveTo(top);
}
function lookThrough(line2) {
  if (line2 === filter) return;
  const inSight = rows.get(Math.ceil(top / rowHeight))?.dataset.seq;
  const seq2 = selectedSeq || (following ? 0 : Number(inSight));
  filter = line2;
  startOver();
  anchor = seq2 ? { seq: seq2, select: !!selectedSeq } : void 0;
  if (filter) fetchRows();
  else if (anchor) showAt(anchor);
}
function startOver() {
  forget();
  rows.clear();
  stale.clear();
  selected = -1;
  number = "";
  judged = filter ? 0 : frames;
  asked = frames;
  if (!filter) resize(frames - since);
  else say2();
}
function showAt({ seq: seq2, select: pick }) {
  anchor = void 0;
  const i = seq2 - since - 1;
  if (i < 0 || i >= total) return;
  if (!following || pick) moveTo(i * rowHeight - height / 3);
  if (pick) choose2(i);
  paintSoon();
}
function refresh() {
  for (const i of rows.keys()) stale.add(i);
  paintSoon();
}
function showFrom(seq2) {
  since = seq2;
  selectedSeq = 0;
  $("clear").textContent = since ? "Show all" : "Clear view";
  startOver();
  toEnd();
  if (filter) fetchRows();
}
function tell(mode) {
  timeMode = mode;
  $("time-mode").textContent = modes[
    /** @type {keyof modes} */
    mode
  ];
}
function reveal2(i) {
  const at = i * rowHeight;
  moveTo(Math.min(at, Math.max(top, at + rowHeight - height)));
}
function choose2(i) {
  selected = i;
  selectedSeq = filter ? Number(rows.get(i)?.dataset.seq ?? 0) : since + i + 1;
  if (selectedSeq && frameOnShow() && !comparing()) openSoon();
}
function select2(i) {
  if (!total) return;
  anchor = void 0;
  const before2 = following || interrupted;
  choose2(Math.max(0, Math.min(total - 1, i)));
  follow(following && selected === total - 1);
  interrupted = before2 && !following;
  reveal2(selected);
}
function openSelected(focus2) {
  clearTimeout(opening);
  if (selectedSeq) openFrame(selectedSeq, { focus: focus2 });
}
function openSoon() {
  clearTimeout(opening);
  if (selectedSeq !== frameOnShow()) opening = setTimeout(openSelected, 80);
}
function showFrame(seq2) {
  if (!(seq2 >= 1 && seq2 <= frames)) return notice(`There is no frame ${seq2} in the log, which has ${grouped(frames)}.`);
  if (seq2 <= since) showFrom(0);
  const before2 = following || interrupted;
  follow(false);
  interrupted = before2;
  forget();
  selected = -1;
  selectedSeq = seq2;
  anchor = { seq: seq2, select: true, open: true };
  if (filter) {
    asked = frames - 1;
    fetchRows();
  } else showAt(anchor);
  openFrame(seq2);
  grid.focus({ preventScroll: true });
}
var grid, box, newer, status, tallest, most, frames, since, filter, number, judged, asked, total, left2, fresh, following, top, bar, selected, selectedSeq, anchor, rows, stale, measured, rowHeight, height, scale, lowest, settling2, interrupted, pointed, painting, held2, asking2, again, state, modes, timeMode, opening, wanted;
var init_wire = __esm({
  "wire.js"() {
    init_address();
    init_ask();
    init_changes();
    init_clock();
    init_detail();
    init_dom();
    grid = $("grid");
    box = $("rows");
    newer = $("newer");
    status = $("view-status");
    tallest = 8e6;
    most = 1500;
    frames = Number($("frames").dataset.frames);
    since = 0;
    filter = "";
    number = "";
    judged = frames;
    asked = frames;
    total = frames;
    left2 = frames;
    fresh = 0;
    following = true;
    top = 0;
    bar = 0;
    selected = -1;
    selectedSeq = 0;
    rows = /* @__PURE__ */ new Map();
    stale = /* @__PURE__ */ new Set();
    measured = 0;
    rowHeight = 24;
    height = 0;
    scale = 1;
    lowest = () => Math.max(0, total * rowHeight - height);
    settling2 = 0;
    grid.addEventListener("scroll", () => {
      if (grid.clientHeight !== measured) return resized();
      const at = grid.scrollTop, by = at - bar;
      if (Math.abs(by) < 1) return;
      bar = at;
      anchor = void 0;
      const fine = scale > 1 && Math.abs(by) < 2 * height;
      top = Math.max(0, Math.min(lowest(), fine ? top + by : at * scale));
      if (fine) {
        clearTimeout(settling2);
        settling2 = setTimeout(() => moveTo(top), at < 1 || at > tallest - height - 1 ? 0 : 150);
      }
      follow(top >= lowest() - rowHeight / 2);
      paintSoon();
    }, { passive: true });
    interrupted = false;
    $("detail").addEventListener("closed", () => {
      if (interrupted) toEnd();
    });
    newer.addEventListener("click", () => {
      toEnd();
      grid.focus();
    });
    $("follow").addEventListener("click", () => {
      if (following) follow(false);
      else toEnd();
    });
    pointed = { seq: 0, until: 0 };
    painting = 0;
    held2 = 0;
    again = 0;
    new ResizeObserver(resized).observe(grid);
    $("detail").addEventListener("resized", resized);
    state = $("log-state").dataset.state;
    whenChanged(() => {
      const now = $("log-state").dataset.state;
      if (now === state) return;
      state = now;
      asked = Math.min(asked, frames - 1);
      refresh();
    });
    $("clear").addEventListener("click", () => {
      showFrom(since ? 0 : frames);
      announce(since ? "The view is cleared. The log keeps every frame." : "All frames are shown.");
    });
    modes = { day: "time", start: "since start", prev: "since previous" };
    timeMode = remembered("time") in modes ? remembered("time") : "day";
    $("time-mode").addEventListener("click", () => {
      const names = Object.keys(modes);
      tell(names[(names.indexOf(timeMode) + 1) % names.length]);
      remember("time", timeMode);
      forget();
      refresh();
      announce("Times are shown as: " + $("time-mode").textContent);
    });
    tell(timeMode);
    grid.addEventListener("click", (e) => {
      const row = near(e.target, ".window > .row");
      if (!row?.dataset.seq) return;
      select2(row.ariaRowIndex - 1);
      selectedSeq = Number(row.dataset.seq);
      openSelected();
    });
    opening = 0;
    grid.addEventListener("keydown", (e) => {
      if (!bare(e) || e.target !== grid) return;
      const page2 = Math.max(1, Math.floor(height / rowHeight) - 1);
      const at = selected < 0 ? sight2()[1] : selected;
      const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page2, PageUp: at - page2, Home: 0, End: total - 1 }[e.key];
      if (to !== void 0) select2(to);
      if (e.key === "End") toEnd();
      else if (e.key === "Enter" && selected >= 0) openSelected(true);
      else if (e.key === "Escape" && frameOnShow()) closeFrame();
      else if (e.key === "f") $("follow").click();
      else if (e.key === "/") $("filter").select();
      else if (to === void 0) return;
      e.preventDefault();
    });
    resize(total);
    wanted = () => Number(inAddress("frame"));
    addEventListener("popstate", () => {
      if (wanted() && wanted() !== frameOnShow()) showFrame(wanted());
      else if (!wanted() && frameOnShow()) closeFrame();
    });
    if (wanted()) setTimeout(() => showFrame(wanted()));
  }
});

// questions.js
function goOnAfter(n) {
  answered2.add(n);
  look2();
}
function look2() {
  const now = /* @__PURE__ */ new Map();
  for (const card of [...arrange(cards()), ...signIns()]) {
    const { server, outcome } = card.dataset, before2 = known.get(card.id);
    now.set(card.id, outcome);
    if (before2 === outcome) continue;
    if (waits(card)) {
      arrived.set(card.id, performance.now());
      announce(`${server} asks: ${title(card)}`);
      tell2(card);
      pulse(card);
      pointOut(Number(one(".asks [data-frame]", card)?.dataset.frame));
    } else if (before2 && outcome !== "running") announce(`${outcome}: ${title(card)}`);
  }
  known = now;
  count(cards().filter(waits).length, awaited().length, signIns().filter(waits).length);
  for (const n of answered2) if (!$("q" + n) || !waits($("q" + n))) goOn(n);
  welcome();
  fetchMore();
}
async function fetchMore() {
  const panel2 = $("questions");
  if (fetching3 || !panel2.dataset.more) return;
  fetching3 = true;
  await fetched("/questions?have=" + cards().map((c) => c.dataset.number), ({ html, headers }) => {
    fetching3 = false;
    if (headers.get("X-More") !== "true") delete panel2.dataset.more;
    for (const card of [...parse(html).children]) $(card.id) ? update($(card.id), card) : panel2.append(card);
  });
  fetching3 = false;
}
function arrange(all2) {
  const call3 = shown(), panel2 = $("questions"), line2 = $("elsewhere"), fold2 = $("earlier");
  const stage = (c) => waits(c) ? 0 : c.matches(".awaits") ? 1 : 2;
  const sorted = all2.toSorted((a, b) => stage(a) - stage(b) || (stage(a) < 2 ? 1 : -1) * (a.dataset.number - b.dataset.number));
  const others = sorted.filter((c) => call3 && c.dataset.call !== "0" && c.dataset.call !== call3);
  const own2 = sorted.filter((c) => !others.includes(c)), waiting = others.filter((c) => stage(c) < 2), earlier = others.filter((c) => stage(c) === 2);
  line2.hidden = !waiting.length;
  fold2.hidden = !earlier.length;
  fold2.textContent = `Earlier (${earlier.length})`;
  const row = [...own2, line2, ...waiting, fold2, ...earlier];
  row.forEach((e, i) => {
    if (e !== panel2.children[i]) (panel2.moveBefore ?? panel2.insertBefore).call(panel2, e, panel2.children[i] ?? null);
  });
  return row.filter((e) => e.localName === "article");
}
function welcome() {
  for (const [id2, since2] of arrived) if (since2 < performance.now() - 2e3 || !$(id2) || !waits($(id2))) arrived.delete(id2);
  const [id] = arrived.keys();
  if (!id || !free() || left() || !$(id).checkVisibility() || near($(id), ".read-only")) return;
  arrived.clear();
  enter($(id));
}
function free() {
  const at = document.activeElement;
  return !at || at === document.body || !!near(at, "form[aria-busy=true]") || !at.matches("input, textarea, select, [role=grid], [role=separator]") && !near(at, "[data-state=pending], [popover]");
}
function enter(card) {
  focusFirst(card, $(card.id + "-message"));
  bring(card);
}
function nextQuestion() {
  const waiting = [...signIns(), ...cards()].filter(waits);
  if (!waiting.length) return false;
  showPane("work");
  enter(waiting[(waiting.indexOf(near(document.activeElement, "article")) + 1) % waiting.length]);
  return true;
}
function goOn(n) {
  answered2.delete(n);
  if (document.activeElement !== document.body || nextQuestion()) return;
  const row = one(`#q${n} :is(.foot button, summary)`);
  (row?.checkVisibility() ? row : $("earlier")).focus({ preventScroll: true });
}
function count(questions, open5, signIns2) {
  const now = `${questions} ${open5} ${signIns2}`, n = questions + signIns2;
  if (now === counted) return;
  counted = now;
  document.title = (n ? `(${n}) ` : "") + "Elicitation Inspector";
  $("badge").hidden = !n;
  $("waiting").hidden = !n && !open5;
  const asked2 = questions === 1 ? "1 question waiting" : questions ? `${questions} questions waiting` : "";
  const asks = signIns2 === 1 ? "1 sign-in waiting" : signIns2 ? `${signIns2} sign-ins waiting` : "";
  $("waiting").textContent = n ? [asks, asked2].filter(Boolean).join(", ") : open5 === 1 ? "1 URL is open" : `${open5} URLs are open`;
  $("badge").textContent = n;
  $("icon").href = n ? "data:image/svg+xml," + encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#9a5b00"/><text x="16" y="23.5" font-family="system-ui,sans-serif" font-size="21" font-weight="700" text-anchor="middle" fill="#fff">${Math.min(n, 99)}</text></svg>`) : plain;
}
function tell2({ id, dataset }) {
  if (notify.ariaChecked !== "true" || document.hasFocus()) return;
  const note = new Notification(`${dataset.server} asks`, { body: title({ id }), tag: `${location.host} ${id}` });
  note.onclick = () => {
    focus();
    note.close();
    showPane("work");
    if ($(id)) enter($(id));
  };
}
var cards, signIns, waits, awaited, title, answered2, known, arrived, fetching3, shown, plain, counted, notify, linked;
var init_questions = __esm({
  "questions.js"() {
    init_address();
    init_ask();
    init_changes();
    init_dom();
    init_latest();
    init_panes();
    init_wire();
    cards = () => all("#questions > article");
    signIns = () => all("#sign-ins > article");
    waits = (card) => /^(pending|waiting|held)$/.test(card.dataset.state);
    awaited = () => all("#questions > .awaits");
    title = (card) => $(card.id + "-message")?.textContent.slice(0, 300);
    answered2 = /* @__PURE__ */ new Set();
    known = new Map([...cards(), ...signIns()].map((c) => [c.id, c.dataset.outcome]));
    arrived = /* @__PURE__ */ new Map();
    fetching3 = false;
    shown = () => one("#call > [data-key]") && (one("#call > [data-call]")?.dataset.call ?? "0") || "";
    $("earlier").addEventListener("click", () => {
      $("earlier").ariaExpanded = String($("earlier").ariaExpanded === "false");
    });
    on("focusout", () => setTimeout(welcome));
    plain = $("icon").href;
    counted = "";
    $("waiting").addEventListener("click", () => {
      if (nextQuestion()) return;
      const [card] = awaited();
      if (!card) return;
      showPane("work");
      card.scrollIntoView({ block: "nearest" });
      one(".foot button", card)?.focus({ preventScroll: true });
    });
    notify = $("notify");
    notify.hidden = !("Notification" in window);
    notify.ariaChecked = String(!notify.hidden && remembered("notify") === "on" && Notification.permission === "granted");
    notify.addEventListener("click", async () => {
      const on2 = notify.ariaChecked === "false" && await Notification.requestPermission() === "granted";
      if (!on2 && notify.ariaChecked === "false") announce("The browser does not allow notifications here.");
      notify.ariaChecked = String(on2);
      remember("notify", on2 ? "on" : "");
    });
    whenChanged(look2);
    linked = $("q" + inAddress("question"));
    if (linked) {
      if (waits(linked)) enter(linked);
      else one("summary, .message", linked).focus({ preventScroll: true });
      lookAt(linked);
    }
  }
});

// forms.js
function values(form, more) {
  const values2 = new URLSearchParams(
    /** @type {any} */
    new FormData(form)
  );
  for (const [name, value] of Object.entries(more ?? {})) values2.set(name, value);
  return values2;
}
function draftOf(form) {
  const draft = drafts.get(form) ?? { timer: 0, version: 0, saved: 0 };
  drafts.set(form, draft);
  return draft;
}
function changed(form) {
  const draft = draftOf(form);
  draft.version++;
  typed.add(form);
  if (!draft.timer && !draft.sending) draft.timer = setTimeout(save, 60, form);
}
async function save(form) {
  const draft = draftOf(form), { version } = draft;
  draft.timer = 0;
  if (!form.isConnected || form.ariaBusy) return;
  draft.sending = new AbortController();
  const { ok } = await send(address(form, "draft"), values(form), { signal: draft.sending.signal });
  draft.sending = void 0;
  if (ok) draft.saved = version;
  if (version !== draft.version) draft.timer ||= setTimeout(save, 60, form);
}
async function submit(form, url, more) {
  const draft = draftOf(form), body = values(form, more);
  clearTimeout(draft.timer);
  draft.timer = 0;
  draft.sending?.abort();
  draft.saved = draft.version;
  typed.delete(form);
  form.ariaBusy = "true";
  const answer2 = await send(url, body);
  if (answer2.status !== 204) form.ariaBusy = null;
  if (!answer2.ok && answer2.status !== 422) typed.add(form);
  return answer2;
}
function toTrouble(root) {
  const wrong2 = one("[aria-invalid=true]", root), problems = one(".problems", root), n = all(".field.invalid", root).length;
  near(wrong2, "details")?.setAttribute("open", "");
  focusField(wrong2 ?? problems);
  announce([n && (n === 1 ? "1 field needs attention." : `${n} fields need attention.`), problems?.innerText].filter(Boolean).join(" "));
}
async function answer(form, button3) {
  const n = form.dataset.question ?? "", force = button3?.dataset.force && { force: 1 };
  const { ok, status: status2 } = await submit(form, `/questions/${n}/answer`, { action: button3?.value ?? "accept", ...force });
  if (status2 === 422) toTrouble($("q" + n));
  else if (ok || status2 === 409) goOnAfter(n);
}
async function call(form, button3) {
  if (one("#call .running")) return;
  const { ok, status: status2 } = await submit(form, "/calls", button3?.dataset.force && { force: 1 });
  if (status2 === 422) toTrouble($("call"));
  else if (ok) made();
}
async function showMade({ ok, text: call3 }) {
  if (ok && await show("?call=" + call3)) made();
}
function made() {
  toEnd();
  showing();
  if (document.activeElement === document.body) one("#call h2")?.focus({ preventScroll: true });
}
function offset(minutes) {
  const m = Math.abs(minutes), two = (n) => String(Math.floor(n)).padStart(2, "0");
  return minutes ? `${minutes < 0 ? "-" : "+"}${two(m / 60)}:${two(m % 60)}` : "Z";
}
function helper(e) {
  const root = near(e.target, ".helper");
  return { root, when: one("[type=datetime-local]", root), zone: one("select", root), text: one("input[id][name]", near(root, ".field")) };
}
var formOf, address, drafts, back, odd, offsets;
var init_forms = __esm({
  "forms.js"() {
    init_address();
    init_ask();
    init_changes();
    init_dom();
    init_questions();
    init_wire();
    formOf = (t) => near(t, "form.answer, #args-form");
    address = (form, what) => form.dataset.question ? `/questions/${form.dataset.question}/${what}` : "/form/" + what.replace("draft", "preview");
    drafts = /* @__PURE__ */ new WeakMap();
    addEventListener("pagehide", () => {
      for (const form of all("form.answer")) {
        const { version, saved } = draftOf(form);
        if (version !== saved) fetch(address(form, "draft"), { method: "POST", body: values(form), keepalive: true });
      }
    });
    on("input", (e) => {
      const form = formOf(e.target), field = near(e.target, ".field");
      if (!form || near(e.target, ".several")) return;
      if (field) {
        const reset = one(".reset", field);
        if (reset) reset.hidden = false;
        for (const e2 of all("[aria-invalid]", field)) e2.removeAttribute("aria-invalid");
        one(".error", field)?.replaceChildren();
        const count2 = one(".wrong-fields", form), left3 = all(".field:has([aria-invalid=true])", form).length;
        if (count2) count2.textContent = left3 === 1 ? "1 field needs attention" : left3 ? `${left3} fields need attention` : "";
      }
      changed(form);
    });
    on("change", (e) => {
      const box2 = near(e.target, ".several");
      if (box2 && !setLines(box2, box2.checked)) notice("The text has line breaks, which a single line cannot hold.", 4);
    });
    on("submit", (e) => {
      const form = formOf(e.target);
      if (!form) return;
      e.preventDefault();
      if (!form.ariaBusy) (form.dataset.question ? answer : call)(form, e.submitter);
    });
    on("click", async (e) => {
      const form = formOf(e.target);
      if (!form) return;
      const tab = near(e.target, "[role=tab][data-to]"), field = near(near(e.target, ".reset"), ".field");
      if (tab && tab.ariaSelected !== "true") {
        const { status: status2 } = await submit(form, address(form, "tab"), { to: tab.dataset.to });
        if (status2 === 422) toTrouble($(form.id));
        else $(tab.id)?.focus({ preventScroll: true });
      }
      if (field) {
        const { id } = one("[id$='-label']", field);
        await submit(form, address(form, "reset"), { field: field.dataset.field });
        focusField($(id.replace("-label", "")));
      }
    });
    back = null;
    on("keydown", (e) => {
      const form = formOf(e.target);
      if (e.key === "Enter" && form) {
        if (e.repeat) e.preventDefault();
        else if (e.ctrlKey || e.metaKey) {
          e.preventDefault();
          const button3 = one("button.primary:enabled", form);
          if (button3) form.requestSubmit(button3);
        }
      }
      const cancel = one("[value=cancel]", near(e.target, "[data-state=pending]"));
      if (e.key !== "Escape" || e.defaultPrevented || !cancel) return;
      e.preventDefault();
      if (cancel === e.target) return back?.focus();
      back = e.target;
      const hint = $(cancel.getAttribute("aria-describedby"));
      hint.textContent = "Enter cancels the question. Esc goes back.";
      cancel.focus();
      cancel.addEventListener("blur", () => hint.replaceChildren(), { once: true });
    });
    odd = [-9.5, -3.5, -2.5, 3.5, 4.5, 5.5, 5.75, 6.5, 8.75, 9.5, 10.5, 12.75];
    offsets = [...Array.from({ length: 27 }, (_, i) => i - 12), ...odd].sort((a, b) => a - b).map((h) => offset(60 * h));
    on("toggle", (e) => {
      const { root, when, zone, text } = helper(e);
      if (!root?.open) return;
      const [, local, given] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/i.exec(text.value) ?? [];
      const chosen = given?.toUpperCase() ?? offset(-(/* @__PURE__ */ new Date()).getTimezoneOffset());
      zone.replaceChildren(...new Set([...offsets, chosen].map((t) => new Option(t === "Z" ? "Z (UTC)" : t, t, false, t === chosen))));
      if (local) when.value = local;
    }, true);
    on("input", (e) => {
      const { when, zone, text } = helper(e);
      if (when?.value) text.value = (when.value.length === 16 ? when.value + ":00" : when.value) + zone.value;
    }, true);
    if (/Mac|iP/.test(navigator.platform)) whenChanged(() => {
      for (const key2 of all(".keys kbd:first-child")) key2.textContent = "⌘";
    });
  }
});

// picker.js
function reflect(p) {
  const selected2 = [...p.select.selectedOptions];
  if (!p.chosen) p.input.value = p.select.value && selected2[0].text;
  else p.chosen.replaceChildren(...selected2.slice(0, 100).map((o) => {
    const li = make("li", {}), button3 = make("button", { type: "button", textContent: o.text, ariaLabel: "Remove " + o.text });
    button3.onclick = () => {
      toggle2(p, o.value, o.text);
      p.input.focus();
    };
    li.append(button3);
    return li;
  }));
}
function open(p, query) {
  p.query = query;
  p.total = 0;
  p.rows.clear();
  p.active = query.trim() ? 0 : -1;
  p.list.hidden = false;
  p.input.ariaExpanded = "true";
  p.ready = ask2(p, 0, !query.trim() && p.select.value);
}
async function ask2(p, from, around) {
  p.asking?.abort();
  const control = p.asking = new AbortController(), form = near(p.input, "form").dataset;
  const of = form.question ? `/questions/${form.question}/choices?` : "/form/choices?" + new URLSearchParams({ server: form.server, kind: form.kind, key: form.key }) + "&";
  const query = new URLSearchParams({ field: near(p.input, ".field").dataset.field, search: p.query, from: String(from), count: String(page) });
  if (around) query.set("near", around);
  const answer2 = await drawn(of + query, control.signal);
  if (p.asking !== control) return;
  p.asking = void 0;
  if (!answer2) return;
  p.total = Number(answer2.headers.get("X-Total"));
  for (const row of [...parse(answer2.html).children]) p.rows.set(
    /** @type {any} */
    row.ariaPosInSet - 1,
    row
  );
  if (around && answer2.headers.has("X-Near")) p.active = Number(answer2.headers.get("X-Near"));
  if (from || p.list.hidden) draw(p);
  else reveal3(p);
}
function close(p) {
  p.asking?.abort();
  p.asking = void 0;
  p.list.hidden = true;
  p.input.ariaExpanded = "false";
  p.input.removeAttribute("aria-activedescendant");
}
function reveal3(p) {
  draw(p, true);
  const h = height2(), at = Math.max(0, p.active) * h;
  p.list.scrollTop = Math.min(at, Math.max(p.list.scrollTop, at + h - p.list.clientHeight));
  draw(p);
}
function draw(p, moving) {
  const h = height2(), from = Math.max(0, Math.floor(p.list.scrollTop / h) - 2), to = Math.min(p.total, from + 16);
  const room = make("div", { className: "room", role: "presentation" }), chosen = new Set([...p.select.selectedOptions].map((o) => o.value));
  room.style.height = p.total * h + "px";
  for (let i = from; i < to; i++) {
    const option = p.rows.get(i);
    if (!option) {
      if (!p.asking && !moving) p.ready = ask2(p, Math.max(1, i - 2));
      break;
    }
    option.className = i === p.active ? "on" : "";
    option.ariaSelected = String(chosen.has(option.dataset.value));
    option.style.transform = `translateY(${i * h}px)`;
    option.onclick = () => take2(p, i);
    room.append(option);
  }
  p.list.replaceChildren(p.total || p.asking ? room : make("p", { textContent: "No matches" }));
  const active2 = one(".on", room);
  if (active2) p.input.setAttribute("aria-activedescendant", active2.id);
  else p.input.removeAttribute("aria-activedescendant");
}
function take2(p, at) {
  const option = p.rows.get(at);
  if (!option) return;
  p.active = at;
  toggle2(p, option.dataset.value, option.textContent);
  if (p.chosen) draw(p);
  else close(p);
}
function toggle2(p, value, text) {
  const known4 = [...p.select.options].find((o) => o.value === value);
  if (!p.chosen) p.select.value = (known4 ?? p.select.appendChild(new Option(text, value))).value;
  else if (known4) known4.selected = !known4.selected;
  else p.select.append(new Option(text, value, false, true));
  reflect(p);
  p.select.dispatchEvent(new Event("input", { bubbles: true }));
}
var pickers, page, pickerOf, make, height2;
var init_picker = __esm({
  "picker.js"() {
    init_ask();
    init_changes();
    init_dom();
    pickers = /* @__PURE__ */ new WeakMap();
    page = 40;
    pickerOf = (t) => pickers.get(near(t, ".picker > input")?.parentElement);
    whenChanged(() => {
      for (const box2 of all(".picker")) {
        const known4 = pickers.get(box2);
        if (known4?.list.hidden && document.activeElement !== known4.input) reflect(known4);
        if (known4) continue;
        const [input3, list3, select3, chosen = null] = box2.children;
        const p = { input: input3, list: list3, select: select3, chosen, query: "", total: 0, active: -1, rows: /* @__PURE__ */ new Map(), ready: Promise.resolve() };
        pickers.set(box2, p);
        list3.addEventListener("scroll", () => draw(p));
        list3.addEventListener("mousedown", (e) => e.preventDefault());
        reflect(p);
      }
    });
    make = (name, properties) => Object.assign(document.createElement(name), properties);
    height2 = () => parseFloat(getComputedStyle(document.body).getPropertyValue("--option")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
    on("input", (e) => {
      const p = pickerOf(e.target);
      if (p) open(p, p.input.value);
    });
    on("click", (e) => {
      const p = pickerOf(e.target);
      if (p?.list.hidden) open(p, "");
    });
    on("focusout", (e) => {
      const p = pickerOf(e.target);
      if (!p) return;
      close(p);
      if (p.chosen) p.input.value = "";
      else if (!p.input.value && p.select.value) toggle2(p, "", "");
      else reflect(p);
    });
    on("keydown", (e) => {
      const p = pickerOf(e.target);
      if (!p || !bare(e)) return;
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 9, PageUp: -9 }[
        /** @type {string} */
        e.key
      ];
      if (step && p.list.hidden) open(p, p.chosen ? p.input.value : "");
      else if (step) {
        p.ready = p.ready.then(() => {
          p.active = Math.max(0, Math.min(p.total - 1, p.active + step));
          reveal3(p);
        });
      } else if (e.key === "Enter" && !p.list.hidden) p.ready.then(() => p.ready).then(() => take2(p, p.active));
      else if (e.key === "Escape" && !p.list.hidden) {
        close(p);
        reflect(p);
      } else return;
      e.preventDefault();
    }, true);
  }
});

// answers.js
async function accept(n) {
  const { ok, status: status2 } = await post(`/questions/${n}/answer`, new URLSearchParams({ action: "accept" }), { keepalive: true });
  if (ok || status2 === 409) goOnAfter(n);
}
async function copy2(n) {
  if (!await copied($(`q${n}-open`)?.getAttribute("href") ?? $(`q${n}-url`).textContent)) {
    return notice("The browser did not let the URL be copied, so nothing was answered.");
  }
  announce("Copied.");
  accept(n);
}
var init_answers = __esm({
  "answers.js"() {
    init_ask();
    init_dom();
    init_forms();
    init_questions();
    for (const type of ["click", "auxclick"]) on(type, (e) => {
      const link = near(e.target, "[data-open]"), copies = near(e.target, "[data-copy]");
      if (link && e.button < 2) accept(link.dataset.open);
      if (copies && e.button === 0) copy2(copies.dataset.copy);
    });
    on("submit", async (e) => {
      const form = near(e.target, "form.fault");
      if (!form) return;
      e.preventDefault();
      const n = form.dataset.misbehave, answer2 = (
        /** @type {HTMLFormElement} */
        $(`q${n}-form`)
      );
      const { value } = (
        /** @type {any} */
        e.submitter ?? form.elements.fault
      );
      if (answer2.ariaBusy) return;
      const { ok, status: status2 } = await submit(answer2, `/questions/${n}/misbehave`, { ...Object.fromEntries(new FormData(form)), fault: value });
      if (ok || status2 === 409) goOnAfter(n);
    });
  }
});

// outcomes.js
var calls, servers, known2, said;
var init_outcomes = __esm({
  "outcomes.js"() {
    init_ask();
    init_changes();
    init_dom();
    calls = () => all(".call-tab").map((tab) => [tab.dataset.showCall, !tab.matches(".running") && one(".state", tab).textContent]);
    servers = () => all(".server").map((row) => [row.id, row.matches(".failed, .ended, .disconnected") && one(".chip .state", row).textContent]);
    known2 = new Map([...calls(), ...servers()]);
    said = (call3) => one(`#result-${call3} > .result > div`)?.innerText.trim().slice(0, 300) ?? "";
    whenChanged(() => {
      const before2 = known2;
      known2 = new Map([...calls(), ...servers()]);
      for (const [id, ended] of known2) {
        if (!ended || before2.get(id) === ended) continue;
        const row = $(id), name = (row ? one(".chip b", row) : one(`.call-tab[data-show-call="${id}"] bdi`)).textContent;
        announce(row ? `${name} ${ended}. ${one(".reason", row)?.textContent ?? ""}` : `${name}, call ${id}: ${ended}. ${said(id)}`);
      }
    });
  }
});

// controls.js
async function press(button3, body = button3.dataset.body) {
  if (button3.ariaBusy) return;
  button3.ariaBusy = "true";
  pressed = button3;
  const answer2 = await post(button3.dataset.post, new URLSearchParams(body));
  button3.ariaBusy = null;
  if (answer2.ok) announceOf(button3);
  if (button3.dataset.makes) showMade(answer2);
}
function announceOf({ dataset: { said: said3 }, selectedOptions }) {
  if (said3 !== void 0) announce(said3 || selectedOptions[0].text);
}
var pressed;
var init_controls = __esm({
  "controls.js"() {
    init_ask();
    init_changes();
    init_dom();
    init_forms();
    on("focusin", (e) => {
      if (e.target !== pressed) pressed = null;
    });
    whenChanged(() => {
      if (!pressed || pressed.isConnected) return;
      const next = $(pressed.dataset.next) ?? one("#questions [data-state=pending] .message");
      pressed = null;
      if (document.activeElement === document.body) next?.focus({ preventScroll: true });
    });
    on("click", (e) => {
      const button3 = near(e.target, "button[data-post]"), every = near(button3, ".every"), settings = near(e.target, "[data-settings-of]");
      if (every) press(button3, { every: button3.ariaPressed === "true" ? 0 : one(".seconds", every).value });
      else if (button3) press(button3);
      if (settings) {
        const more = $(`server-${settings.dataset.settingsOf}-more`);
        more.showPopover({ source: one(`[popovertarget="${more.id}"]`) });
        one("[name=elicitation]", more)?.focus();
      }
    });
    on("change", async (e) => {
      const { form, name, value, checked, dataset } = e.target, button3 = one("[aria-pressed=true]", near(e.target, ".every"));
      if (button3) press(button3, { every: value });
      if (!dataset.post) return;
      const { ok } = await post(dataset.post, new URLSearchParams({ [name]: checked === false ? "" : value }));
      if (ok) announceOf(e.target);
      else form?.reset();
    });
    on("input", (e) => {
      const form = near(e.target, "form[data-post]");
      if (form) typed.add(form);
    });
    on("submit", async (e) => {
      const form = near(e.target, "form[data-post]");
      if (!form) return;
      e.preventDefault();
      pressed = e.submitter;
      const body = new URLSearchParams(
        /** @type {any} */
        new FormData(form, e.submitter)
      );
      typed.delete(form);
      const { ok } = await send(form.dataset.post, body);
      if (ok) {
        if (form.dataset.closes !== void 0) form.hidePopover();
        return announceOf(form);
      }
      typed.add(form);
      one("[aria-invalid=true]", form)?.focus();
    });
  }
});

// unfold.js
async function fill(e) {
  const { source, into, version } = e.dataset;
  fetched2.set(into, version);
  const answer2 = await drawn(source), old = $(into);
  if (!answer2 || !old || !isOpen(e)) return;
  const fresh2 = old.cloneNode();
  fresh2.append(parse(answer2.html));
  update(old, fresh2);
}
var fetched2, isOpen;
var init_unfold = __esm({
  "unfold.js"() {
    init_ask();
    init_changes();
    init_dom();
    fetched2 = /* @__PURE__ */ new Map();
    isOpen = (e) => e.localName === "details" ? e.open : e.ariaExpanded === "true";
    on("toggle", (e) => {
      if (e.target.dataset?.source && e.target.open) fill(e.target);
    }, true);
    on("click", (e) => {
      const button3 = near(e.target, "button[data-source]");
      if (!button3) return;
      button3.ariaExpanded = String(!isOpen(button3));
      if (isOpen(button3)) fill(button3);
      else $(button3.dataset.into).replaceChildren();
    });
    whenChanged(() => {
      for (const e of all("[data-source]")) if (isOpen(e) && fetched2.get(e.dataset.into) !== e.dataset.version) fill(e);
    });
    on("click", async (e) => {
      const save2 = near(e.target, "a.show-all"), button3 = near(e.target, "[data-text]");
      if (save2) save2.search = location.search;
      if (!button3) return;
      e.preventDefault();
      if (button3.ariaBusy) return;
      button3.ariaBusy = "true";
      const query = new URLSearchParams(location.search);
      query.set("from", button3.dataset.from);
      const answer2 = await drawn(`/texts/${button3.dataset.text}?` + query);
      button3.ariaBusy = null;
      if (!answer2 || !button3.isConnected) return;
      const fresh2 = parse(answer2.html), next = one("button", fresh2), inner = near(button3, ".rest");
      const rest = inner ?? button3.previousElementSibling;
      if (inner) {
        one("a.show-all", rest)?.remove();
        button3.replaceWith(fresh2);
      } else rest.append(fresh2);
      if (!next) announce("All of it is shown.");
      rest.tabIndex = -1;
      (next ?? rest).focus({ preventScroll: true });
    });
  }
});

// revision.js
async function callAgain(button3, call3, target, protocol) {
  if (button3.ariaBusy) return;
  button3.ariaBusy = "true";
  announce("Reconnecting.");
  const made2 = await post(`/calls/${call3}/again`);
  button3.ariaBusy = null;
  if (made2.ok) remember(entry(target), protocol);
  showMade(made2);
}
var entry, applied;
var init_revision = __esm({
  "revision.js"() {
    init_ask();
    init_changes();
    init_dom();
    init_forms();
    entry = (target) => "revision " + target;
    on("click", async (e) => {
      const { again: again4, target, protocol } = near(e.target, "[data-again]")?.dataset ?? {};
      if (again4) callAgain(near(e.target, "button"), again4, target, protocol);
      const line2 = near(near(e.target, "[data-forget]"), ".remembered");
      if (!line2) return;
      remember(entry(line2.dataset.target), "");
      line2.hidden = true;
      one("[name=protocol]", near(line2, "form"))?.focus();
      await post(`/servers/${line2.dataset.server}/remembered`);
      announce("Forgotten.");
    });
    on("submit", (e) => {
      const line2 = one(".remembered", near(e.target, "form.settings"));
      if (line2 && e.target.elements.protocol.value !== remembered(entry(line2.dataset.target))) remember(entry(line2.dataset.target), "");
    });
    applied = /* @__PURE__ */ new Set();
    whenChanged(() => {
      for (const line2 of all(".remembered")) {
        const { server, target, protocol, applies } = line2.dataset;
        line2.hidden = remembered(entry(target)) !== protocol;
        if (line2.hidden || applies === void 0 || applied.has(server)) continue;
        applied.add(server);
        post(`/servers/${server}/remembered`, new URLSearchParams({ protocol }));
        announce(`Connecting with ${protocol}, as remembered.`);
      }
    });
  }
});

// catalog.js
function known3(ul) {
  const { version, total: total2 } = ul.dataset, list3 = lists.get(ul) ?? { search: "", version, total: Number(total2), height: 0 };
  lists.set(ul, list3);
  return list3;
}
function look3(ul) {
  const list3 = known3(ul);
  if (list3.search !== wanted2()) return ask3(ul, list3, 0, most2);
  place(ul, list3);
  const whole = list3.total <= most2, [first2, end] = whole ? [0, list3.total] : sight3(ul, list3);
  const there = new Set(items(ul).map((li) => Number(li.dataset.place)));
  let lacks = list3.version !== ul.dataset.version;
  for (let i = first2; i < end; i++) lacks ||= !there.has(i);
  if (lacks) ask3(ul, list3, Math.max(0, first2 - beyond), whole ? most2 : Math.min(list3.total, end + beyond));
}
function sight3(ul, list3) {
  const box2 = shelf(), above = box2.getBoundingClientRect().top - ul.getBoundingClientRect().top;
  const first2 = Math.min(list3.total, Math.max(0, Math.floor(above / list3.height)));
  return [first2, Math.max(first2, Math.min(list3.total, Math.ceil((above + box2.clientHeight) / list3.height)))];
}
function place(ul, list3) {
  const rows2 = items(ul), long = rows2.length < list3.total;
  ul.classList.toggle("long", long);
  list3.height = long ? rows2[0]?.offsetHeight || 52 : list3.height || 52;
  ul.style.height = long ? list3.total * list3.height + "px" : "";
  for (const li of rows2) li.style.transform = long ? `translateY(${Number(li.dataset.place) * list3.height}px)` : "";
}
async function ask3(ul, list3, from, to) {
  const search = wanted2(), { version } = ul.dataset, now = list3.asking;
  if (now && now.search === search && now.version === version && now.from <= from && now.to >= to) return;
  now?.control.abort();
  const control = new AbortController();
  list3.asking = { from, to, search, version, control };
  const query = new URLSearchParams({ shelf: ul.dataset.shelf, search, from: String(from), count: String(to - from) });
  await fetched(`/servers/${ul.dataset.of}/items?` + query, ({ html, headers }) => {
    if (list3.asking?.control !== control || !ul.isConnected) return;
    list3.asking = void 0;
    Object.assign(list3, { search, version, total: Number(headers.get("X-Total")) });
    put2(
      ul,
      /** @type {any[]} */
      [...parse(html).children]
    );
    look3(ul);
    say3();
    mark();
    rove();
  }, control.signal);
  if (list3.asking?.control === control) list3.asking = void 0;
}
function put2(ul, fresh2) {
  const key2 = (li) => li.dataset.place + " " + li.dataset.item, at = (li) => Number(li.dataset.place);
  const old = new Map(items(ul).map((li) => [key2(li), li]));
  const rows2 = fresh2.map((li) => {
    const twin = old.get(key2(li));
    if (!twin) return li;
    twin.ariaSetSize = li.ariaSetSize;
    if (!twin.isEqualNode(li)) one(".about", twin).replaceWith(one(".about", li));
    return twin;
  });
  const held3 = items(ul).find((li) => li.contains(document.activeElement));
  if (held3 && !rows2.includes(held3)) rows2.splice(rows2.filter((li) => at(li) < at(held3)).length, 0, held3);
  for (const li of items(ul)) if (!rows2.includes(li)) li.remove();
  rows2.forEach((li, i) => {
    if (li !== ul.children[i]) ul.insertBefore(li, ul.children[i] ?? null);
  });
}
function say3() {
  const shown2 = all(".items", shelf()), count2 = shown2.reduce((n, ul) => n + Number(ul.dataset.total), 0);
  const kind = shelf().id.replace("-panel", "");
  $("search").placeholder = count2 === 1 ? `Search 1 ${kind.slice(0, -1)}` : `Search ${grouped(count2)} ${kind}`;
  one(".none", shelf()).hidden = !shown2.length || shown2.some((ul) => known3(ul).search !== wanted2() || known3(ul).total > 0);
}
function lookAtAll() {
  for (const ul of all(".items", shelf())) look3(ul);
  say3();
  rove();
}
function rove() {
  const shown2 = all(".item", shelf()), stop = shown2.find((i) => i === document.activeElement) ?? shown2.find((i) => i.tabIndex === 0 && roved.has(i)) ?? shown2.find((i) => i.ariaCurrent) ?? shown2[0];
  for (const item of shown2) item.tabIndex = item === stop ? 0 : -1;
}
async function toEnd2(top2) {
  shelf().scrollTop = top2;
  lookAtAll();
  const shown2 = () => all(".items", shelf()).map(known3);
  while (shown2().some((list3) => list3.asking)) await new Promise((done) => setTimeout(done, 20));
  all(".item", shelf()).at(top2 ? -1 : 0)?.focus();
}
var lists, beyond, most2, shelf, wanted2, items, roved;
var init_catalog = __esm({
  "catalog.js"() {
    init_address();
    init_changes();
    init_dom();
    lists = /* @__PURE__ */ new WeakMap();
    beyond = 25;
    most2 = 300;
    shelf = () => one(".shelf:not([hidden])");
    wanted2 = () => $("search").value.trim();
    items = (ul) => [...ul.children];
    roved = /* @__PURE__ */ new WeakSet();
    on("focusin", (e) => {
      if (!e.target.matches(".item")) return;
      roved.add(e.target);
      rove();
    });
    on("input", (e) => {
      if (e.target.id !== "search") return;
      shelf().scrollTop = 0;
      lookAtAll();
    });
    on("chosen", (e) => {
      if (near(e.target, ".catalog")) lookAtAll();
    });
    on("scroll", (e) => {
      if (near(e.target, ".shelf")) for (const ul of all(".items", shelf())) look3(ul);
    }, true);
    addEventListener("resize", lookAtAll);
    on("redrawn", () => {
      lists = /* @__PURE__ */ new WeakMap();
    });
    whenChanged(lookAtAll);
    on("keydown", (e) => {
      if (!bare(e) || !e.target.matches("#search, .item")) return;
      const shown2 = all(".item", shelf()), at = shown2.indexOf(e.target), item = at >= 0;
      if (e.key === "ArrowDown") shown2[at + 1]?.focus();
      else if (e.key === "ArrowUp") (shown2[at - 1] ?? $("search")).focus();
      else if (item && e.key === "Home") toEnd2(0);
      else if (item && e.key === "End") toEnd2(shelf().scrollHeight);
      else return;
      e.preventDefault();
    });
  }
});

// filter.js
function setFilter(line2, step) {
  input.value = line2;
  close2();
  typed3(false);
  apply2(step);
}
function apply2(step) {
  const line2 = input.value.trim();
  toAddress({ filter: line2 }, step);
  lookThrough(line2);
  download.hidden = !line2;
  download.href = "/wire.jsonl?" + new URLSearchParams({ download: "1", filter: line2 });
}
async function typed3(offer) {
  colour();
  clear.hidden = !input.value;
  press2();
  asking3?.abort();
  clearTimeout(explaining);
  const control = asking3 = new AbortController();
  try {
    const query = new URLSearchParams({ line: input.value, at: String(input.selectionStart) });
    const response = await fetch("/wire/complete?" + query, { signal: control.signal });
    if (!response.ok) return;
    ways = await response.json();
  } catch {
    return;
  }
  if (offer && unfinished()) open2();
  else close2();
  if (!ways.error) {
    explain();
    if (offer) apply2();
  } else if (wrong.textContent) explain();
  else explaining = setTimeout(explain, list.hidden ? 300 : 1200);
}
function explain() {
  const { error } = ways;
  input.ariaInvalid = error ? "true" : null;
  if (wrong.textContent !== (error?.text ?? "")) {
    wrong.textContent = error?.text ?? "";
    if (error) announce(error.text);
  }
  if (error) wrong.style.setProperty("--at", String(Math.min(error.pos, 40)));
  colour();
}
function colour() {
  const line2 = input.value, pieces = (
    /** @type {any[]} */
    []
  );
  const error = input.ariaInvalid === "true" ? ways.error : void 0;
  const add = (from, to, kind) => {
    const cuts = [.../* @__PURE__ */ new Set([from, error?.pos ?? from, error?.end ?? from, to])].filter((n) => n >= from && n <= to).sort((a, b) => a - b);
    for (let i = 0; i + 1 < cuts.length; i++) {
      const piece = document.createElement("span"), wrong2 = error && cuts[i] >= error.pos && cuts[i] < error.end;
      Object.assign(piece, { textContent: line2.slice(cuts[i], cuts[i + 1]), className: kind + (wrong2 ? " wrong" : "") });
      pieces.push(piece);
    }
  };
  let at = 0;
  for (const m of line2.matchAll(tokens)) {
    add(at, m.index, "");
    at = m.index + m[0].length;
    add(m.index, at, m[1] ? "s" : m[2] ? "k" : "b");
  }
  add(at, line2.length, "");
  if (error && error.pos >= line2.length) {
    const piece = document.createElement("span");
    Object.assign(piece, { textContent: "  ", className: "wrong" });
    pieces.push(piece);
  }
  paint2.replaceChildren(...pieces);
  paint2.scrollLeft = input.scrollLeft;
}
function unfinished() {
  const before2 = input.value.slice(0, input.selectionStart);
  return !before2.trim() || /\S$/.test(before2);
}
function open2() {
  const { items: items2, from, to } = ways, known4 = input.value.slice(from, to);
  active = -1;
  list.hidden = !items2.length || items2.length === 1 && items2[0].text === known4 || document.activeElement !== input;
  if (list.hidden) return close2();
  list.replaceChildren(...items2.map(({ text, means }, i) => {
    const option = document.createElement("li");
    Object.assign(option, { id: "filter-way-" + i, role: "option", ariaSelected: "false" });
    const word = document.createElement("span"), what = document.createElement("span");
    word.textContent = text;
    what.textContent = means ?? "";
    option.append(word, what);
    return option;
  }));
  list.scrollTop = 0;
  input.ariaExpanded = "true";
  input.removeAttribute("aria-activedescendant");
}
function close2() {
  list.hidden = true;
  active = -1;
  input.ariaExpanded = "false";
  input.removeAttribute("aria-activedescendant");
}
function move(to) {
  const options = all("[role=option]", list);
  active = (to + options.length + 1) % (options.length + 1);
  if (active === options.length) active = -1;
  options.forEach((o, i) => {
    o.ariaSelected = String(i === active);
  });
  const at = options[active];
  if (!at) return input.removeAttribute("aria-activedescendant");
  input.setAttribute("aria-activedescendant", at.id);
  at.scrollIntoView({ block: "nearest" });
}
function take3(i) {
  const { from, to, items: items2 } = ways, { text } = items2[i], open5 = /[:<>=]$/.test(text);
  const rest = input.value.slice(to);
  input.setRangeText(text + (open5 || rest ? "" : " "), from, to, "end");
  input.focus();
  close2();
  typed3(true);
}
function press2() {
  for (const chip of all(".quick")) chip.ariaPressed = String(!!chip.dataset.term && place2(chip.dataset.term).test(input.value));
}
var input, paint2, list, wrong, clear, download, ways, active, asking3, explaining, tokens, place2, either, anyCall;
var init_filter = __esm({
  "filter.js"() {
    init_address();
    init_ask();
    init_changes();
    init_dom();
    init_panes();
    init_wire();
    input = $("filter");
    paint2 = $("filter-paint");
    list = $("filter-list");
    wrong = $("filter-error");
    clear = $("filter-clear");
    download = $("download-filtered");
    ways = { from: 0, to: 0, items: [] };
    active = -1;
    explaining = 0;
    tokens = /("(?:\\.|[^"\\])*"?|(?<![^\s(!-])\/(?:\\.|[^/\\])*\/?i?)|((?<![^\s(!|&-])[a-z]+)(\s*(?:[:=<>]|!=)[=<>]*)|((?<!\S)(?:or|and|not|[&|])(?!\S)|&&|\|\||(?<![^\s(])-(?=[\p{L}(/"!])|[!()])/giu;
    list.addEventListener("mousedown", (e) => e.preventDefault());
    list.addEventListener("click", (e) => {
      const option = near(e.target, "[role=option]");
      if (option) take3([...list.children].indexOf(option));
    });
    input.addEventListener("input", () => typed3(true));
    input.addEventListener("click", () => {
      if (!input.value) typed3(true);
    });
    input.addEventListener("scroll", () => {
      paint2.scrollLeft = input.scrollLeft;
    });
    input.addEventListener("blur", () => {
      close2();
      if (ways.error) explain();
    });
    input.addEventListener("keydown", (e) => {
      if (!bare(e) || e.isComposing) return;
      if (e.key === "ArrowDown" && list.hidden) typed3(true).then(open2);
      else if (e.key === "ArrowDown") move(active + 1);
      else if (e.key === "ArrowUp" && !list.hidden) move(active < 0 ? list.children.length - 1 : active - 1);
      else if ((e.key === "Enter" || e.key === "Tab") && active >= 0) take3(active);
      else if (e.key === "Enter") {
        close2();
        if (ways.error) explain();
        else apply2(true);
      } else if (e.key === "Escape" && !list.hidden) close2();
      else if (e.key === "Escape") $("grid").focus();
      else return;
      e.preventDefault();
    });
    clear.addEventListener("click", () => {
      setFilter("", true);
      input.focus();
    });
    place2 = (term) => new RegExp(`(?<!\\S)${term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?!\\S)\\s*`, "g");
    on("click", (e) => {
      const chip = near(e.target, ".quick"), link = near(e.target, "[data-filter]");
      if (link) {
        setFilter(link.dataset.filter, true);
        showPane("wire");
        announce(link.dataset.filter ? `Only ${link.dataset.filter} is shown.` : "All frames are shown.");
      }
      if (!chip) return;
      const { term, group: group2 } = chip.dataset, on2 = chip.ariaPressed === "true";
      let line2 = input.value;
      for (const other of all(`.quick[data-group="${group2}"]`)) if (other.dataset.term) line2 = line2.replace(place2(other.dataset.term), "");
      if (group2 === "call") line2 = line2.replace(anyCall, "");
      line2 = line2.trim();
      if (!on2 && either.test(line2)) line2 = `(${line2})`;
      setFilter((line2 + (on2 ? "" : " " + term)).trim(), true);
    });
    either = /\|\||(?<!\S)(?:or|\|)(?!\S)/i;
    anyCall = /(?<!\S)call:\d+(?!\S)\s*/g;
    whenChanged(() => {
      const { call: call3 } = one("#call > [data-call]")?.dataset ?? {}, chip = $("this-call"), before2 = chip.dataset.term ?? "";
      const now = "call:" + call3;
      chip.hidden = !call3;
      if (!call3 || before2 === now) return;
      chip.dataset.term = now;
      if (before2 && place2(before2).test(input.value)) setFilter(input.value.replace(place2(before2), now + " ").trim());
      else press2();
    });
    addEventListener("popstate", () => {
      if (inAddress("filter") !== input.value.trim()) setFilter(inAddress("filter"));
    });
    if (inAddress("filter")) setFilter(inAddress("filter"));
  }
});

// export.js
async function copy3(button3, text, what) {
  if (!await copied(text)) return notice("The browser does not let this page copy.", 5);
  announce(what + " is copied.");
  button3.classList.add("copied");
  setTimeout(() => button3.classList.remove("copied"), 1500);
}
async function linkOf(form) {
  const { ok, text } = await post("/form/link", new URLSearchParams(
    /** @type {any} */
    new FormData(form)
  ));
  return ok ? text : "";
}
var init_export = __esm({
  "export.js"() {
    init_address();
    init_ask();
    init_dom();
    on("click", async (e) => {
      const button3 = near(e.target, "[data-copy-from]"), text = button3 && await drawn(button3.dataset.copyFrom);
      if (text) copy3(button3, text.html, button3.textContent);
    });
    on("click", async (e) => {
      const button3 = near(e.target, "[data-copy-link]"), form = near(button3, "#args-form");
      if (!button3) return;
      const query = button3.dataset.copyLink || await linkOf(form);
      if (query) copy3(button3, location.origin + "/" + query, "The link");
    });
    $("export-more").addEventListener("beforetoggle", (e) => {
      if (e.newState !== "open") return;
      const { call: call3 } = one("#call > [data-call]")?.dataset ?? {};
      const filters = (
        /** @type {Record<string, string>} */
        { call: call3 && `call:${call3}`, filter: inAddress("filter") }
      );
      for (const part of all("[data-scope]:not([data-scope=session])", $("export-more"))) {
        const filter3 = filters[part.dataset.scope];
        part.hidden = !filter3;
        for (const link of all("a", part)) link.href = link.dataset.path + "?" + new URLSearchParams({ download: "1", filter: filter3 });
      }
    });
  }
});

// palette.js
async function find() {
  asking4?.abort();
  asking4 = new AbortController();
  const answer2 = await drawn("/palette?" + new URLSearchParams({ search: input2.value }), asking4.signal);
  if (!answer2) return;
  list2.replaceChildren(parse(answer2.html));
  mark3(0);
}
function mark3(n) {
  const options = all("[role=option]", list2), to = options.at(n % options.length);
  for (const option of options) option.ariaSelected = String(option === to);
  input2.setAttribute("aria-activedescendant", to?.id ?? "");
  to?.scrollIntoView({ block: "nearest" });
}
var palette, input2, list2, asking4;
var init_palette = __esm({
  "palette.js"() {
    init_ask();
    init_changes();
    init_dom();
    palette = $("palette");
    input2 = $("palette-input");
    list2 = $("palette-list");
    on("keydown", (e) => {
      if (e.key.toLowerCase() !== "k" || !(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey) return;
      e.preventDefault();
      if (palette.open) return palette.close();
      palette.showModal();
      input2.select();
      find();
    });
    input2.addEventListener("input", find);
    input2.addEventListener("keydown", (e) => {
      const options = all("[role=option]", list2), at = options.findIndex((o) => o.ariaSelected === "true");
      if (e.key === "ArrowDown") mark3(at + 1);
      else if (e.key === "ArrowUp") mark3(at - 1);
      else if (e.key === "Enter") options[at]?.click();
      else return;
      e.preventDefault();
    });
    document.addEventListener("click", (e) => {
      const option = near(e.target, "#palette-list [role=option]:not([aria-disabled])");
      if (!option && e.target !== palette) return;
      palette.close();
      const control = option?.dataset.press && one(option.dataset.press);
      control?.scrollIntoView({ block: "nearest" });
      if (control?.matches("button")) control.click();
      else control?.focus();
    }, true);
  }
});

// present.js
function draw2() {
  const { call: call3 } = one("#call > [data-call]")?.dataset ?? {};
  if (button.ariaPressed !== "true" || !call3 || call3 === drawn2) return;
  drawn2 = call3;
  if ($("ladder").hidden) $("ladder-button").click();
}
function present(on2) {
  button.ariaPressed = String(on2);
  document.documentElement.classList.toggle("presenting", on2);
  toAddress({ present: on2 ? "1" : "" });
  drawn2 = "";
  draw2();
}
var button, theme, drawn2;
var init_present = __esm({
  "present.js"() {
    init_address();
    init_changes();
    init_dom();
    button = $("present");
    theme = $("theme");
    drawn2 = "";
    button.addEventListener("click", () => {
      present(button.ariaPressed === "false");
      $("bar-more").hidePopover();
    });
    on("keydown", (e) => {
      if (e.key !== "p" || !bare(e) || e.defaultPrevented || e.target.matches("input:not([type=radio], [type=checkbox]), textarea, select")) return;
      e.preventDefault();
      button.click();
    });
    if (inAddress("present")) present(true);
    whenChanged(draw2);
    theme.addEventListener("change", () => {
      document.documentElement.dataset.theme = theme.value;
      document.cookie = `inspector_theme=${theme.value}; Path=/; SameSite=Strict; Max-Age=${theme.value ? 31536e3 : 0}`;
    });
  }
});

// live.js
function connect() {
  clearTimeout(retry);
  if (socket && socket.readyState <= WebSocket.OPEN) return;
  socket = new WebSocket(`${location.origin.replace("http", "ws")}/live?since=${seen}`);
  const answered3 = openLine(socket);
  socket.onopen = () => {
    if (failures) notice("", 0);
    failures = 0;
  };
  socket.onmessage = (e) => {
    const message = JSON.parse(e.data), { seq: seq2, changes, anew, frames: frames2, kept: kept2, time: time2 } = message;
    if (message.answer) return answered3(message);
    if (time2) setTime(time2);
    if (changes) push(changes);
    if (frames2 !== void 0) grown(frames2, kept2);
    if (anew) drawAnew();
    else if (seq2 && seen >= 0) seen = seq2;
  };
  socket.onclose = () => {
    if (!failures++) explain2();
    retry = setTimeout(connect, Math.min(200 * 2 ** failures, 5e3) * (0.75 + Math.random() / 2));
  };
}
async function drawAnew() {
  seen = -1;
  seen = await redraw() ?? -1;
  if (seen < 0) socket?.close();
}
async function explain2() {
  notice("The live connection is lost. Connecting again…", 0);
  const status2 = await fetch("/wire/rows?from=0&count=0").then((r) => r.status, () => 0);
  if (!failures) return;
  if (status2 === 401 || status2 === 403) notice("The inspector was restarted. Open the address that it printed this time.", 0);
  else if (!status2) notice("The inspector has ended or cannot be reached. Connecting again…", 0);
}
var socket, seen, failures, retry;
var init_live = __esm({
  "live.js"() {
    init_ask();
    init_changes();
    init_clock();
    init_dom();
    init_wire();
    seen = Number(document.documentElement.dataset.seq);
    failures = 0;
    retry = 0;
    addEventListener("online", connect);
    on("visibilitychange", connect);
  }
});

// ledger.js
var ledger_exports = {};
async function draw3() {
  again2 = fetching4;
  if (fetching4 || !isOpen2()) return;
  fetching4 = true;
  const answer2 = await drawn("/ledger?" + new URLSearchParams({ sort, filter: filter2.value })), old = $("ledger-rows");
  if (answer2) {
    const fresh2 = old.cloneNode();
    fresh2.append(parse(answer2.html));
    update(old, fresh2);
  }
  fetching4 = false;
  if (again2) draw3();
}
var ledger, filter2, sort, fetching4, again2, isOpen2;
var init_ledger = __esm({
  "ledger.js"() {
    init_address();
    init_ask();
    init_changes();
    init_dom();
    init_panes();
    ledger = $("ledger");
    filter2 = $("ledger-filter");
    sort = "-number";
    fetching4 = false;
    again2 = false;
    isOpen2 = () => ledger.matches(":popover-open");
    ledger.addEventListener("toggle", draw3);
    filter2.addEventListener("input", draw3);
    whenChanged(draw3);
    on("click", async (e) => {
      const head = near(e.target, "[data-ledger-sort]"), anew = near(e.target, "[data-anew]");
      if (head) {
        sort = head.dataset.ledgerSort;
        draw3();
      }
      if (near(e.target, "#ledger :is([data-frame], [data-show-call], [data-post], [data-anew])")) ledger.hidePopover();
      if (!anew) return;
      if (!await show("?call=" + anew.dataset.anew)) return;
      showing();
      showPane("work");
      const form = $("args-form");
      for (const fold2 of all("details", form)) fold2.open = true;
      focusFirst(form, one(".primary", form));
    });
  }
});

// ladder.js
var ladder_exports = {};
__export(ladder_exports, {
  open: () => open3,
  toggle: () => toggle3
});
function wanted3() {
  const seq2 = frameOnShow(), { call: call3 } = one("#call > [data-call]")?.dataset ?? {};
  return seq2 ? `/wire/frames/${seq2}/ladder` : call3 ? `/calls/${call3}/ladder` : "";
}
function show2(on2) {
  pane2.hidden = !on2;
  pane2.classList.toggle("fills", on2 && pane2.classList.contains("fills"));
  grid2.hidden = on2;
  button2.ariaPressed = String(on2);
  if (on2) return;
  address2 = "";
  fetching5?.abort();
  clearTimeout(again3);
  pane2.replaceChildren();
}
async function draw4() {
  clearTimeout(again3);
  fetching5?.abort();
  fetching5 = new AbortController();
  const larger = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  const width2 = Math.round((pane2.clientWidth - 28) / larger);
  const [answer2] = await Promise.all([drawn(address2 + "?width=" + width2, fetching5.signal), styled]);
  if (!answer2 || !address2) return;
  const fresh2 = pane2.cloneNode();
  fresh2.append(parse(answer2.html));
  update(pane2, fresh2);
  fill2(pane2.classList.contains("fills"));
  if (one(".ladder-head", pane2).dataset.running === "true") again3 = setTimeout(draw4, 1e3);
}
function toggle3() {
  if (!pane2.hidden) {
    show2(false);
    return grid2.focus({ preventScroll: true });
  }
  const to = wanted3();
  if (!to) return notice("Choose a frame, or make a call, to see its ladder.", 4);
  open3(to);
}
function open3(to) {
  showPane("wire");
  address2 = to;
  show2(true);
  draw4();
}
function fill2(on2) {
  pane2.classList.toggle("fills", on2);
  const button3 = one("[data-fill]", pane2);
  if (button3) button3.ariaPressed = String(on2);
}
var button2, pane2, grid2, address2, fetching5, again3, style, styled, width, call2;
var init_ladder = __esm({
  "ladder.js"() {
    init_ask();
    init_changes();
    init_detail();
    init_dom();
    init_panes();
    button2 = $("ladder-button");
    pane2 = $("ladder");
    grid2 = $("grid");
    address2 = "";
    again3 = 0;
    style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/ladder.css" });
    styled = new Promise((done) => {
      style.onload = style.onerror = done;
    });
    document.head.append(style);
    width = 0;
    new ResizeObserver(() => {
      if (pane2.hidden || pane2.clientWidth === width) return;
      width = pane2.clientWidth;
      clearTimeout(again3);
      again3 = setTimeout(draw4, 150);
    }).observe(pane2);
    pane2.addEventListener("click", (e) => {
      if (near(e.target, "[data-fill]")) fill2(!pane2.classList.contains("fills"));
    });
    pane2.addEventListener("click", (e) => {
      const link = near(e.target, ".drawing a"), to = link?.getAttribute("href") ?? link?.getAttribute("xlink:href");
      if (near(e.target, "[data-rows]")) show2(false);
      if (!to || e.ctrlKey || e.metaKey || e.shiftKey) return;
      e.preventDefault();
      fill2(false);
      openFrame(Number(new URLSearchParams(to.split("?")[1]).get("frame")));
    });
    pane2.addEventListener("keydown", (e) => {
      if (e.key !== "Escape" || e.defaultPrevented) return;
      e.preventDefault();
      if (pane2.classList.contains("fills")) return fill2(false);
      show2(false);
      grid2.focus({ preventScroll: true });
    });
    call2 = "";
    whenChanged(() => {
      if (one(".ladder-head", pane2)?.dataset.running === "true") {
        clearTimeout(again3);
        again3 = setTimeout(draw4, 200);
      }
      const now = one("#call > [data-call]")?.dataset.call ?? "";
      if (now === call2) return;
      call2 = now;
      if (address2.startsWith("/calls/") && now) {
        address2 = `/calls/${now}/ladder`;
        draw4();
      }
    });
  }
});

// check.js
var check_exports = {};
__export(check_exports, {
  open: () => open4,
  reopen: () => reopen
});
async function show3(html) {
  const fresh2 = view.cloneNode();
  fresh2.append(parse(html));
  update(view, fresh2);
  await styled2;
  panel.showPopover();
  (one("#check-start:enabled", view) ?? one("h2", view)).focus();
}
async function open4(button3) {
  const form = $("args-form"), { server, kind, key: key2 } = form.dataset;
  toAddress({ check: new URLSearchParams({ server, kind, key: key2 }).toString() });
  const body = new URLSearchParams(
    /** @type {any} */
    new FormData(form)
  );
  if (button3.dataset.check) body.set("anew", "1");
  const { ok, text } = await post("/check", body);
  if (ok) await show3(text);
}
var panel, view, style2, styled2, reopen;
var init_check = __esm({
  "check.js"() {
    init_address();
    init_ask();
    init_changes();
    init_dom();
    panel = $("check");
    view = $("check-view");
    style2 = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/check.css" });
    styled2 = new Promise((done) => {
      style2.onload = style2.onerror = done;
    });
    document.head.append(style2);
    reopen = (of) => fetched("/check?" + of, ({ html }) => show3(html));
    panel.addEventListener("toggle", (e) => {
      if (e.newState === "closed") toAddress({ check: "" });
    });
    on("redrawn", () => {
      if (inAddress("check")) reopen(inAddress("check"));
    });
    panel.addEventListener("click", async (e) => {
      const button3 = near(e.target, "[data-copies]");
      if (!button3) return;
      if (!await copied(one("pre", button3.parentElement).textContent.trim())) return notice("The browser does not let this page copy.", 5);
      announce("Copied.");
      button3.textContent = "Copied";
      setTimeout(() => {
        button3.textContent = "Copy";
      }, 1500);
    });
  }
});

// playback.js
var playback_exports = {};
function pace(rate) {
  for (const a of document.getAnimations()) {
    const { target } = (
      /** @type {any} */
      a.effect
    );
    if (near(target, ".giving")) a.playbackRate = rate && Math.max(rate, 1);
  }
}
function look4() {
  const controls = $("playback"), { rate, now } = controls?.dataset ?? {};
  if (!controls) return;
  const slider = $("playback-position");
  if (before && slider.getAttribute("value") !== before) {
    dragged = -1;
    before = "";
  }
  if (dragged < 0) slider.value = slider.getAttribute("value");
  else $("playback-frame").textContent = grouped(dragged);
  const chosen = one("option[selected]", $("playback-speed"));
  if (chosen && document.activeElement !== $("playback-speed")) chosen.selected = true;
  pace(Number(rate));
  if (said2 === rate + now || !Number(now)) return;
  said2 = rate + now;
  setTime(Number(now), Number(rate));
}
var dragged, before, said2;
var init_playback = __esm({
  "playback.js"() {
    init_ask();
    init_changes();
    init_clock();
    init_dom();
    dragged = -1;
    before = "";
    said2 = "";
    on("input", (e) => {
      if (e.target.id !== "playback-position") return;
      dragged = Number(e.target.value);
      before = "";
      $("playback-frame").textContent = grouped(dragged);
    });
    on("change", async (e) => {
      const { id, value } = e.target;
      if (id !== "playback-position") return;
      before = e.target.getAttribute("value");
      const { ok } = await post("/playback/seek", new URLSearchParams({ position: value }));
      if (!ok || value === before) before = "-1";
      look4();
    });
    on("keydown", (e) => {
      if (e.target.id !== "playback-position" || !/^Page(Up|Down)$/.test(e.key)) return;
      const at = Number(e.target.value), marks = all("#playback-marks option").map((o) => Number(o.value));
      const to = e.key === "PageUp" ? marks.findLast((m) => m < at) : marks.find((m) => m > at);
      if (!marks.length) return;
      e.preventDefault();
      if (to === void 0) return;
      e.target.value = to;
      for (const type of ["input", "change"]) e.target.dispatchEvent(new Event(type, { bubbles: true }));
    });
    whenChanged(look4);
  }
});

// page.js
var page_exports = {};
var init_page = __esm({
  async "page.js"() {
    init_dom();
    init_ask();
    init_changes();
    init_clock();
    init_address();
    init_panes();
    init_latest();
    init_forms();
    init_picker();
    init_questions();
    init_answers();
    init_outcomes();
    init_controls();
    init_unfold();
    init_revision();
    init_catalog();
    init_wire();
    init_detail();
    init_filter();
    init_export();
    init_palette();
    init_present();
    init_live();
    on("toggle", (e) => {
      if (e.target.id === "ledger") Promise.resolve().then(() => init_ledger());
    }, true);
    on("click", async (e) => {
      const to = near(e.target, "[data-ladder]")?.dataset.ladder;
      if (to) (await Promise.resolve().then(() => (init_ladder(), ladder_exports))).open(to);
      else if (near(e.target, "#ladder-button")) (await Promise.resolve().then(() => (init_ladder(), ladder_exports))).toggle();
    });
    on("click", async (e) => {
      if (near(e.target, "[data-check]")) (await Promise.resolve().then(() => (init_check(), check_exports))).open(near(e.target, "[data-check]"));
    });
    if (inAddress("check")) (await Promise.resolve().then(() => (init_check(), check_exports))).reopen(inAddress("check"));
    if ($("playback")) await Promise.resolve().then(() => (init_playback(), playback_exports));
    on("click", async (e) => {
      const item = near(e.target, ".item, [data-choose]"), call3 = near(e.target, "[data-show-call]"), frame = near(e.target, "[data-frame]");
      if (item || call3) {
        const { server, kind, key: key2, showCall } = (item ?? call3).dataset;
        const query = call3 ? "?call=" + showCall : "?" + new URLSearchParams({ server, kind, key: key2 });
        if (!await show(query)) return;
        showing();
        showPane("work");
        if (call3) return $("call").scrollIntoView({ block: "nearest" });
        $("work").scrollTo(0, 0);
        focusFirst($("call"), one("#call .primary"));
      }
      if (frame) {
        showPane("wire");
        showFrame(Number(frame.dataset.frame));
      }
    });
    on("click", (e) => {
      const skip = near(e.target, ".skip");
      if (!skip) return;
      e.preventDefault();
      showPane(skip.dataset.pane);
      const part = $(skip.hash.slice(1)), first2 = all("[tabindex='0'], a[href], summary, :is(button, input, select, textarea):enabled:not([tabindex='-1'])", part).find((e2) => e2.checkVisibility());
      if (part.matches("[tabindex]") || first2) return (part.matches("[tabindex]") ? part : first2).focus();
      part.tabIndex = -1;
      part.focus();
      part.addEventListener("blur", () => part.removeAttribute("tabindex"), { once: true });
    });
    on("keydown", (e) => {
      if (!bare(e) || e.defaultPrevented || e.target.matches("input:not([type=radio], [type=checkbox]), textarea, select")) return;
      if (e.key === "?") $("keys").togglePopover();
      else if (e.key === "/" && near(e.target, "#wire")) $("filter").select();
      else if (e.key === "/") {
        showPane("side");
        $("search").focus();
      } else if (e.key === "w") {
        showPane("wire");
        $("grid").focus();
      } else if (e.key === "q") {
        if (!nextQuestion()) notice("No question is waiting.", 3);
      } else return;
      e.preventDefault();
    });
    connect();
  }
});

// main.js
async function start() {
  await init_page().then(() => page_exports);
  performance.mark("ready");
}
var painted = new Promise((done) => {
  new PerformanceObserver(done).observe({ type: "paint", buffered: true });
  setTimeout(done, document.hidden ? 0 : 1e3);
});
painted.then(start);
