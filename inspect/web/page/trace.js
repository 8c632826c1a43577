// The trace: what each system did to a player's entities in a tick, on both ends.

import { $, list, make, shown, table } from "./tables.js";

const most = 256; // newest ticks that the page keeps, beside those around a chosen one
const again = 12; // newest ticks that are asked for once more: they may have run again, or come late
const strip = 64;
const begins = "(before the systems)";

// Memory of the page. Ticks that one end recorded alone are there too.
export const trace = { of: "", entities: [], tables: new Map(), found: new Map(), tick: null, stop: true, view: "both", state: "off", why: "", wanted: null, refusal: null };

// forget begins with another end, player or entity.
export function forget(of, entities = []) {
	Object.assign(trace, { of, entities, tick: null, stop: true, state: "off", why: "", wanted: null, refusal: null });
	trace.tables.clear();
	trace.found.clear();
	draw();
}

// file is what is traced when a file is shown.
export const file = "a file";

// open shows a client's trace beside the ticks of a server's tape, as the replay wrote them.
export function open(got) {
	if (!got.tables?.every(t => Number.isInteger(t.tick) && Array.isArray(t.rows))) throw new Error("no tables");
	forget(file);
	take({ state: "file", tables: got.tables });
}

// refuse says why a file was not opened, for long enough to read it.
export function refuse(why) {
	trace.refusal = { why, until: performance.now() + 10000 };
	draw();
}

// query is what to ask the end for: the tables that are new, and may be another now.
export function query() {
	const newest = sorted().findLast(t => both(trace.tables.get(t))) ?? 0;
	return { after: Math.max(0, newest - again), entity: trace.entities };
}

// take adds what an end answered.
export function take(got) {
	trace.state = got.state;
	trace.why = got.why ?? "";
	for (const t of got.tables) {
		const old = trace.tables.get(t.tick);
		if (old && both(old) && !both(t)) continue; // one end keeps the tick no longer
		trace.tables.set(t.tick, t);
		if (t.first) trace.found.set(t.tick, t.first);
		else trace.found.delete(t.tick);
	}
	for (const tick of sorted().slice(0, -most)) {
		if (trace.tick !== null && Math.abs(tick - trace.tick) <= strip / 2) continue; // somebody looks at them
		trace.tables.delete(tick);
		trace.found.delete(tick);
	}
	const fault = faults()[0];
	if (trace.wanted !== null && trace.tables.has(trace.wanted)) trace.wanted = null;
	if (trace.stop && trace.tick === null && fault !== undefined) choose(fault);
	draw();
}

// choose shows a tick, or follows the newest for null.
export function choose(tick) {
	trace.tick = tick;
	trace.wanted = tick !== null && !trace.tables.has(tick) ? tick : null;
	trace.stop = false;
	draw();
}

const both = t => t.client && t.server;
const sorted = () => [...trace.tables.keys()].sort((a, b) => a - b);
const faults = () => [...trace.found].filter(([, f]) => !f.excuse).map(([tick]) => tick).sort((a, b) => a - b);

// at is the tick that is shown: the chosen one, or the newest of both ends.
function at() {
	if (trace.tick !== null) return trace.tick;
	const ticks = sorted();
	return ticks.findLast(t => both(trace.tables.get(t))) ?? ticks.at(-1) ?? null;
}

function step(by) {
	const ticks = sorted(), now = at(), i = now === null ? -1 : ticks.findLastIndex(t => t <= now);
	if (ticks.length) choose(ticks[Math.max(0, Math.min(i + by, ticks.length - 1))]);
}

// kind sorts a tick for the strip. The bars differ in height, not only in colour.
function kind(t) {
	if (t.first && !t.first.excuse) return "fault";
	if (t.first) return "excused";
	if (t.inherited) return "inherited";
	if (t.command) return "command";
	return both(t) ? "same" : "alone";
}
const kinds = { fault: "a system differed", excused: "a difference without a fault of a system", inherited: "it differed before", command: "other commands", same: "equal", alone: "recorded by one end" };

const cell = (v, field, unit) => v === null || v === undefined ? "–" : field === "(entity)" || field === "(component)" ? (v ? "exists" : "does not exist") : shown(v) + (unit ? " " + unit : "");
const who = v => v.prefab + " " + (v.entity < 65536 ? v.entity : "spawned " + v.entity.toString(16).slice(-4)); // a number of the connection, or of a predicted spawn
const name = v => v.field === "(entity)" ? "exists" : v.component + "." + v.field + (v.label ? ` (${v.label})` : "");

// sentence says what the tick shows.
function sentence(t) {
	const f = t.first;
	if (f && !f.excuse) return [make("strong", { class: "bad" }, `System “${f.system}” differed first`), f.field === "(entity)" ? `: after it ${who(f)} exists on the ${f.after.client ? "client" : "server"} only.` : `, in ${name(f)} of ${who(f)}. Before it the client had ${cell(f.before.client, f.field, f.unit)} and the server ${cell(f.before.server, f.field, f.unit)}. After it the client has ${cell(f.after.client, f.field, f.unit)} and the server ${cell(f.after.server, f.field, f.unit)}.`];
	if (f) return [`${name(f)} of ${who(f)} differs after “${f.system}”, and no system has to be at fault: ${f.excuse}.`];
	if (t.command) return ["The ends ran this tick with different commands: the client's came too late, was lost or was refused. No system has to be at fault."];
	if (t.inherited) return ["The ends differed before the first system ran. Look at an earlier tick."];
	if (both(t)) return [make("strong", { class: "good" }, "✓ Both ends computed the same.")];
	return [t.client ? "The server's values of this tick did not come: a packet was lost, or there was no room in it." : "The client's values of this tick did not come, or the client has not run it."];
}

function differences(t) {
	return t.rows.flatMap(r => (r.values ?? []).filter(v => v.differs).map(v => ({ system: r.system, ...v })));
}

function draw() {
	const tick = at(), t = trace.tables.get(tick);
	const refusal = performance.now() < trace.refusal?.until ? trace.refusal.why : "";
	$("trace-status").textContent = refusal || status(t);
	$("trace-status").className = refusal || trace.state === "refused" ? "bad" : "";
	$("trace-follow").setAttribute("aria-pressed", trace.tick === null);
	$("trace-stop").checked = trace.stop;
	$("trace-view").value = trace.view;
	$("trace-tick").textContent = tick === null ? "no tick yet" : "Tick " + tick;
	drawStrip(tick);
	list($("trace-found"), [...trace.found].sort((a, b) => b[0] - a[0]).slice(0, 40), x => String(x[0]), String(tick), ([n, f]) => [`${n} · `, make("strong", {}, f.system), ` · ${f.field === "(entity)" ? who(f) + " exists on one end only" : name(f)}`, f.excuse ? make("small", {}, ` · ${f.excuse}`) : null].filter(x => x), x => choose(x[0]));
	$("trace-none").hidden = trace.found.size > 0;
	$("trace-says").setAttribute("aria-live", trace.tick === null ? "off" : "polite");
	if (!t) {
		drawn.table = null;
		$("trace-says").replaceChildren(trace.wanted === null ? "" : `Tick ${trace.wanted} is not recorded. A trace has the ticks since somebody looks, and the client's before that from its history.`);
		for (const id of ["trace-differences", "trace-table"]) $(id).replaceChildren();
		for (const id of ["trace-ordered", "trace-alone"]) $(id).hidden = true;
		return;
	}
	$("trace-says").replaceChildren(...sentence(t), t.partial ? " Not all was recorded: there was more than a trace holds." : "");
	if (drawn.table === t && drawn.view === trace.view) return; // who selects text keeps it
	Object.assign(drawn, { table: t, view: trace.view });
	drawDifferences(t);
	drawTable(t);
}
const drawn = { table: null, view: "" };

function status(t) {
	const text = { off: "Off.", asked: "It begins with the next tick.", armed: `Recording ${trace.entities.length ? "the chosen entity" : "the player's entities"}, ${trace.tables.size} ticks.`, refused: "Refused: " + trace.why + ".", file: `A client's trace beside the server's tape, ${trace.tables.size} ticks.` }[trace.state];
	return text + (trace.state === "armed" && t && !t.server ? " The server's values come with its next packets." : trace.state === "armed" && t && !t.client ? " The client's values come with its next packets." : "");
}

function drawStrip(tick) {
	const box = $("trace-strip"), ticks = sorted().slice(-strip);
	if (tick !== null && trace.tables.has(tick) && !ticks.includes(tick)) { // an older one
		const all = sorted(), i = all.indexOf(tick);
		ticks.splice(0, ticks.length, ...all.slice(Math.max(0, i - strip / 2), i + strip / 2));
	}
	box.replaceChildren(...ticks.map(n => make("span", { class: kind(trace.tables.get(n)) + (n === tick ? " now" : ""), "data-tick": n, title: `tick ${n}: ${kinds[kind(trace.tables.get(n))]}` })));
	box.setAttribute("aria-valuemin", ticks[0] ?? 0);
	box.setAttribute("aria-valuemax", ticks.at(-1) ?? 0);
	box.setAttribute("aria-valuenow", tick ?? 0);
	const t = trace.tables.get(tick);
	box.setAttribute("aria-valuetext", t ? `tick ${tick}: ${kinds[kind(t)]}` + (t.first ? `, “${t.first.system}”` : "") : "no tick");
}

function drawDifferences(t) {
	const all = differences(t), alone = all.filter(v => v.field === "(entity)");
	$("trace-ordered").hidden = all.length === 0;
	table($("trace-differences"), ["", "After", "Entity", "Field", "Client before", "Server before", "Client after", "Server after"], all.map(v => [
		v.arose ? make("strong", { class: "bad" }, "≠ first here") : "≠ still", v.system, who(v), name(v), ...[v.before.client, v.before.server, v.after.client, v.after.server].map(x => cell(x, v.field, v.unit)),
	]));
	const names = new Map(alone.reverse().map(v => [v.entity, v])); // as of where it began
	$("trace-alone").hidden = names.size === 0;
	$("trace-alone-list").replaceChildren(...[...names.values()].map(v => make("li", {}, `${who(v)}: on the ${v.after.client ? "client" : "server"} only, since “${v.system}”`)));
}

// drawTable shows each step of the tick, of both ends or of one.
function drawTable(t) {
	const ends = trace.view === "both" ? ["client", "server"] : [trace.view];
	const heads = ["System", "Entity", "Field", ...["before", "after"].flatMap(when => ends.map(e => `${e === "client" ? "Client" : "Server"} ${when}`))];
	const rows = [];
	for (const r of t.rows) {
		const values = (r.values ?? []).filter(v => trace.view === "both" || r.system === begins || JSON.stringify(v.before[trace.view]) !== JSON.stringify(v.after[trace.view]));
		if (values.length === 0 && !r.system.startsWith("(")) rows.push([r.system, make("span", { class: "dim" }, "changed nothing"), "", ...heads.slice(3).map(() => "")]);
		values.forEach((v, i) => rows.push([i === 0 ? make("strong", {}, r.system) : "", who(v), make("span", { class: v.differs && ends.length > 1 ? "bad" : false }, (v.differs && ends.length > 1 ? "≠ " : "") + name(v)),
			...["before", "after"].flatMap(when => ends.map(e => r.system === begins && when === "before" ? "" : cell(v[when][e], v.field, v.unit)))]));
	}
	table($("trace-table"), heads, rows);
	$("trace-heading").textContent = { both: "All that changed, on both ends", client: "The client's tick", server: "The server's tick" }[trace.view];
}

function see(view) {
	trace.view = view;
	draw();
}

$("trace-back").addEventListener("click", () => step(-1));
$("trace-on").addEventListener("click", () => step(1));
$("trace-follow").addEventListener("click", () => choose(trace.tick === null ? at() : null));
$("trace-first").addEventListener("click", () => {
	const fault = faults()[0];
	if (fault !== undefined) choose(fault);
});
$("trace-stop").addEventListener("change", e => { trace.stop = e.target.checked; });
$("trace-view").addEventListener("change", e => see(e.target.value));
$("trace-strip").addEventListener("click", e => { if (e.target.dataset.tick) choose(Number(e.target.dataset.tick)); });
$("trace-strip").addEventListener("keydown", e => {
	const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -8, PageDown: 8, Home: -most, End: most }[e.key], view = { c: "client", s: "server", b: "both" }[e.key];
	if (e.key === "Escape") choose(null);
	else if (by) step(by);
	else if (view) see(view);
	else return;
	e.preventDefault();
});

// read is what tests read.
export const read = () => {
	const tick = at(), t = trace.tables.get(tick);
	return { of: trace.of, state: trace.state, why: trace.why, tick: tick ?? 0, following: trace.tick === null, ticks: trace.tables.size, compared: [...trace.tables.values()].filter(both).length, faults: faults().length, first: t?.first ?? null, says: $("trace-says").textContent, view: trace.view };
};
