// Charts of one end on one time axis: lines for how something is, stacked areas for what
// fields and systems share. Colours differ in brightness, and lines in their dashes too.

const dashes = [[], [7, 3], [2, 2], [10, 3, 2, 3], [4, 4], [1, 4], [14, 4], [6, 2, 2, 2, 2, 2]];
const stacked = ["Bytes by field", "Time by system"];
const mostShown = 7; // of a stacked chart; the others are summed up

const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const short = v => {
	const a = Math.abs(v);
	if (a === 0) return "0";
	if (a >= 1e6) return (v / 1e6).toFixed(1) + " M";
	if (a >= 1e4) return (v / 1e3).toFixed(1) + " k";
	return a >= 100 ? v.toFixed(0) : a >= 10 ? v.toFixed(1) : a >= 0.1 ? v.toFixed(2) : v.toPrecision(2);
};

// Samples are the newest of an end.
export class Samples {
	constructor(series, most) {
		this.series = series;
		this.most = most;
		this.ticks = [];
		this.values = [];
		this.next = 0;
	}
	add(got) {
		for (let i = 0; i < got.ticks.length; i++) {
			const n = this.ticks.length;
			if (n > 0 && this.ticks[n - 1] === got.ticks[i]) { // a client's tick has several frames
				this.values[n - 1] = got.values[i];
				continue;
			}
			this.ticks.push(got.ticks[i]);
			this.values.push(got.values[i]);
		}
		const over = this.ticks.length - this.most;
		if (over > 0) {
			this.ticks.splice(0, over);
			this.values.splice(0, over);
		}
		this.next = got.next;
	}
	// index returns where a tick is, or -1 for the newest.
	index(tick) {
		if (tick === null) return -1;
		for (let i = this.ticks.length - 1; i >= 0; i--) if (this.ticks[i] <= tick) return i;
		return 0;
	}
}

class Chart {
	constructor(board, name, members) {
		this.board = board;
		this.name = name;
		this.members = members; // indices of series
		this.stacked = stacked.includes(name);
		this.unit = board.samples.series[members[0]].unit;
		this.figure = document.createElement("figure");
		if (this.stacked) this.figure.className = "wide-chart";
		const caption = document.createElement("figcaption");
		caption.append(name, Object.assign(document.createElement("span"), { textContent: this.unit }));
		this.canvas = document.createElement("canvas");
		this.canvas.tabIndex = 0;
		this.canvas.setAttribute("role", "img");
		this.canvas.setAttribute("aria-label", name + ". The values of the tick are in the list below.");
		this.legend = document.createElement("ul");
		this.legend.className = "legend";
		this.figure.append(caption, this.canvas, this.legend);
		this.shown = [];
		this.items = new Map();
		this.canvas.addEventListener("pointermove", e => this.point(e));
		this.canvas.addEventListener("pointerdown", e => this.point(e));
		this.canvas.addEventListener("pointerleave", () => board.pointed && board.look(null));
		this.canvas.addEventListener("keydown", e => this.key(e));
	}
	point(e) {
		const box = this.canvas.getBoundingClientRect(), { from, count } = this.board.range();
		const i = from + Math.round((e.clientX - box.left - this.left) / (box.width - this.left) * (count - 1));
		const tick = this.board.samples.ticks[Math.max(from, Math.min(i, from + count - 1))];
		if (tick !== undefined) this.board.look(tick, true);
	}
	key(e) {
		const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30 }[e.key];
		if (e.key === "Escape") this.board.look(null);
		if (!by) return;
		e.preventDefault();
		const s = this.board.samples, at = s.index(this.board.cursor);
		const i = (at < 0 ? s.ticks.length - 1 : at) + by;
		this.board.look(s.ticks[Math.max(0, Math.min(i, s.ticks.length - 1))] ?? null);
	}
	// choose finds what a stacked chart shows: the greatest of the window, and the rest.
	choose(from, count) {
		if (!this.stacked) return this.members.map(m => [m]);
		const sums = this.members.map(m => {
			let sum = 0;
			for (let i = from; i < from + count; i++) sum += this.board.samples.values[i][m];
			return { m, sum };
		}).filter(x => x.sum > 0).sort((a, b) => b.sum - a.sum);
		const groups = sums.slice(0, mostShown).map(x => [x.m]);
		if (sums.length > mostShown) groups.push(sums.slice(mostShown).map(x => x.m));
		return groups;
	}
	draw() {
		const { samples } = this.board, { from, count } = this.board.range();
		const ratio = window.devicePixelRatio || 1, w = this.canvas.clientWidth, h = this.canvas.clientHeight;
		if (w === 0) return;
		if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
			this.canvas.width = Math.round(w * ratio);
			this.canvas.height = Math.round(h * ratio);
		}
		const g = this.canvas.getContext("2d");
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.clearRect(0, 0, w, h);
		const groups = this.choose(from, count), value = (i, group) => {
			let sum = 0;
			for (const m of group) sum += samples.values[i][m];
			return sum;
		};
		const { low, high } = this.scale(groups, value, from, count);
		this.left = 44;
		const top = 6, bottom = h - 26;
		const x = i => this.left + (w - this.left - 2) * (count > 1 ? (i - from) / (count - 1) : 1), y = v => bottom - (bottom - top) * (v - low) / (high - low);
		this.axes(g, w, low, high, y);
		this.times(g, from, count, x, bottom);
		if (this.stacked) this.areas(g, groups, value, from, count, x, y);
		else this.lines(g, groups, value, from, count, x, y);
		this.marks(g, from, count, x, h);
		this.read(groups, value);
		this.board.draws++;
	}
	scale(groups, value, from, count) {
		let low = this.unit === "×" ? Infinity : 0, high = this.unit === "×" ? -Infinity : 0;
		for (let i = from; i < from + count; i++) {
			let sum = 0;
			for (const group of groups) {
				const v = value(i, group);
				sum += v;
				if (!this.stacked) {
					low = Math.min(low, v);
					high = Math.max(high, v);
				}
			}
			if (this.stacked) high = Math.max(high, sum);
		}
		if (!isFinite(low)) [low, high] = [0, 1];
		if (this.unit === "×") {
			const middle = (low + high) / 2, half = Math.max((high - low) / 2, 0.01) * 1.2;
			return { low: middle - half, high: middle + half };
		}
		if (high === low) high = low + 1;
		return { low: low < 0 ? low * 1.08 : 0, high: high * 1.08 };
	}
	axes(g, w, low, high, y) {
		g.font = "12px system-ui, sans-serif";
		g.fillStyle = style("--dim");
		g.strokeStyle = style("--grid");
		g.lineWidth = 1;
		g.textAlign = "right";
		g.textBaseline = "middle";
		g.setLineDash([]);
		const top = high / (this.unit === "×" ? 1 : 1.08);
		for (const v of [low, (Math.max(low, this.unit === "×" ? low : 0) + top) / 2, top]) {
			g.beginPath();
			g.moveTo(this.left, y(v));
			g.lineTo(w, y(v));
			g.stroke();
			g.fillText(this.unit === "×" ? v.toFixed(3) : short(v), this.left - 5, y(v));
		}
	}
	// times labels the axis with seconds before the newest tick.
	times(g, from, count, x, bottom) {
		const { ticks } = this.board.samples, newest = ticks.at(-1), rate = this.board.rate;
		const all = (newest - ticks[from]) / rate, step = [1, 2, 5, 10, 20, 60].find(s => all / s <= 6) ?? 300;
		g.textBaseline = "top";
		for (let s = 0; s <= all; s += step) {
			const i = this.board.samples.index(newest - Math.round(s * rate));
			if (i < from || i >= from + count) continue;
			g.textAlign = s === 0 ? "right" : "center";
			g.fillText(s === 0 ? "now" : `−${s} s`, x(i), bottom + 2);
		}
	}
	lines(g, groups, value, from, count, x, y) {
		groups.forEach((group, k) => {
			g.strokeStyle = style("--c" + k % 8);
			g.lineWidth = 1.8;
			g.setLineDash(dashes[k % 8]);
			g.beginPath();
			for (let i = from; i < from + count; i++) g.lineTo(x(i), y(value(i, group)));
			g.stroke();
		});
		g.setLineDash([]);
	}
	areas(g, groups, value, from, count, x, y) {
		const under = new Float64Array(count);
		groups.forEach((group, k) => {
			g.fillStyle = style("--c" + k % 8);
			g.strokeStyle = style("--panel");
			g.lineWidth = 1;
			g.beginPath();
			for (let i = 0; i < count; i++) g.lineTo(x(from + i), y(under[i] + value(from + i, group)));
			for (let i = count - 1; i >= 0; i--) {
				g.lineTo(x(from + i), y(under[i]));
				under[i] += value(from + i, group);
			}
			g.closePath();
			g.fill();
			g.stroke();
		});
	}
	marks(g, from, count, x, h) {
		const { samples, corrections, cursor } = this.board;
		g.fillStyle = style("--bad");
		g.textAlign = "center";
		g.textBaseline = "bottom";
		g.font = "10px system-ui, sans-serif";
		const first = samples.ticks[from], last = samples.ticks[from + count - 1];
		for (const tick of corrections) {
			if (tick >= first && tick <= last) g.fillText("▲", x(samples.index(tick)), h);
		}
		if (cursor !== null && cursor >= first && cursor <= last) {
			g.strokeStyle = style("--text");
			g.setLineDash([2, 2]);
			g.beginPath();
			g.moveTo(x(samples.index(cursor)), 0);
			g.lineTo(x(samples.index(cursor)), h - 12);
			g.stroke();
			g.setLineDash([]);
		}
	}
	// read writes the values at the cursor, or the newest.
	read(groups, value) {
		const { samples, cursor } = this.board, n = samples.ticks.length;
		const at = cursor === null ? n - 1 : samples.index(cursor);
		const key = groups.map(x => x.join()).join(" ");
		if (key !== this.key_) {
			this.key_ = key;
			this.texts = groups.map((group, k) => {
				const li = document.createElement("li"), text = document.createElement("span");
				li.append(swatch(k, this.stacked), text);
				return { li, text, name: group.length > 1 ? `${group.length} others` : samples.series[group[0]].name };
			});
			this.legend.replaceChildren(...this.texts.map(t => t.li));
		}
		if (at >= 0) this.texts.forEach((t, k) => { t.text.textContent = `${t.name} ${short(value(at, groups[k]))}`; });
		if (groups.length === 0) this.legend.replaceChildren("nothing yet");
	}
}

function swatch(k, filled) {
	const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg");
	svg.setAttribute("width", 26);
	svg.setAttribute("height", 10);
	svg.setAttribute("aria-hidden", "true");
	const mark = document.createElementNS(ns, filled ? "rect" : "line");
	for (const [a, v] of Object.entries(filled ? { x: 4, y: 0, width: 14, height: 10 } : { x1: 0, y1: 5, x2: 26, y2: 5, "stroke-width": 2.5, "stroke-dasharray": dashes[k % 8].join(" ") })) mark.setAttribute(a, v);
	mark.style[filled ? "fill" : "stroke"] = `var(--c${k % 8})`;
	svg.append(mark);
	return svg;
}

// Board draws the charts of an end.
export class Board {
	constructor(grid, onLook) {
		this.grid = grid;
		this.onLook = onLook;
		this.charts = [];
		this.corrections = [];
		this.window = 450;
		this.cursor = null; // a tick; null: the newest
		this.pointed = false;
		this.paused = false;
		this.draws = 0;
		this.rate = 30; // ticks a second of the end that is shown
		this.samples = new Samples([], 1800);
	}
	begin(series) {
		this.samples = new Samples(series, 1800);
		this.corrections = [];
		this.look(null);
		const names = [...new Set(series.map(s => s.chart))].sort((a, b) => stacked.includes(a) - stacked.includes(b));
		this.charts = names.map(name => new Chart(this, name, series.flatMap((s, i) => s.chart === name ? [i] : [])));
		this.grid.replaceChildren(...this.charts.map(c => c.figure));
	}
	add(got) {
		this.samples.add(got);
		this.due = true;
	}
	look(tick, pointed = false) {
		this.cursor = tick;
		this.pointed = pointed && tick !== null;
		this.due = true;
		this.onLook(tick);
	}
	// range returns what is in the window.
	range() {
		const n = this.samples.ticks.length, count = Math.min(n, this.window);
		let from = n - count;
		if (this.cursor !== null && !this.pointed && n > 0) { // a tick that was chosen elsewhere
			const at = this.samples.index(this.cursor);
			if (at < from) from = Math.max(0, at - (count >> 1));
		}
		return { from, count };
	}
	draw() {
		if (!this.due || this.paused && !this.forced || this.samples.ticks.length === 0 || this.grid.offsetParent === null) return;
		const all = this.changed; // the size or the colours
		this.due = this.forced = this.changed = false;
		for (const c of this.charts) {
			const box = c.figure.getBoundingClientRect();
			if (all || box.bottom > -200 && box.top < innerHeight + 200) c.draw();
		}
	}
}
