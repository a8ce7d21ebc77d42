// The wall in a browser. It shows the server's judgements as text and numbers. It judges only one thing itself:
// whether the server still sends updates.
"use strict";

const LOST_AFTER = 5; // seconds without an update after which the picture counts as lost
const RECONNECT_AFTER = 10;
const SHIFT_SECONDS = 120; // between two shifts of the picture, against burn-in
const MIN_ROW = { landscape: 2.9, portrait: 3.4 }; // minimum height of a cell, in rem
const MAX_TAIL = 12; // most letters kept at the end of a name whose middle is cut
const SVG = "http://www.w3.org/2000/svg";
const TONES = { "✖": "bad", "▲": "watch", "◆": "key" };

const byId = (id) => document.getElementById(id);
const theme = new URLSearchParams(location.search).get("theme");
if (theme) document.documentElement.dataset.theme = theme;

let entries = {}, order = [], page = null, version = "";
// Times of a monotonic clock, which nobody can set.
let spokeAt = performance.now(), spoken = "", connectedAt = 0, source = null;
const shapes = new Map(); // elements of each event, by box and id
let unfitted = new Set(); // names that may not fit into their element

function connect() {
  if (source) source.close();
  connectedAt = performance.now();
  source = new EventSource("updates");
  source.onmessage = (message) => {
    if (message.lastEventId !== spoken) spokeAt = performance.now(); // a repeated picture is no news
    spoken = message.lastEventId;
    showVersion(spoken.split("-")[0]);
    show(JSON.parse(message.data));
    watch();
  };
}

function watch() {
  const silent = Math.floor((performance.now() - spokeAt) / 1000);
  const lost = silent >= LOST_AFTER;
  document.body.classList.toggle("is-lost", lost);
  byId("lost").hidden = !lost;
  if (lost) {
    const age = silent < 60 ? `${silent} s` : `${Math.floor(silent / 60)} min`;
    setText(byId("lost"), `✖ NO PICTURE for ${age}: the wallboard does not respond`);
    setText(byId("clock"), "--:--:--");
    setText(byId("summary"), "No picture: the wallboard does not respond");
    document.title = "✖ NO PICTURE";
    if (Math.min(performance.now() - connectedAt, performance.now() - spokeAt) > RECONNECT_AFTER * 1000) connect();
  }
  document.body.dataset.shift = Math.floor(Date.now() / 1000 / SHIFT_SECONDS) % 4;
  if (page) turnPage();
}

function showVersion(served) {
  if (version && version !== served) location.reload(); // a different livedeck serves a different script
  version = served;
}

function show(update) {
  const layout = shapeOf(page);
  if (update.order) order = update.order;
  const known = new Set(order);
  entries = Object.fromEntries(Object.entries({ ...entries, ...update.entries }).filter(([id]) => known.has(id)));
  page = update;
  showHead(update.head);
  const times = Object.fromEntries(order.map((id, place) => [id, update.times[place]]));
  const changed = new Set(Object.keys(update.entries ?? {}));
  showAll("tiles", update.has_tiles ? order : [], "article", makeTile, paintTile, times, changed);
  showAll("wrong", update.wrong, "article", makeWrong, paintWrong, times, changed);
  showAll("cells", update.has_tiles ? [] : order, "li", makeCell, paintCell, times, changed);
  byId("tiles").dataset.count = order.length;
  byId("cells").dataset.columns = columnsFor(order.length);
  turnPage();
  if (layout !== shapeOf(update)) fitAllNames();
  fitNames();
}

// Return the properties that determine the room for names.
const shapeOf = (shown) => shown && [shown.has_tiles, shown.wrong.length, order.length, shown.head.banners.length].join();

function showHead(head) {
  const counts = byId("counts");
  keep(counts, head.counts, (node, [glyph, count, word, tone]) => {
    node.dataset.tone = tone;
    setParts(node, [["i", glyph], ["b", count], ["span", word]]);
  });
  setText(byId("summary"), head.summary);
  setText(byId("clock"), head.clock);
  setText(byId("local"), head.local);
  setText(byId("age"), head.age);
  setText(byId("filtered"), head.filtered);
  setText(byId("legend"), head.legend);
  keep(byId("next"), head.upcoming, (node, [name, time], place) => {
    setParts(node, [["span", place ? "" : "next "], ["bdi", name], ["b", time]]);
  });
  keep(byId("banners"), head.banners, (node, [text, isCritical, isHeadline]) => {
    node.className = `${isCritical ? "is-critical" : ""} ${isHeadline ? "is-headline" : ""}`;
    setText(node, text);
  });
  const [title, note] = head.empty;
  byId("empty").hidden = !title;
  setText(byId("title"), title);
  setText(byId("note"), note);
  document.body.classList.toggle("is-stale", head.is_stale);
  document.body.classList.toggle("is-idle", head.is_idle);
  document.title = head.counts.map(([glyph, count]) => `${glyph} ${count}`).join("  ");
}

// Show elements in the order of the ids. An existing event keeps its element, and so its place.
function showAll(where, ids, tag, make, paint, times, changed) {
  const box = byId(where);
  box.hidden = !ids.length;
  const wanted = new Set(ids);
  for (const node of [...box.children]) {
    if (!wanted.has(node.dataset.id)) {
      shapes.delete(where + node.dataset.id);
      node.remove();
    }
  }
  ids.forEach((id, place) => {
    let shape = shapes.get(where + id);
    const isNew = !shape;
    if (isNew) {
      shape = make(element(tag));
      shape.node.dataset.id = id;
      shapes.set(where + id, shape);
    }
    if (box.children[place] !== shape.node) box.insertBefore(shape.node, box.children[place] ?? null);
    const entry = entries[id];
    if (isNew || changed.has(id)) paint(shape, entry);
    const time = times[id] === "-" ? "" : times[id];
    if (shape.time) setText(shape.time, time);
    setAttribute(shape.node, "aria-label", [entry.label[0], time && ` ${time}`, entry.label[1]].join(""));
  });
}

function makeTile(node) {
  node.className = "tile";
  const bar = element("p", "bar", node), top = element("div", "top", node), low = element("div", "low", node);
  const words = element("div", "words", top);
  const shape = {
    node, lamp: element("i", "lamp", bar), tally: element("span", "tally", bar), why: element("span", "why", bar),
    time: element("b", "time", bar), name: element("h2", "name", words), detail: element("p", "detail", words),
    health: element("p", "health", top), poster: element("div", "poster", low), chart: element("div", "chart", low),
    numbers: element("div", "numbers", low),
  };
  shape.name.dir = "auto";
  for (const part of [bar, shape.detail, shape.health, shape.chart, shape.numbers]) part.setAttribute("aria-hidden", "true");
  return shape;
}

function paintTile(shape, entry) {
  paintCommon(shape, entry);
  setText(shape.lamp, entry.lamp);
  shape.lamp.classList.toggle("is-lit", entry.is_lit);
  setText(shape.tally, entry.sign ? `${entry.tally}  ${entry.sign}` : entry.tally);
  setText(shape.why, entry.why ? `${entry.glyph} ${entry.why}` : entry.tone === "good" ? `${entry.glyph} good` : "");
  setText(shape.detail, entry.detail ?? "");
  setParts(shape.health, [["b", entry.health ?? ""], ["span", entry.health > 0 ? "of 100" : ""]]);
  keep(shape.numbers, entry.numbers ?? [], (node, [value, unit, isWrong]) => {
    node.className = `${isWrong ? "is-wrong" : ""} ${value === "--" ? "is-missing" : ""}`;
    setParts(node, unit === "out" || unit === "viewers" ? [["span", `${unit} `], ["b", value]] : [["b", value], ["span", ` ${unit}`]]);
  });
  showPoster(shape.poster, entry);
  showChart(shape.chart, entry);
}

function makeWrong(node) {
  node.className = "wrong";
  const poster = element("div", "poster", node), words = element("div", "words", node), name = element("h2", "name", words);
  const line = element("p", "line", words), health = element("p", "health", node);
  const shape = {
    node, poster, name, health, why: element("b", "chip", line), detail: element("span", "detail", line),
  };
  name.dir = "auto";
  for (const part of [line, health]) part.setAttribute("aria-hidden", "true");
  return shape;
}

function paintWrong(shape, entry) {
  paintCommon(shape, entry);
  setText(shape.why, `${entry.glyph} ${entry.why || entry.tally}`);
  setText(shape.detail, entry.detail ?? "");
  setText(shape.health, entry.health ?? "");
  showPoster(shape.poster, entry);
}

function makeCell(node) {
  node.className = "cell";
  const name = element("span", "name", node), line = element("span", "line", node), chart = element("span", "chart", node);
  name.dir = "auto";
  for (const part of [line, chart]) part.setAttribute("aria-hidden", "true");
  return { node, name, chart, health: element("b", "health", line), why: element("span", "why", line) };
}

function paintCell(shape, entry) {
  paintCommon(shape, entry);
  setText(shape.health, `${entry.glyph} ${entry.health ?? ""}`);
  shape.node.classList.toggle("is-odd", Boolean(entry.sign));
  setText(shape.why, entry.why || entry.sign || entry.rate || (entry.health ? "" : entry.tally.toLowerCase()));
  shape.node.dataset.long = [...entry.name].length > 18;
  if (entry.curve) showChart(shape.chart, entry);
  shape.chart.hidden = !entry.curve;
}

function paintCommon(shape, entry) {
  shape.node.dataset.tone = entry.tone;
  if (shape.name.dataset.name !== entry.name) {
    shape.name.dataset.name = entry.name;
    setText(shape.name, entry.name);
    unfitted.add(shape.name);
  }
}

// Show the event's picture once it is loaded, and the initials of its name until then: never a broken picture.
// A picture that viewers get stays until the next one is loaded, and says in words what it shows.
function showPoster(box, entry) {
  box.dataset.tint = entry.tint ?? 0;
  const address = entry.picture || entry.poster || "", alt = entry.picture ? entry.alt : "";
  if (!box.firstChild) element("span", "initials", box), element("span", "caption", box);
  setText(box.children[0], entry.initials ?? "");
  setText(box.children[1], entry.caption ?? "");
  setAttribute(box, "aria-hidden", String(!alt));
  for (const part of [box.children[0], box.children[1]]) part.setAttribute("aria-hidden", "true");
  box.classList.toggle("is-faded", Boolean(entry.is_faded));
  const old = box.querySelector("img");
  if (old) setAttribute(old, "alt", alt);
  if (box.dataset.poster === address) return;
  box.dataset.poster = address;
  if (old && !entry.picture) old.remove();
  if (address) loadPoster(box, address, alt);
}

function loadPoster(box, address, alt) {
  const picture = new Image();
  picture.alt = alt;
  picture.onload = () => {
    if (box.dataset.poster !== address) return;
    box.querySelector("img")?.remove();
    box.append(picture);
  };
  picture.onerror = () => setTimeout(() => {
    if (box.isConnected && box.dataset.poster === address) loadPoster(box, address, alt);
  }, 60000);
  picture.src = address;
}

function showChart(box, entry) {
  const key = JSON.stringify([entry.curve, entry.note]);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren();
  if (!entry.curve) {
    setText(box, entry.note ?? "");
    return;
  }
  const { values, faults = [], unwatched = [] } = entry.curve;
  const chart = vector("svg", { viewBox: `0 0 ${values.length} 1100`, preserveAspectRatio: "none" }, box);
  vector("path", { class: "grid", d: [0, 1, 2, 3].map((line) => `M0 ${1000 - line * 333}H${values.length}`).join("") }, chart);
  const runs = [];
  values.forEach((value, place) => {
    if (value === null) return;
    if (!place || values[place - 1] === null) runs.push([]);
    runs.at(-1).push([place, 1000 - value]);
  });
  const line = (run) => run.map(([x, y]) => `${x} ${y}H${x + 1}`).join("L");
  vector("path", { class: "area", d: runs.map((run) => `M${run[0][0]} 1000V${run[0][1]}L${line(run)}V1000Z`).join("") }, chart);
  for (const [start, end] of unwatched) {
    vector("rect", { class: "unwatched", x: start, y: 0, width: end - start, height: 1100 }, chart);
  }
  for (const [start, end, glyph] of faults) {
    const tone = TONES[glyph] ?? "key";
    vector("rect", { class: `shade ${tone}`, x: start, y: 0, width: end - start, height: 1000 }, chart);
    vector("rect", { class: `strip ${tone}`, x: start, y: 1040, width: end - start, height: 60 }, chart);
  }
  const dots = (run) => run.length > 1 ? run.map(([x, y]) => `${x + 0.5} ${y}`).join("L") : line(run);
  vector("path", { class: "curve", d: runs.map((run) => `M${dots(run)}`).join("") }, chart);
}

// Return the number of columns at which a cell is about twice as wide as high.
function columnsFor(count) {
  return [[20, 5], [30, 6], [48, 8], [60, 10], [84, 12]].find(([most]) => count <= most)?.[1] ?? 15;
}

// If not all cells fit, faulty events stay on every page and the others take turns.
function turnPage() {
  const box = byId("cells"), cells = [...box.children];
  const isScrolled = getComputedStyle(document.documentElement).getPropertyValue("--scrolled").trim() === "1";
  let fitting = order.length;
  if (cells.length && !isScrolled) {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const kind = innerWidth < innerHeight ? "portrait" : "landscape";
    const columns = getComputedStyle(box).gridTemplateColumns.split(" ").length;
    fitting = columns * Math.max(1, Math.floor(box.clientHeight / (MIN_ROW[kind] * rem)));
  }
  const isWrong = (id) => entries[id].tone === "bad" || entries[id].tone === "watch";
  const wrong = order.filter(isWrong).slice(0, fitting - 1), onEach = new Set(wrong);
  const other = order.filter((id) => !onEach.has(id));
  const pages = fitting < order.length ? Math.ceil(other.length / (fitting - wrong.length)) : 1;
  const now = Math.floor(Date.now() / 1000 / page.page_seconds) % pages, length = Math.ceil(other.length / pages);
  const shown = pages > 1 ? new Set([...wrong, ...other.slice(now * length, (now + 1) * length)]) : new Set(order);
  for (const node of cells) {
    const hide = !shown.has(node.dataset.id);
    if (node.hidden !== hide) {
      node.hidden = hide;
      unfitted.add(node.querySelector(".name"));
    }
  }
  setText(byId("page"), pages > 1 ? `page ${now + 1}/${pages}` : "");
}

function fitAllNames() {
  for (const shape of shapes.values()) {
    setText(shape.name, shape.name.dataset.name);
    unfitted.add(shape.name);
  }
}

// Make long names smaller, then cut their middle: similar names mostly differ at the end.
function fitNames() {
  const changed = [...unfitted].filter((node) => node.offsetParent);
  unfitted = new Set();
  for (const node of changed) node.classList.remove("is-small");
  const tight = changed.filter((node) => !fits(node));
  for (const node of tight) node.classList.add("is-small");
  const overflowing = tight.filter((node) => !fits(node));
  for (const node of overflowing) {
    const name = node.dataset.name, letters = [...new Intl.Segmenter().segment(name)].map((part) => part.segment);
    const tail = name.trim().split(/\s/).at(-1);
    const kept = Math.min([...new Intl.Segmenter().segment(tail)].length + 1, MAX_TAIL, Math.floor(letters.length / 2));
    let low = 0, high = letters.length - kept;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      setText(node, cut(letters, middle, kept));
      if (fits(node)) low = middle; else high = middle - 1;
    }
    setText(node, cut(letters, low, kept));
  }
}

const fits = (node) => node.scrollHeight <= node.clientHeight + 1 && node.scrollWidth <= node.clientWidth + 1;
const cut = (letters, head, tail) => `${letters.slice(0, head).join("").trimEnd()}…${letters.slice(-tail).join("").trimStart()}`;

function element(tag, name, parent) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (parent) parent.append(made);
  return made;
}

function vector(tag, attributes, parent) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
}

function setText(node, text) {
  const wanted = String(text);
  if (node.textContent !== wanted) node.textContent = wanted;
}

function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

function setParts(node, parts) {
  keep(node, parts, (child, [, text]) => setText(child, text), (place) => parts[place][0]);
}

// Keep one child for each value, and paint it in place.
function keep(box, values, paint, tagOf = () => "span") {
  while (box.children.length > values.length) box.lastElementChild.remove();
  values.forEach((value, place) => paint(box.children[place] ?? element(tagOf(place), "", box), value, place));
}

addEventListener("resize", () => { fitAllNames(); if (page) turnPage(); fitNames(); });
setInterval(watch, 1000);
connect();
