// The page around the arena's client: canvas, panels and devices. The rules of the game are
// in Go. README.md has the layout of the draw list and of the events.
"use strict";

const header = 16, record = 8;
const event = {key: 1, axis: 2, button: 3, aim: 4, setting: 5, release: 6};
const setting = {rtt: 1, jitter: 2, loss: 3, burst: 4, duplicate: 5, reorder: 6, bandwidth: 7, preset: 8, spike: 9, freeze: 10,
	prediction: 11, reconciliation: 12, smoothing: 13, interpolation: 14, lagCompensation: 15, lateInputs: 16};

const page = {
	go: null, keys: new Map(), queued: [], state: {}, layers: {}, started: performance.now(), playing: 0,
	frames: 0, fps: 0, counted: performance.now(), drawn: 0, errors: [],
};
window.arena = page; // for tests and scripts: arena.read(), arena.set(name, value)

addEventListener("error", e => page.errors.push(String(e.message)));
addEventListener("unhandledrejection", e => page.errors.push(String(e.reason)));

const canvas = document.getElementById("field"), pen = canvas.getContext("2d");
let scale = 1, half = 20, colours = {};

// ---- the client

window.arenaReady = go => {
	page.go = go;
	go.keys.forEach((name, i) => page.keys.set(name, i));
	makePresets(go.presets);
	requestAnimationFrame(tick);
	setInterval(show, 250);
};

async function start() {
	const program = new Go();
	try {
		const made = await WebAssembly.instantiateStreaming(fetch("client.wasm"), program.importObject);
		program.run(made.instance).then(() => say("The client has ended. Reload the page."));
	} catch (e) {
		say("The client does not start: " + e);
		page.errors.push(String(e));
	}
}

function say(text) {
	const status = document.getElementById("status");
	if (status.textContent !== text) status.textContent = text;
}

function push(kind, which, value) { page.queued.push(kind, which, value); }

// tick is a frame: events in, draw list out.
function tick() {
	pollPads();
	endTap();
	const events = page.go.events, n = Math.min(page.queued.length, events.length - events.length % 3);
	for (let i = 0; i < n; i++) events[i] = page.queued[i];
	page.queued.splice(0, n);
	const size = page.go.frame(n);
	if (size > 0) draw(page.go.list.subarray(0, size));
	page.frames++;
	requestAnimationFrame(tick);
}

page.read = () => Object.assign({}, page.go ? page.go.state() : {state: "loading"}, {
	firstPlaying: page.playing, pageFps: page.fps, errors: page.errors.slice(), visibility: document.visibilityState, frames: page.frames,
});
page.set = (name, value) => push(event.setting, setting[name], value);
page.key = (name, down) => push(event.key, page.keys.get(name), down ? 1 : 0);

// ---- drawing

function fit() {
	const size = Math.max(1, Math.round(Math.min(canvas.clientWidth, canvas.clientHeight || canvas.clientWidth) * Math.min(devicePixelRatio || 1, 2)));
	if (canvas.width !== size) canvas.width = canvas.height = size;
	scale = size / (2 * half);
}

function readColours() {
	const style = getComputedStyle(document.documentElement);
	for (const name of ["ground", "wall", "team0", "team1", "own", "tracer", "now", "told", "raw", "used", "had", "saw", "text"])
		colours[name] = style.getPropertyValue("--" + name).trim();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);

const X = x => (x + half) * scale, Y = y => (half - y) * scale;

function circle(x, y, r, colour, width, dash) {
	pen.beginPath();
	pen.arc(X(x), Y(y), r * scale, 0, 2 * Math.PI);
	pen.setLineDash(dash || []);
	pen.lineWidth = width * scale;
	pen.strokeStyle = colour;
	pen.stroke();
	pen.setLineDash([]);
}

function line(x, y, x2, y2, colour, width, dash) {
	pen.beginPath();
	pen.moveTo(X(x), Y(y));
	pen.lineTo(X(x2), Y(y2));
	pen.setLineDash(dash || []);
	pen.lineWidth = width * scale;
	pen.strokeStyle = colour;
	pen.stroke();
	pen.setLineDash([]);
}

// A ghost has a colour and a dash of its own, so that no one needs to tell colours apart.
const ghosts = {
	1: {layer: "ownNow", colour: "now", dash: []}, 2: {layer: "ownTold", colour: "told", dash: [.3, .3]},
	3: {layer: "raw", colour: "raw", dash: [.08, .2]}, 4: {layer: "othersNow", colour: "now", dash: [.6, .2]},
};
const rings = {1: {colour: "saw", dash: []}, 2: {colour: "used", dash: [.25, .15]}, 3: {colour: "had", dash: [.08, .16]}};
const scaled = dash => dash.map(d => d * scale);

function draw(l) {
	half = l[10] || half;
	fit();
	pen.fillStyle = colours.ground;
	pen.fillRect(0, 0, canvas.width, canvas.height);
	for (let at = header, n = l[0]; n > 0; n--, at += record) {
		const x = l[at + 1], y = l[at + 2], a = l[at + 3], b = l[at + 4], c = l[at + 5], d = l[at + 6];
		switch (l[at]) {
		case 1:
			pen.fillStyle = colours.wall;
			pen.fillRect(X(x), Y(b), (a - x) * scale, (b - y) * scale);
			break;
		case 2: body(x, y, a, b, c, d); break;
		case 3: line(x - Math.cos(a) * .35, y - Math.sin(a) * .35, x + Math.cos(a) * .35, y + Math.sin(a) * .35, colours.had, .22); break;
		case 4:
			pen.globalAlpha = (1 - c) * (d ? .9 : .45);
			line(x, y, a, b, colours.tracer, d ? .1 : .06);
			pen.globalAlpha = 1;
			break;
		case 5: {
			const g = ghosts[b];
			if (g && page.layers[g.layer]) circle(x, y, a, colours[g.colour], .09, scaled(g.dash));
			break;
		}
		case 6:
			if (page.layers.shot && rings[b]) circle(x, y, a * (1 + .12 * (b - 1)), colours[rings[b].colour], .1, scaled(rings[b].dash));
			break;
		case 7:
			if (page.layers.shot) line(x, y, a, b, c ? colours.used : colours.had, .05, scaled([.3, .2]));
			break;
		}
	}
	if (l[15] > 0) {
		pen.globalAlpha = l[15] * .35;
		pen.lineWidth = scale;
		pen.strokeStyle = colours.had;
		pen.strokeRect(0, 0, canvas.width, canvas.height);
		pen.globalAlpha = 1;
	}
}

// body draws a player. Teams differ in colour and in shape: a disc, or a disc with a bar.
function body(x, y, angle, team, health, flags) {
	const dead = flags & 1, stunned = flags & 2, own = flags & 4, r = .5 * scale;
	pen.globalAlpha = dead ? .25 : 1;
	pen.beginPath();
	pen.arc(X(x), Y(y), r, 0, 2 * Math.PI);
	pen.fillStyle = team ? colours.team1 : colours.team0;
	pen.fill();
	line(x, y, x + Math.cos(angle) * .85, y + Math.sin(angle) * .85, colours.own, .14);
	if (team) line(x - .32, y, x + .32, y, colours.ground, .14);
	if (own) circle(x, y, .62, colours.own, .12);
	if (stunned) circle(x, y, .8, colours.tracer, .1, scaled([.15, .2]));
	if (!dead && health < 1) {
		pen.fillStyle = colours.wall;
		pen.fillRect(X(x - .6), Y(y + 1), 1.2 * scale, .16 * scale);
		pen.fillStyle = colours.own;
		pen.fillRect(X(x - .6), Y(y + 1), 1.2 * health * scale, .16 * scale);
	}
	pen.globalAlpha = 1;
}

// ---- devices

// keyName turns a browser's code of a key into the name in package input.
function keyName(code) {
	const simple = {ShiftLeft: "shift_left", ShiftRight: "shift_right", ControlLeft: "control_left", ControlRight: "control_right",
		AltLeft: "alt_left", AltRight: "alt_right", ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down"};
	if (simple[code]) return simple[code];
	if (/^Key[A-Z]$/.test(code)) return code[3].toLowerCase();
	if (/^Digit\d$/.test(code)) return code[5];
	return code.replace(/([a-z])([A-Z0-9])/g, "$1_$2").toLowerCase();
}

// works says whether a key works the control that has the focus.
function works(control, code) {
	if (control instanceof HTMLButtonElement) return /^(Space|Enter|NumpadEnter)$/.test(code);
	if (!(control instanceof HTMLInputElement)) return control instanceof HTMLSelectElement || control instanceof HTMLTextAreaElement;
	if (control.type === "checkbox") return /^(Space|Enter|NumpadEnter)$/.test(code);
	return control.type !== "range" || /^(Arrow|Page|Home$|End$)/.test(code);
}

// plays says whether a key is the game's: in a panel, the control that has the focus comes first.
const plays = e => !e.ctrlKey && !e.metaKey && !e.altKey && !works(e.target, e.code);

// After a click in the panels all keys are the game's again, also Space. Who came by keys
// stays at the control.
let clicked = false;
addEventListener("pointerdown", e => { clicked = Boolean(e.target.closest?.("#panels")); });
addEventListener("keydown", () => { clicked = false; }, true);
for (const name of ["click", "change"]) document.getElementById("panels").addEventListener(name, () => {
	// A label gives its control the focus after the click. Tab goes on from a control that is left.
	if (clicked) setTimeout(() => { if (document.activeElement.closest("#panels")) document.activeElement.blur(); });
});

addEventListener("keydown", e => {
	const i = page.keys.get(keyName(e.code));
	if (i === undefined || !plays(e) || e.code === "Tab") return;
	if (e.code.startsWith("Arrow") || e.code === "Space") e.preventDefault();
	if (!e.repeat) push(event.key, i, 1);
});
addEventListener("keyup", e => {
	const i = page.keys.get(keyName(e.code));
	if (i !== undefined) push(event.key, i, 0);
});
addEventListener("blur", () => push(event.release, 0, 0));

function place(e) {
	const box = canvas.getBoundingClientRect(), size = Math.min(box.width, box.height);
	return [((e.clientX - box.left - (box.width - size) / 2) / size * 2 - 1) * half, (1 - (e.clientY - box.top - (box.height - size) / 2) / size * 2) * half];
}
const mouseButtons = ["mouse_left_button", "mouse_middle_button", "mouse_right_button", "mouse_back_button", "mouse_forward_button"];
const touches = new Map(); // by pointer, one a half: where and when it began, whether it was dragged, whether it fires
const trigger = 7, reach = 48, tapMs = 300, shotMs = 70; // a tap fires for two ticks

let tap = null;
// endTap lets go of the trigger that a tap pulled, once a frame has seen it.
function endTap() {
	if (!tap || page.frames === tap.frame || performance.now() - tap.at < shotMs) return;
	tap = null;
	if (![...touches.values()].some(t => !t.left && t.fires)) push(event.button, trigger, 0);
}

canvas.addEventListener("pointerdown", e => {
	canvas.focus({preventScroll: true});
	canvas.setPointerCapture(e.pointerId);
	e.preventDefault();
	if (e.pointerType === "touch") {
		const box = canvas.getBoundingClientRect(), left = e.clientX < box.left + box.width / 2;
		if (![...touches.values()].some(t => t.left === left)) touches.set(e.pointerId, {left, x: e.clientX, y: e.clientY, at: performance.now(), dragged: false, fires: false});
		return;
	}
	push(event.aim, ...place(e));
	push(event.key, page.keys.get(mouseButtons[e.button]), 1);
});
canvas.addEventListener("pointermove", e => {
	const t = touches.get(e.pointerId);
	if (!t) {
		if (e.pointerType !== "touch") push(event.aim, ...place(e));
		return;
	}
	const x = Math.max(-1, Math.min(1, (e.clientX - t.x) / reach)), y = Math.max(-1, Math.min(1, (e.clientY - t.y) / reach));
	push(event.axis, t.left ? 0 : 2, x);
	push(event.axis, t.left ? 1 : 3, y);
	t.fires = !t.left && Math.hypot(x, y) > .3;
	t.dragged ||= t.fires;
	if (!t.left) push(event.button, trigger, t.fires ? 1 : 0);
});
for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, e => {
	const t = touches.get(e.pointerId);
	if (!t) {
		if (e.pointerType !== "touch") push(event.key, page.keys.get(mouseButtons[Math.max(0, e.button)]), 0);
		return;
	}
	touches.delete(e.pointerId);
	push(event.axis, t.left ? 0 : 2, 0);
	push(event.axis, t.left ? 1 : 3, 0);
	if (t.left) return;
	const tapped = name === "pointerup" && !t.dragged && performance.now() - t.at < tapMs;
	if (tapped) tap = {at: performance.now(), frame: page.frames};
	push(event.button, trigger, tapped ? 1 : 0);
});
canvas.addEventListener("contextmenu", e => e.preventDefault());

const pads = [[], [], [], []]; // what each one held: axes, and buttons from 8 on
// unplugged lets go of what a pad held that is gone.
function unplugged(was, source) {
	was.forEach((v, i) => { if (v) push(i < 8 ? event.axis : event.button, i < 8 ? source * 8 + i : source * 32 + i - 8, 0); });
	was.length = 0;
}
function pollPads() {
	if (!navigator.getGamepads) return;
	const there = Array.from(navigator.getGamepads()).filter(pad => pad && pad.connected && pad.mapping === "standard" && pad.index < pads.length);
	pads.forEach((was, i) => { if (was.length && !there.some(pad => pad.index === i)) unplugged(was, i + 1); });
	for (const pad of there) {
		const was = pads[pad.index], source = pad.index + 1;
		pad.axes.slice(0, 4).forEach((v, i) => { if (was[i] !== v) push(event.axis, source * 8 + i, was[i] = v); });
		pad.buttons.slice(0, 17).forEach((b, i) => { if (was[8 + i] !== b.value) push(event.button, source * 32 + i, was[8 + i] = b.value); });
	}
}

// ---- panels

const sliders = [
	["rtt", "Round trip", 0, 600, 10, "ms"], ["jitter", "Jitter, each way", 0, 250, 5, "ms"], ["loss", "Loss", 0, 50, 1, "%"],
	["burst", "Loss comes in runs of", 0, 20, 1, ""], ["duplicate", "Duplicates", 0, 50, 1, "%"], ["reorder", "Reordering", 0, 50, 1, "%"],
	["bandwidth", "Bandwidth (0: any)", 0, 1000, 10, "kbit/s"],
];
const techniques = [
	["prediction", "Prediction: you move at once"], ["reconciliation", "Reconciliation: corrected by the server"], ["smoothing", "Smoothing: corrections fade"],
	["interpolation", "Interpolation: others move evenly"], ["lagCompensation", "Lag compensation: shots hit what you saw"], ["lateInputs", "Late inputs: run in their own tick"],
];
const layers = [
	["ownNow", "Where the server has you now", "now", []], ["ownTold", "What it last told you", "told", [5, 5]], ["raw", "Others: raw snapshots", "raw", [2, 4]],
	["othersNow", "Others: where the server has them", "now", [8, 3]], ["shot", "Your last shot: you saw (line), server used (dashes), server had (dots)", "saw", []],
];

function make(tag, of, ...inside) {
	const e = Object.assign(document.createElement(tag), of);
	e.append(...inside);
	return e;
}

const inputs = {};
function makePanels() {
	for (const [name, text, low, high, step, unit] of sliders) {
		const input = make("input", {type: "range", min: low, max: high, step, value: 0, id: name}), output = make("output", {htmlFor: name});
		input.addEventListener("input", () => { page.set(name, Number(input.value)); label(); });
		const label = () => { output.textContent = Math.round(Number(input.value) * 10) / 10 + " " + unit; };
		inputs[name] = {input, label};
		label();
		document.getElementById("sliders").append(make("label", {className: "slider"}, make("span", {textContent: text}), input, output));
	}
	for (const [name, text] of techniques) {
		const input = make("input", {type: "checkbox", checked: true, id: name});
		input.addEventListener("change", () => page.set(name, input.checked ? 1 : 0));
		inputs[name] = {input};
		document.getElementById("techniques").append(make("label", {}, input, make("span", {textContent: text})));
	}
	for (const [name, text, colour, dash] of layers) {
		const input = make("input", {type: "checkbox", id: "layer-" + name, checked: name === "shot"});
		page.layers[name] = input.checked;
		input.addEventListener("change", () => { page.layers[name] = input.checked; });
		const ns = "http://www.w3.org/2000/svg", key = document.createElementNS(ns, "svg"), ring = document.createElementNS(ns, "circle");
		key.setAttribute("class", "key");
		key.setAttribute("viewBox", "0 0 22 22");
		key.setAttribute("aria-hidden", "true");
		for (const [k, v] of Object.entries({cx: 11, cy: 11, r: 8, fill: "none", "stroke-width": 2.5, "stroke-dasharray": dash.join(" ")})) ring.setAttribute(k, v);
		ring.style.stroke = `var(--${colour})`;
		key.append(ring);
		document.getElementById("layers").append(make("label", {}, input, key, make("span", {textContent: text})));
	}
	document.getElementById("spike").addEventListener("click", () => page.set("spike", 1));
	document.getElementById("freeze").addEventListener("click", () => page.set("freeze", 1));
}

function makePresets(names) {
	names.forEach((name, i) => {
		const b = make("button", {type: "button", textContent: name, id: "preset-" + name});
		b.addEventListener("click", () => { page.set("preset", i); page.preset = name; });
		document.getElementById("presets").append(b);
	});
}

const figures = [
	["State", s => s.state + (s.stalled ? ", stalled" : "")], ["Round trip", s => s.rtt.toFixed(0) + " ms"], ["Jitter", s => s.jitter.toFixed(1) + " ms"], ["Loss", s => s.loss.toFixed(1) + " %"],
	["Your last key took", s => s.responses ? `${s.responseMs.toFixed(0)} ms (${s.responseTicks.toFixed(1)} ticks)` : "–"],
	["Inputs ahead of the server", s => s.lead.toFixed(0) + " ms"], ["Others in the past", s => s.interpolation.toFixed(0) + " ms"],
	["Input buffer, snapshot buffer", s => `${s.inputBuffer.toFixed(0)} ms, ${s.snapshotBuffer.toFixed(0)} ms`], ["Time scale", s => s.timeScale.toFixed(3)],
	["Corrections", s => `${s.mispredictions} of ${s.predicted} ticks`], ["by cause", s => Object.entries(s.causes).map(([k, n]) => `${k} ${n}`).join(", ") || "–"],
	["Last shot rewound", s => s.shotTick === undefined ? "–" : s.shotRewound.toFixed(1) + " ticks" + (s.shotHit ? ", hit" : "")],
	["Received, differing from the server", s => `${s.compared}, ${s.desyncs}`], ["Down, up", s => `${(s.down / 1000).toFixed(1)}, ${(s.up / 1000).toFixed(1)} kB/s`],
	["Frames a second", () => page.fps.toFixed(0)],
];
let cells = [];

// show brings the panels up to date, four times a second.
function show() {
	const now = performance.now();
	if (now - page.counted > 900) {
		page.fps = (page.frames - page.drawn) * 1000 / (now - page.counted);
		page.drawn = page.frames;
		page.counted = now;
	}
	const s = page.state = page.go.state();
	if (s.state === "playing" && !page.playing) page.playing = now - page.started;
	say(s.error ? s.state + ": " + s.error : s.state !== "playing" ? s.state + " …" : s.dead ? "You are dead, and respawn soon." :
		`Player ${s.player}: health ${s.health}, ${s.ammo} rounds` + (s.stunned ? ", stunned" : "") + (s.frozen ? ", frozen" : ""));
	if (s.rtt === undefined || document.hidden) return;
	const list = document.getElementById("figures");
	if (!cells.length) cells = figures.map(([name]) => {
		const dd = make("dd", {textContent: "–"});
		list.append(make("dt", {textContent: name}), dd);
		return dd;
	});
	figures.forEach(([, of], i) => { const text = of(s); if (cells[i].textContent !== text) cells[i].textContent = text; });
	for (const [name, {input, label}] of Object.entries(inputs)) {
		const v = s.settings[setting[name]];
		if (v === undefined || document.activeElement === input && input.type === "range") continue;
		if (input.type === "checkbox") input.checked = v !== 0; else { input.value = v; label(); }
	}
	for (const b of document.querySelectorAll("#presets button")) b.setAttribute("aria-pressed", String(page.preset === b.textContent));
	const why = document.getElementById("why"), texts = s.why.slice().reverse();
	if (why.dataset.of !== texts.join("\n")) {
		why.dataset.of = texts.join("\n");
		why.replaceChildren(...texts.map(t => make("li", {textContent: t})));
	}
}

makePanels();
readColours();
fit();
start();
