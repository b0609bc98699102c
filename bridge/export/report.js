"use strict";
// Without this script the page shows everything. With it, frames can be
// filtered, JSON is laid out for reading, and a link to a frame opens it.
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
}
