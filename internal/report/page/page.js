"use strict";
(() => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const make = (tag, attributes = {}, text = "") => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.textContent = text;
    return e;
  };
  const number = (text) => {
    const n = parseFloat(text.replace(/,/g, "").replace(/^[<>≥ ]+/, ""));
    return Number.isNaN(n) ? null : n;
  };
  document.documentElement.classList.add("js");

  // Tables are sorted by the numbers with all their digits, which cells have as titles; those without a number come last.
  const cellOf = (body, column) => body.rows[0].cells[column];
  const sort = (table, th, column) => {
    const was = th.getAttribute("aria-sort");
    const words = th.classList.contains("t") || th.dataset.words === "1";
    const up = was ? was === "descending" : words || th.textContent === "#";
    all("th[aria-sort]", table).forEach((h) => h.removeAttribute("aria-sort"));
    th.setAttribute("aria-sort", up ? "ascending" : "descending");
    const main = table.classList.contains("main");
    const items = main ? [...table.tBodies] : [...table.tBodies[0].rows];
    const keyed = items.map((item) => {
      const c = main ? cellOf(item, column) : item.cells[column];
      const text = c.textContent;
      return { item, text, n: words ? null : number(c.title || text) };
    });
    keyed.sort((a, b) => {
      if (words) return (up ? 1 : -1) * (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
      if (a.n === null || b.n === null) return (a.n === null) - (b.n === null);
      return up ? a.n - b.n : b.n - a.n;
    });
    const parent = main ? table : table.tBodies[0];
    const foot = main ? table.tFoot : null;
    for (const k of keyed) parent.insertBefore(k.item, foot);
  };
  for (const table of all("table.sort")) {
    const head = table.tHead.rows[table.tHead.rows.length - 1];
    [...head.cells].forEach((th, column) => {
      if (th.tagName !== "TH") return;
      const first = table.tBodies[0] && table.tBodies[0].rows[0];
      if (first && first.cells[column].tagName === "TH") th.dataset.words = "1";
      const b = make("button", { type: "button", class: "by" }, th.textContent);
      th.textContent = "";
      th.append(b);
      b.addEventListener("click", () => sort(table, th, column));
    });
  }

  const filter = document.getElementById("filter");
  if (filter) {
    const bodies = all(".main > tbody");
    const names = bodies.map((b) => all("th", b.rows[0]).map((c) => c.textContent).join(" ").toLowerCase());
    const said = document.getElementById("filtered");
    const run = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let n = 0;
      bodies.forEach((b, i) => {
        b.hidden = !words.every((w) => names[i].includes(w));
        if (!b.hidden) n++;
      });
      said.textContent = words.length ? n + " of " + bodies.length + " rows" : "";
    };
    filter.addEventListener("input", run);
    filter.addEventListener("keydown", (e) => {
      if (e.key === "Escape") { filter.value = ""; run(); }
    });
  }

  // The table of an anatomy as a picture: each row of it is a part of the row that it is below.
  const rowHeight = 22;
  const tree = (table) => {
    const stack = [];
    let root = null;
    for (const tr of table.tBodies[0].rows) {
      const c = tr.cells;
      const [depth, kind] = tr.className.split(" ");
      const n = {
        depth: Number(depth.slice(1)), kind, name: c[0].textContent, bytes: number(c[5].textContent), parts: [],
        said: (kind === "left" ? "" : "mainly " + kind + ", ") + c[2].textContent + " bytes per message, " + c[3].textContent + " %" +
          (c[4].textContent ? ", in " + c[4].textContent + " % of the messages" : ""),
        share: c[3].textContent,
      };
      stack.length = n.depth;
      n.up = stack[n.depth - 1] || null;
      if (n.up) n.up.parts.push(n); else root = n;
      stack[n.depth] = n;
    }
    return root;
  };
  const deepest = (n) => n.parts.reduce((d, p) => Math.max(d, deepest(p)), n.depth);
  const pathOf = (n) => (n.up ? pathOf(n.up).concat(n) : [n]);
  const flame = (box) => {
    if (box.querySelector(".flame")) return;
    const root = tree(box.querySelector("table"));
    if (!root || !root.bytes) return;
    const crumbs = make("nav", { class: "crumbs", "aria-label": "path" });
    const picture = make("div", { class: "flame", role: "group", "aria-label": "bytes by path; arrow keys move, enter zooms, escape zooms out" });
    const said = make("div", { class: "said", "aria-live": "polite" });
    const show = (top, focus) => {
      picture.textContent = "";
      crumbs.textContent = "";
      picture.style.height = rowHeight * (deepest(top) + 1) + "px";
      const buttons = new Map();
      const draw = (n, left, width) => {
        const b = make("button", { type: "button", class: n.kind + (width < 0.02 ? " thin" : ""), tabindex: "-1", title: n.name + ": " + n.said }, width < 0.02 ? "" : n.name + "  " + n.share + " %");
        if (width < 0.02) b.setAttribute("aria-label", n.name + " " + n.share + " %");
        b.style.left = left * 100 + "%";
        b.style.width = width * 100 + "%";
        b.style.top = n.depth * rowHeight + "px";
        b.addEventListener("click", () => show(n.parts.length ? n : n.up || n, n));
        b.addEventListener("mouseenter", () => tell(n));
        b.addEventListener("focus", () => tell(n));
        b.addEventListener("keydown", (e) => move(e, n));
        buttons.set(n, b);
        picture.append(b);
      };
      const below = (n, left, width) => {
        let at = left;
        for (const p of n.parts) {
          const w = n.bytes ? width * p.bytes / n.bytes : 0;
          if (w >= 0.002) { draw(p, at, w); below(p, at, w); }
          at += w;
        }
      };
      const tell = (n) => { said.textContent = pathOf(n).map((p) => p.name).join(" › ") + ": " + n.said; };
      const move = (e, n) => {
        const beside = n.up ? n.up.parts.filter((p) => buttons.has(p)) : [n];
        const i = beside.indexOf(n);
        const to = { ArrowUp: n.up, ArrowDown: n.parts.find((p) => buttons.has(p)), ArrowLeft: beside[i - 1], ArrowRight: beside[i + 1] }[e.key];
        if (e.key === "Escape") show(root, root);
        else if (!to) return;
        else buttons.get(to).focus();
        e.preventDefault();
      };
      const line = pathOf(top);
      line.forEach((n) => draw(n, 0, 1));
      below(top, 0, 1);
      line.forEach((n, i) => {
        if (i) crumbs.append(" › ");
        if (n === top) { crumbs.append(make("b", { "aria-current": "true" }, n.name)); return; }
        const b = make("button", { type: "button" }, n.name);
        b.addEventListener("click", () => show(n, n));
        crumbs.append(b);
      });
      (buttons.get(top) || picture.firstChild).tabIndex = 0;
      tell(focus || top);
      if (focus) (buttons.get(focus) || buttons.get(top)).focus({ preventScroll: true });
    };
    box.querySelector("h4").after(crumbs, picture, said);
    show(root, null);
  };
  const open = (button, on) => {
    const row = document.getElementById(button.getAttribute("aria-controls"));
    button.setAttribute("aria-expanded", String(on));
    row.classList.toggle("on", on);
    if (on) all(".anatomy", row).forEach(flame);
  };
  all(".anatomy details").forEach((d) => { d.open = false; });
  all("button.open").forEach((b) => b.addEventListener("click", () => open(b, b.getAttribute("aria-expanded") !== "true")));
  const arrive = () => {
    if (!/^#m\d+$/.test(location.hash)) return;
    const b = document.querySelector(location.hash + " button.open");
    if (b) { open(b, true); document.querySelector(location.hash).scrollIntoView(); }
  };
  addEventListener("hashchange", arrive);
  arrive();
  // The numbers of a chart are those of the table below.
  const slots = document.getElementById("slots");
  if (slots) {
    const rows = slots.tBodies[0].rows;
    const heads = [...slots.tHead.rows[0].cells].map((c) => c.textContent);
    all(".area").forEach((area, chart) => {
      const columns = chart === 0 ? [1, 2, 3] : [4, 5];
      let cursor = null, tip = null, at = -1;
      const hide = () => { if (cursor) { cursor.remove(); tip.remove(); cursor = null; } };
      const show = (i) => {
        at = Math.max(0, Math.min(rows.length - 1, i));
        if (!cursor) {
          cursor = make("div", { class: "cursor" });
          tip = make("output", { class: "tip" });
          area.append(cursor, tip);
        }
        const c = rows[at].cells;
        tip.textContent = [c[0].textContent + " UTC", ...columns.map((k) => c[k].textContent + "  " + heads[k] + (c[k].title ? "  (" + c[k].title + ")" : ""))].join("\n");
        const x = (at + 0.5) / rows.length;
        cursor.style.left = x * 100 + "%";
        tip.style.left = Math.max(0, Math.min(area.clientWidth - tip.offsetWidth, x * area.clientWidth + (x > 0.5 ? -tip.offsetWidth - 8 : 8))) + "px";
      };
      area.addEventListener("mousemove", (e) => {
        const r = area.getBoundingClientRect();
        show(Math.floor((e.clientX - r.left) / r.width * rows.length));
      });
      area.addEventListener("mouseleave", hide);
      area.addEventListener("blur", hide);
      area.addEventListener("keydown", (e) => {
        const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rows.length - 1 }[e.key];
        if (to === undefined) return;
        show(to);
        e.preventDefault();
      });
    });
  }

  all(".cmd").forEach((p) => {
    const code = p.querySelector("code");
    const b = make("button", { type: "button" }, "copy");
    b.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        b.textContent = "copied";
        setTimeout(() => { b.textContent = "copy"; }, 1500);
      } catch {
        getSelection().selectAllChildren(code); // for the keyboard
      }
    });
    p.append(b);
  });
})();
