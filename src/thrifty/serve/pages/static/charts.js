"use strict";

// The charts of an experiment, drawn by uPlot.
(() => {
  const EVERY = 5000; // milliseconds between two looks at the numbers, at least
  const HOUR = 3600000;
  const SLOTS = 6; // arms that have a colour of their own

  // Times, in the zone of who looks.
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const short = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
  const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

  const host = document.getElementById("charts");
  if (!host) return;
  const plots = {}; // by the id of where they are
  const places = { densities: new Map(), shares: new Map() }; // arm: its colour; who is in both has the same in both
  let tag = null;
  let timer = 0;
  let period = 60; // seconds between two points

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (i) => () => css(`--c${i + 1}`);
  const pale = (i, part) => () => `color-mix(in srgb, ${css(`--c${i + 1}`)} ${part}%, transparent)`;
  const solid = (i) => () => `color-mix(in srgb, ${css(`--c${i + 1}`)} 75%, ${css("--card")})`;
  const write = (value) =>
    value == null
      ? "–"
      : Math.abs(value) >= 1000
        ? Math.round(value).toLocaleString("en")
        : value !== 0 && Math.abs(value) < 1e-4
          ? value.toExponential(1)
          : String(+value.toPrecision(3));
  const large = new Intl.NumberFormat("en", { notation: "compact" });
  const percent = (value) => (value == null ? "–" : `${(100 * value).toFixed(value > 0 && value < 0.0995 ? 1 : 0)} %`);

  function moment(seconds, precise = period < 60) {
    const at = new Date(1000 * seconds);
    const text = (precise ? clock : short).format(at);
    return at.toDateString() === new Date().toDateString() ? text : `${day.format(at)} ${text}`;
  }

  const universal = (seconds) => `${new Date(1000 * seconds).toISOString().slice(0, 19).replace("T", " ")} UTC`;

  // The numbers of the colours of some arms: those that are given, those that they had, and then what is free.
  function settle(arms, had, given = new Map()) {
    const found = new Map(arms.filter((arm) => given.has(arm)).map((arm) => [arm, given.get(arm)]));
    const taken = (slot) => [...found.values()].includes(slot);
    for (const arm of arms) if (!found.has(arm) && had.has(arm) && !taken(had.get(arm))) found.set(arm, had.get(arm));
    for (const arm of arms) if (!found.has(arm)) found.set(arm, [...Array(SLOTS).keys()].find((slot) => !taken(slot)));
    return found;
  }

  // Values between two gaps: no line is drawn to them, so they are points.
  function alone(u, series, show) {
    const values = u.data[series];
    return show ? [...values.keys()].filter((i) => values[i] != null && values[i - 1] == null && values[i + 1] == null) : null;
  }

  // The interval of each of these, as a whisker: there is no neighbour to draw a band to. sides: {slot, mean, low, high}.
  const whiskers = (sides) => (u) => {
    for (const { slot, mean, low, high } of sides) {
      u.ctx.strokeStyle = pale(slot, 45)();
      u.ctx.lineWidth = 2 * uPlot.pxRatio;
      for (const i of alone(u, mean, true)) {
        const x = u.valToPos(u.data[0][i], "x", true);
        u.ctx.beginPath();
        for (const end of [low, high]) u.ctx.lineTo(x, u.valToPos(u.data[end][i], "y", true));
        u.ctx.stroke();
      }
    }
  };

  class Chart {
    // lines: what is drawn, {slot, label, hidden, fill, width, dash}; more in options.
    constructor(id, lines, options) {
      this.place = document.getElementById(id);
      this.options = { write, ...options };
      this.shown = lines.map(({ label }) => label);
      this.legend = this.place.parentElement.insertBefore(document.createElement("ul"), this.place.nextSibling);
      this.legend.className = "legend";
      this.legend.setAttribute("aria-hidden", "true"); // the place has it as its label
      this.title = this.place.parentElement.querySelector("h2").textContent;
      this.place.setAttribute("role", "img");
      this.nothing = document.createElement("p");
      this.nothing.className = "nothing";
      this.place.append(this.nothing);
      this.lines = lines;
      this.when = document.createElement("p");
      this.when.className = "at";
      this.legend.after(this.when);
      this.items = lines.map((line) => {
        if (line.label === undefined) return null;
        const item = document.createElement("li");
        this.legend[options.stacked ? "prepend" : "append"](item); // what is drawn last is named first
        item.innerHTML = '<span class="swatch"></span><bdi class="label"></bdi><b></b>';
        item.firstChild.classList.add(`c${line.slot + 1}`);
        return item;
      });
      const axis = { stroke: () => css("--soft"), font: "12px system-ui, sans-serif", ticks: { show: false } };
      const grid = { stroke: () => css("--grid"), width: 1 };
      this.plot = new uPlot(
        {
          ...this.size(),
          legend: { show: false },
          cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 }, ...(options.time && { sync: { key: "time" } }) },
          scales: { x: { time: Boolean(options.time), range: around }, y: { range: options.range, distr: options.log ? 3 : 1 } },
          axes: [
            { ...axis, grid: { show: false }, size: 34, space: options.time ? 95 : 60, values: (u, splits) => splits.map((at) => this.tick(at, splits)) },
            { ...axis, grid, size: 58, ...(options.log && { splits: decades }), values: (u, splits) => splits.map((v) => (v == null ? "" : v >= 10000 ? large.format(v) : this.options.write(v))) },
          ],
          series: [
            {},
            ...lines.map((line) => ({
              stroke: line.hidden ? undefined : colour(line.slot),
              fill: line.fill,
              width: line.hidden ? 0 : (line.width ?? 2),
              dash: line.dash,
              points: { show: !line.hidden, size: 5, filter: alone, fill: line.hidden ? undefined : colour(line.slot) },
              spanGaps: Boolean(options.span),
            })),
          ],
          bands: options.bands,
          hooks: { setCursor: [() => this.value()], draw: [whiskers(options.sides ?? [])] },
        },
        [[0], ...lines.map(() => [null])],
        this.place,
      );
      new ResizeObserver(() => this.plot.setSize(this.size())).observe(this.place);
      this.place.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        const times = this.plot.data[0];
        if (!step || times.length === 0) return;
        event.preventDefault();
        const at = Math.min(times.length - 1, Math.max(0, (this.plot.cursor.idx ?? times.length) + step));
        this.plot.setCursor({ left: this.plot.valToPos(times[at], "x"), top: 10 });
      });
    }

    end() {
      this.plot.destroy();
      this.legend.remove();
      this.when.remove();
    }

    size() {
      return { width: Math.max(200, this.place.clientWidth), height: this.place.parentElement.classList.contains("wide") ? 264 : 232 };
    }

    tick(at, splits) {
      if (!this.options.time) return write(at);
      const span = splits.at(-1) - splits[0];
      if (span > 4 * 86400) return day.format(new Date(1000 * at));
      return (span < 600 ? clock : short).format(new Date(1000 * at));
    }

    // data: as uPlot has it; labels: of the lines, null for those that are not there; why: nothing is to be seen;
    // values: if not those drawn; alternative: for those who cannot see it, if not the last values.
    draw(data, labels, why = "", values = data, alternative = "") {
      this.values = values;
      this.shown = labels;
      this.nothing.textContent = why;
      this.nothing.hidden = why === "";
      this.plot.setData(data);
      this.value();
      const words = this.read().map(([label, value]) => `${label} ${value}`);
      const last = this.options.time && data[0].length ? ` at ${moment(data[0].at(-1), true)}` : "";
      const sums = alternative || `${last ? `Last value${last}: ` : ""}${words.join(", ")}`;
      this.place.setAttribute("aria-label", `${this.title}. ${why || sums}.`);
    }

    read() {
      return this.items.flatMap((item, i) =>
        item && this.shown[i] != null ? [[this.shown[i], this.options.write(this.at(i))]] : [],
      );
    }

    // The value of a line at a place, or its last one.
    at(i, place) {
      const values = this.values[i + 1];
      return place == null ? values.findLast((value) => value != null) : values[place];
    }

    // The legend says what is under the cursor, or was last, and when that was.
    value() {
      if (!this.values) return;
      const at = this.plot.data[0][this.plot.cursor.idx ?? this.plot.data[0].length - 1];
      this.when.hidden = at == null || Boolean(this.options.still);
      if (!this.when.hidden) this.when.textContent = this.options.time ? `${moment(at)} (${universal(at)})` : `${write(at)} s`;
      this.items.forEach((item, i) => {
        if (!item) return;
        const label = this.shown[i];
        item.hidden = label == null;
        if (item.hidden) return;
        if (item.children[1].textContent !== label) item.children[1].textContent = item.title = label;
        item.lastChild.textContent = this.options.still ? "" : this.options.write(this.at(i, this.plot.cursor.idx));
      });
    }
  }

  const around = (u, low, high) => (u.data[0].length === 1 ? [low - period, low + period] : [low, high]); // of one, uPlot makes years
  const grounded = (u, low, high) => [0, high > 0 ? 1.08 * high : 1];
  const padded = (u, low, high) => {
    if (low == null) return [0, 1];
    const room = 0.08 * (high - low) || 0.1 * Math.abs(high) || 1;
    return [low >= 0 ? Math.max(0, low - room) : low - room, high + room];
  };
  const positive = (u, low, high) => (low == null ? [1, 10] : uPlot.rangeLog(low, high, 10, true));
  const decades = (u, axis, low, high) =>
    [...Array(20).keys()].map((i) => 10 ** i).filter((value) => value >= low && value <= high);

  function chart(id, make) {
    return (plots[id] ??= make(id));
  }

  function reward({ curves }) {
    const side = (slot, label) => [{ slot, label }, { slot, hidden: true }, { slot, hidden: true }];
    const one = chart("reward", (id) => new Chart(id, [...side(0, "policy"), ...side(1, "control")], {
      time: true, range: padded, bands: [
        { series: [3, 2], fill: pale(0, 18) }, { series: [6, 5], fill: pale(1, 18) },
      ],
      sides: [{ slot: 0, mean: 1, low: 2, high: 3 }, { slot: 1, mean: 4, low: 5, high: 6 }],
    }));
    const none = curves.times.map(() => null);
    const { policy, control } = curves;
    one.draw(
      [curves.times, policy.mean, policy.low, policy.high, control?.mean ?? none, control?.low ?? none, control?.high ?? none],
      ["policy", null, null, control ? "control" : null, null, null],
      waiting(curves),
    );
  }

  const waiting = ({ times, period }) =>
    times.length ? "" : `No period is over yet. The first is drawn within ${period < 60 ? "some seconds" : "two minutes"}`;

  function shares({ curves }) {
    const one = chart("shares", (id) => new Chart(id, [SLOTS, ...[...Array(SLOTS).keys()].reverse()].map((slot) => (
      { slot, label: "", fill: solid(slot), width: 1 }
    )), { time: true, range: [0, 1], write: percent, stacked: true }));
    const columns = Array(SLOTS + 1).fill(null);
    const labels = Array(SLOTS + 1).fill(null);
    for (const [arm, values] of curves.shares) {
      const slot = places.shares.get(arm) ?? SLOTS;
      labels[slot] = slot === SLOTS ? "other arms" : arm;
      const known = values.map((value, i) => (curves.decisions[i] ? value : null));
      columns[slot] = columns[slot] ? columns[slot].map((value, i) => (value == null ? null : value + known[i])) : known;
    }
    // From below: each line is drawn on top of those under it, the highest first.
    const stacked = [];
    let sum = curves.times.map(() => 0);
    columns.forEach((values, slot) => {
      if (values) sum = sum.map((value, i) => value + values[i]);
      stacked[slot] = sum.map((value, i) => (values?.[i] == null ? null : value));
    });
    one.draw([curves.times, ...stacked.toReversed()], labels.toReversed(), waiting(curves), [
      curves.times, ...columns.map((values) => values ?? sum.map(() => null)).toReversed(),
    ]);
  }

  function densities({ densities: found }) {
    if (!found.arms.length && found.intervals.length) return intervals(found.intervals);
    if (!plots.densities) document.getElementById("densities").replaceChildren();
    const one = chart("densities", (id) => new Chart(id, [...Array(SLOTS).keys()].map((slot) => (
      { slot, label: "", fill: pale(slot, 14) }
    )), { range: grounded, still: true }));
    const none = found.x.map(() => null);
    const columns = Array(SLOTS).fill(none);
    const labels = Array(SLOTS).fill(null);
    for (const [arm, values] of found.arms) {
      const slot = places.densities.get(arm);
      [columns[slot], labels[slot]] = [values, arm];
    }
    one.draw([found.x, ...columns], labels, found.arms.length ? "" : "No rewards have been looked at yet", undefined, modes(found));
  }

  const modes = ({ x, arms }) =>
    `Most likely means: ${arms.map(([arm, values]) => `${arm} ${write(x[values.indexOf(Math.max(...values))])}`).join(", ")}`;

  // For policies without a posterior: a mean and an interval for each arm.
  function intervals(found) {
    const place = document.getElementById("densities");
    const low = Math.min(...found.map((row) => row[2]));
    const high = Math.max(...found.map((row) => row[3]));
    const at = (value) => String(4 + (92 * (value - low)) / (high - low || 1));
    const table = document.createElement("table");
    table.className = "intervals";
    for (const [arm, mean, from, to] of found) {
      const row = table.insertRow();
      const name = row.appendChild(document.createElement("th"));
      name.scope = "row";
      name.appendChild(document.createElement("bdi")).textContent = arm;
      name.firstChild.className = "name";
      row.insertCell().append(svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("line", { x1: at(from), x2: at(to), y1: 5, y2: 5 }), svg("line", { x1: at(mean) - 0.4, x2: +at(mean) + 0.4, y1: 1, y2: 9 })));
      const value = row.insertCell();
      value.className = "number";
      value.textContent = `${write(mean)} (${write(from)} to ${write(to)})`;
    }
    plots.densities?.end();
    delete plots.densities;
    place.removeAttribute("role"); // the table says it
    place.removeAttribute("aria-label");
    place.replaceChildren(table);
  }

  function svg(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function loss({ curves }) {
    const one = chart("loss", (id) => new Chart(id, [{ slot: 0, label: "", fill: pale(0, 10) }], { time: true, range: grounded, span: true }));
    const any = curves.loss.some((value) => value != null);
    one.draw([curves.times, curves.loss], ["expected loss of a decision"], waiting(curves) || (any ? "" : "This policy has no posterior to say so"));
  }

  function draws({ curves }) {
    const one = chart("draws", (id) => new Chart(id, [{ slot: 0, label: "" }, { slot: 1, label: "", dash: [6, 4] }], {
      time: true, range: positive, log: true, span: true, // a period that is noted with the next is no gap
    }));
    const any = curves.draws.some((value) => value > 0);
    const plain = (values) => values.map((value) => (value > 0 ? value : null));
    one.draw([curves.times, plain(curves.draws), plain(curves.dense)], ["spent", "a draw for each arm and decision"],
      waiting(curves) || (any ? "" : "No posterior draws were spent"));
  }

  function regret({ truth }) {
    if (!truth || !document.getElementById("regret")) return;
    const names = Object.keys(truth.curves).slice(0, SLOTS);
    const one = chart("regret", (id) => new Chart(id, [...Array(SLOTS).keys()].map((slot) => ({ slot, label: "" })), { range: grounded }));
    const none = truth.times.map(() => null);
    const columns = [...Array(SLOTS).keys()].map((i) => truth.curves[names[i]] ?? none);
    one.draw([truth.times, ...columns], [...Array(SLOTS).keys()].map((i) => names[i] ?? null), truth.times.length ? "" : "Nothing is known yet");
  }

  // New numbers when a period is over; not while nobody looks.
  async function load() {
    clearTimeout(timer);
    if (document.hidden) return;
    const answer = await fetch(host.dataset.charts, { cache: "no-cache" }).catch(() => null); // it is lost
    const shown = answer?.ok ? await answer.json().catch(() => null) : null;
    timer = setTimeout(load, shown ? until(shown.curves) : EVERY);
    if (!shown || answer.headers.get("etag") === tag) return;
    tag = answer.headers.get("etag");
    period = shown.curves.period;
    const names = (arms) => arms.map(([arm]) => arm).filter((arm) => arm !== "other arms").slice(0, SLOTS);
    places.densities = settle(names(shown.densities.arms), places.densities);
    places.shares = settle(names(shown.curves.shares), places.shares, places.densities);
    for (const draw of [reward, shares, densities, loss, draws, regret]) draw(shown);
  }

  // Milliseconds until there is more: the period behind the last one must be over. Clocks may differ, and a timer
  // that is set to more than 24 days is over at once.
  function until({ times, period }) {
    const over = times.length ? 1000 * (times.at(-1) + 2 * period + 1) - Date.now() : 0;
    return Math.min(Math.max(EVERY, Math.min(over, 2000 * period), 250 * period), HOUR);
  }

  document.addEventListener("visibilitychange", load);
  document.addEventListener("found", load); // the server, again
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const one of Object.values(plots)) one.plot.redraw(false, true);
  });
  load();
})();
