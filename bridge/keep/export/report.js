"use strict";
// Without this script the page shows everything. With it, the page can play itself,
// frames can be filtered, JSON is laid out for reading, and a link to a frame opens it.
{
  const frames = [...document.querySelectorAll(".frame")];
  const filter = document.getElementById("filter");
  const kind = document.getElementById("kind");
  const count = document.getElementById("count");
  const texts = new Map();

  /** The text of a frame, in lower case. */
  const textOf = (frame) => {
    let text = texts.get(frame);
    if (text === undefined) texts.set(frame, (text = frame.textContent.toLowerCase()));
    return text;
  };

  const apply = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const frame of frames) {
      const fits = (!kind.value || frame.dataset.k.split(" ").includes(kind.value)) &&
        words.every((word) => textOf(frame).includes(word));
      frame.hidden = !fits;
      if (fits) shown++;
    }
    count.value = shown === frames.length ? `${shown} frames` : `${shown} of ${frames.length} frames`;
  };

  let timer = 0;
  filter.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 80);
  });
  kind.addEventListener("change", apply);
  document.getElementById("find").hidden = false;
  apply();

  /** Lays out the JSON in an element. Only white space between tokens changes. */
  const layOut = (pre) => {
    let depth = 0, inString = false, escaped = false, opened = false;
    const breakLine = () => "\n" + "  ".repeat(depth);
    for (const node of pre.childNodes) {
      if (node.nodeType !== Node.TEXT_NODE) { // a mark stands for one character
        escaped = false;
        continue;
      }
      let out = "";
      for (const c of node.data) {
        if (inString) {
          out += c;
          if (escaped) escaped = false;
          else if (c === "\\") escaped = true;
          else if (c === '"') inString = false;
          continue;
        }
        if (/\s/.test(c)) continue;
        const closes = c === "}" || c === "]";
        if (closes) depth--;
        if (closes !== opened) out += breakLine();
        opened = false;
        out += c;
        if (c === '"') inString = true;
        else if (c === "{" || c === "[") {
          depth++;
          opened = true;
        } else if (c === ",") out += breakLine();
        else if (c === ":") out += " ";
      }
      node.data = out;
    }
  };

  /** Lays out the JSON of an opened frame, and offers the exact bytes. */
  const show = (frame) => {
    const pre = frame.querySelector("pre[data-json]");
    if (!pre || pre.dataset.json === "done") return;
    pre.dataset.json = "done";
    textOf(frame);
    const exact = [...pre.childNodes].map((node) => node.cloneNode(true));
    layOut(pre);
    const laid = [...pre.childNodes];
    const button = document.createElement("button");
    button.type = "button";
    button.className = "toggle";
    const say = (isExact) => {
      button.textContent = isExact ? "Lay out" : "Exact bytes";
      pre.replaceChildren(...(isExact ? exact : laid));
    };
    say(false);
    button.addEventListener("click", () => say(button.textContent === "Exact bytes"));
    pre.before(button);
  };
  document.getElementById("frames").addEventListener("toggle", (e) => {
    if (e.target.open) show(e.target);
  }, true);

  const follow = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || target.tagName !== "DETAILS") return;
    if (target.hidden) {
      filter.value = kind.value = "";
      apply();
    }
    target.open = true;
    target.scrollIntoView({ block: "nearest" });
  };
  addEventListener("hashchange", follow);
  follow();

  // The playback. A part of the page with data-from is shown from that frame on, one
  // with data-until before it. Positions are numbers of shown frames.
  const player = document.getElementById("player");
  const slider = document.getElementById("position");
  const play = document.getElementById("play");
  const speed = document.getElementById("speed");
  const seqs = frames.map((frame) => Number(frame.dataset.from));
  const moments = frames.map((frame) => Number(frame.dataset.at));
  const all = frames.length;
  const parts = [...document.querySelectorAll("[data-from], [data-until], .ladder [data-seq]")]
    .map((e) => ({ e, seq: Number(e.dataset.from ?? e.dataset.until ?? e.dataset.seq), until: "until" in e.dataset }));
  const questions = [...document.querySelectorAll(".question[data-answered]")];
  const answers = new Set(questions.filter((q) => q.querySelector(".picked")).map((q) => Number(q.dataset.answered)));
  const ladders = new Map([...document.querySelectorAll("svg.ladder")].map((svg) => [svg, svg.viewBox.baseVal.height]));
  const exchanges = [...document.querySelectorAll(".exchange")];
  const opened = exchanges.filter((e) => e.open);
  let shown = all, given = all;

  /** Shows a ladder as far as its latest arrow. */
  const grow = (svg) => {
    const whole = ladders.get(svg), later = svg.querySelector(".ahead[data-seq]");
    const ends = [...svg.querySelectorAll("[data-seq]:not(.ahead) .l-shaft")].map((line) => line.y1.baseVal.value);
    const height = later ? Math.min(whole, Math.max(40, ...ends) + 16) : whole;
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${svg.viewBox.baseVal.width} ${height}`);
  };

  /** Shows a question before its answer, or with it. */
  const answer = (question, isAnswered) => {
    question.classList.toggle("unanswered", !isAnswered);
    for (const field of question.querySelectorAll("[data-asked]")) {
      if (field.matches("[type=radio], [type=checkbox]")) field.checked = isAnswered ? field.defaultChecked : field.dataset.asked === "checked";
      else field.value = isAnswered ? field.defaultValue : field.dataset.asked;
    }
  };

  /** Shows the page as of a position, with the answers up to a frame that may follow it. */
  const showUpTo = (position, answered = position) => {
    const [before, now] = [shown, position].map((n) => n === all ? Infinity : seqs[n - 1] ?? 0);
    const [first, last] = [Math.min(before, now), Math.max(before, now)];
    const grown = new Set();
    for (const { e, seq, until } of parts) {
      if (seq <= first || seq > last) continue;
      e.classList.toggle("ahead", seq <= now === until);
      if (e.dataset.seq) grown.add(e.closest("svg"));
    }
    grown.forEach(grow);
    if (given !== answered) {
      const upTo = answered === all ? Infinity : seqs[answered - 1] ?? 0;
      for (const q of questions) answer(q, Number(q.dataset.answered) <= upTo);
    }
    shown = position;
    given = answered;
    slider.value = position;
    slider.setAttribute("aria-valuetext", `frame ${position} of ${all}`);
    document.getElementById("place").value = `${position} of ${all} frames`;
    const next = answered > position ? seqs[answered - 1] : now;
    for (const q of questions) q.classList.toggle("giving", next > now && Number(q.dataset.answered) === next);
    lookAt(now, next);
  };

  /** Whether the ladder keeps its newest arrow in sight: until the person scrolls it. */
  let follows = true;
  for (const type of ["wheel", "touchmove", "pointerdown", "keydown"]) addEventListener(type, (e) => {
    if (e.target.closest?.("figure") && (type !== "keydown" || /^(Arrow|Page|Home|End)/.test(e.key))) follows = false;
  }, { passive: true });

  /** Scrolls a pane until an element is in sight: its beginning, if it is taller than the pane. */
  const bring = (e, pane) => {
    const room = pane.getBoundingClientRect(), r = e.getBoundingClientRect();
    if (r.top < room.top || r.bottom > room.bottom) pane.scrollTop += r.top < room.top || r.height > room.height ? r.top - room.top : r.bottom - room.bottom;
  };

  /** Unfolds the exchange of the latest frame, and brings what is new into view, at the end the result. */
  const lookAt = (seq, answered) => {
    if (!document.body.classList.contains("plays")) return;
    let at = shown;
    while (at && !frames[at - 1].dataset.exchange) at--;
    const id = frames[at - 1]?.dataset.exchange;
    if (id) for (const e of exchanges) e.open = e.id === id;
    const exchange = id && document.getElementById(id), told = exchange && exchange.querySelector(".told");
    const fresh = told && [...told.querySelectorAll(".question, .result")].findLast((e) => shown === all
      ? e.matches(".result:has(*)") : Number(e.dataset.from) === seq || Number(e.dataset.answered) === answered);
    if (fresh) bring(fresh, told);
    if (fresh?.matches(".giving")) bring(fresh.querySelector(".actions"), told);
    const ladder = exchange && exchange.querySelector("figure");
    if (ladder && follows) ladder.scrollTop = ladder.scrollHeight;
    frames[shown - 1]?.scrollIntoView({ block: "nearest" });
    for (const list of document.querySelectorAll(":is(#findings, #notes) ul")) {
      [...list.children].findLast((e) => !e.classList.contains("ahead"))?.scrollIntoView({ block: "nearest" });
    }
  };

  /** Gives the page to the playback, or shows all of it again. */
  const stage = (on) => {
    document.body.classList.toggle("plays", on);
    document.getElementById("whole").hidden = !on;
    filter.value = kind.value = "";
    apply();
  };

  let plays = false, tick = 0, time = 0, since = 0;
  const rate = () => Number(speed.value);
  const pause = () => {
    clearTimeout(tick);
    plays = false;
    play.textContent = "Play";
    for (const a of document.getAnimations()) a.pause();
  };

  /** Shows what is due, and waits for what is next. */
  const advance = () => {
    const now = performance.now();
    time += (now - since) * rate();
    since = now;
    let position = shown;
    const gaveNext = () => given > position || !answers.has(seqs[position]); // no answer is passed over
    while (position < all && moments[position] <= time && gaveNext()) position++;
    const begins = moments[position] - Number(player.dataset.giving), gives = answers.has(seqs[position]);
    showUpTo(position, gives && begins <= time ? position + 1 : position);
    for (const a of document.getAnimations()) a.updatePlaybackRate(rate());
    if (position === all) return pause();
    const next = gives && begins > time ? begins : moments[position];
    tick = setTimeout(advance, (next - time) / rate());
  };

  /** Goes to a position. A playback continues from there. */
  const goTo = (position) => {
    clearTimeout(tick);
    follows = true;
    stage(true);
    showUpTo(position);
    time = moments[position - 1] ?? 0;
    since = performance.now();
    if (plays) advance();
  };

  play.addEventListener("click", () => {
    if (plays) return pause();
    plays = follows = true;
    play.textContent = "Pause";
    if (shown === all) return goTo(0);
    for (const a of document.getAnimations()) a.play();
    since = performance.now();
    advance();
  });
  speed.addEventListener("change", () => {
    if (!plays) return;
    clearTimeout(tick);
    since = performance.now();
    advance();
  });
  slider.addEventListener("input", () => goTo(Number(slider.value)));
  slider.addEventListener("keydown", (e) => {
    const marks = [...document.querySelectorAll("#marks option")].map((option) => Number(option.value));
    const to = { PageUp: marks.findLast((m) => m < shown), PageDown: marks.find((m) => m > shown) }[e.key];
    if (!/^Page(Up|Down)$/.test(e.key) || !marks.length) return;
    e.preventDefault();
    if (to !== undefined) goTo(to);
  });
  document.getElementById("asked")?.addEventListener("click", (e) => {
    const to = e.target.dataset.position;
    if (to) goTo(Number(to));
  });
  const present = document.getElementById("present");
  present.addEventListener("click", () => {
    present.ariaPressed = String(document.documentElement.classList.toggle("presents"));
    if (!document.body.classList.contains("plays")) goTo(shown);
  });
  addEventListener("keydown", (e) => e.key === "p" && !e.ctrlKey && !e.metaKey && !e.altKey && !e.target.matches?.("input:not([type=range]), select") && present.click());
  document.getElementById("whole").addEventListener("click", () => {
    pause();
    if (present.ariaPressed === "true") present.click();
    showUpTo(all);
    stage(false);
    for (const e of exchanges) e.open = opened.includes(e);
    play.focus();
  });
  if (all) {
    slider.max = slider.value = all;
    showUpTo(all);
    player.hidden = false;
  }
}
