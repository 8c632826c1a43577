import { Board } from "./charts.js";
import { $, body, explanation, list, make, round, sight, table, values } from "./tables.js";
import * as tracing from "./trace.js";

// State of the page. Tests read it as window.inspector.
const page = { ends: [], end: "", edit: false, token: "", events: [], chosen: 0, entity: null, errors: [], connected: false };
const board = new Board($("grid"), look);
window.inspector = {
	page, board,
	read: () => ({ rate: board.rate, end: page.end, connected: page.connected, samples: board.samples.ticks.length, tick: board.samples.ticks.at(-1) ?? 0, draws: board.draws, charts: board.charts.map(c => c.name), events: page.events.length, corrections: page.events.filter(e => e.kind === "correction").length, errors: page.errors, trace: tracing.read() }),
};

// Late is thrown for an answer that a newer question has overtaken.
class Late extends Error {}
const asked = {};

async function get(path, query = {}) {
	const number = asked[path] = (asked[path] ?? 0) + 1, end = page.end;
	const words = new URLSearchParams("end" in query ? {} : { end: page.end });
	for (const [k, v] of Object.entries(query)) for (const one of [v].flat()) words.append(k, one);
	const res = await fetch(path + "?" + words);
	const body = await res.json();
	if (asked[path] !== number || page.end !== end) throw new Late();
	if (!res.ok) throw new Error(body.error ?? res.statusText);
	return body;
}

// say shows a fault where it happened.
const say = (where, fault) => {
	if (fault instanceof Late) return;
	where.textContent = fault.message;
	where.className = "bad";
};

// The stream of an end.

let source = null, again = 0;

function connect() {
	source?.close();
	clearTimeout(again);
	const last = page.events.length ? page.events.at(-1).number : 0;
	source = new EventSource("stream?" + new URLSearchParams({ end: page.end, from: board.samples.next, after: last }));
	source.addEventListener("open", () => { page.connected = true; });
	source.addEventListener("samples", e => board.add(JSON.parse(e.data)));
	source.addEventListener("events", e => takeEvents(JSON.parse(e.data)));
	source.addEventListener("ends", e => showEnds(JSON.parse(e.data)));
	source.addEventListener("error", () => {
		page.connected = false;
		source.close();
		again = setTimeout(begin, 1000);
	});
}

// begin asks for the ends, and follows one: also when the connection was lost.
async function begin() {
	try {
		const got = await get("ends.json");
		if (page.token !== got.token && page.token) location.reload(); // another process
		Object.assign(page, { edit: got.edit, token: got.token });
		if (got.ends.length === 0) throw new Error("no server and no client is shown yet");
		showEnds(got.ends);
		if (!page.ends.some(e => e.name === page.end)) page.end = page.ends[0].name;
		await follow(page.end, board.samples.next > 0);
	} catch (fault) {
		if (fault instanceof Late) return;
		$("status").textContent = "not connected: " + fault.message;
		again = setTimeout(begin, 1000);
	}
}

async function follow(end, same = false) {
	page.end = end;
	board.rate = page.ends.find(e => e.name === end)?.tick_rate ?? board.rate;
	$("end").value = end;
	$("dot").href = "graph.dot?" + new URLSearchParams({ end });
	if (!same) {
		board.begin(await get("series.json"));
		marks();
		Object.assign(page, { entity: null });
		players = -Infinity;
		for (const id of ["trace-player", "sights-player"]) $(id).replaceChildren();
		traced();
		$("entity").replaceChildren(make("p", { class: "dim" }, "Choose an entity."));
	}
	connect();
	refresh();
	arm();
}

function showEnds(ends) {
	page.ends = ends;
	board.rate = ends.find(e => e.name === page.end)?.tick_rate ?? board.rate;
	$("end").replaceChildren(...ends.map(e => make("option", { value: e.name }, `${e.name} (${e.role})`)));
	$("end").value = page.end;
}

$("end").addEventListener("change", e => follow(e.target.value).catch(fault => say($("status"), fault)));

// Tabs: arrows move between them, as screen readers expect.

const tabs = [...document.querySelectorAll("[role=tab]")];
const open = () => tabs.find(t => t.getAttribute("aria-selected") === "true").id.slice(4);

function show(tab) {
	for (const t of tabs) {
		const on = t === tab;
		t.setAttribute("aria-selected", on);
		t.tabIndex = on ? 0 : -1;
		$(t.getAttribute("aria-controls")).hidden = !on;
	}
	board.due = true;
	refresh();
}
for (const t of tabs) t.addEventListener("click", () => show(t));
$("tabs").addEventListener("keydown", e => {
	const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key], i = tabs.indexOf(document.activeElement);
	if (!by || i < 0) return;
	const next = tabs[(i + by + tabs.length) % tabs.length];
	next.focus();
	show(next);
});

// refresh loads what the open tab shows.
async function refresh() {
	const load = { timeline: showEvents, players: showPlayers, entities: showEntities, systems: showSystems, trace: showTrace, logs: showLogs }[open()];
	if (load && page.end) await load();
}
setInterval(() => { if (["players", "logs"].includes(open()) && !document.hidden) refresh(); }, 1000);
setInterval(() => { if (open() === "entities" && page.entity && !document.hidden && !$("entity").contains(document.activeElement)) showEntity(page.entity, true); }, 1000);
setInterval(() => { if (open() === "trace" && !document.hidden) refresh(); }, 250);

// Charts.

function look(tick) {
	$("cursor").textContent = tick === null ? "Point at a chart, or focus it and press ← or →, to read the values of a tick. Esc follows the newest again. ▲ marks a correction." : `Tick ${tick}. Esc follows the newest again.`;
	board.forced = true;
}
$("window").addEventListener("change", e => { board.window = Number(e.target.value); board.due = board.forced = true; });
$("pause").addEventListener("click", e => {
	board.paused = !board.paused;
	e.target.setAttribute("aria-pressed", board.paused);
});
addEventListener("resize", () => { board.due = board.forced = board.changed = true; });
addEventListener("scroll", () => { board.due = board.forced = true; }, { passive: true });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { board.due = board.forced = board.changed = true; });
let drawn = 0;
requestAnimationFrame(function frame(now) {
	if (now - drawn > 90) { // ten times a second are enough to read
		drawn = now;
		board.draw();
		const e = page.ends.find(x => x.name === page.end);
		if (e && page.connected) $("status").textContent = `${e.game}, ${e.tick_rate} ticks a second, tick ${board.samples.ticks.at(-1) ?? "–"}`;
	}
	requestAnimationFrame(frame);
});

// Timeline.

function takeEvents(events) {
	page.events.push(...events);
	page.events.splice(0, page.events.length - 4000);
	marks();
	if (open() === "timeline") showEvents();
}

// marks puts corrections on the charts: a client's own, and those of all on a server's.
function marks() {
	const server = page.ends.find(e => e.name === page.end)?.role === "server";
	board.corrections = page.events.filter(e => e.kind === "correction" && (server || e.end === page.end)).map(e => e.tick);
	board.due = true;
}

function showEvents() {
	const words = $("search").value.toLowerCase().split(/\s+/).filter(w => w), kind = $("kind").value;
	const found = page.events.filter(e => (!kind || e.kind === kind) && words.every(w => `${e.text} ${e.kind} ${e.cause} ${e.end} ${e.tick}`.toLowerCase().includes(w)));
	$("found").textContent = `${found.length} of ${page.events.length} events` + (found.length > 200 ? ", the newest 200 are listed" : "") + (page.events.length ? "" : ". Clients tell of corrections while a page of their server is open.");
	countCorrections(found.filter(e => e.kind === "correction"));
	list($("events"), found.slice(-200).reverse(), e => String(e.number), String(page.chosen), e => [`${e.tick} · ${e.end} · `, make("strong", {}, e.cause), make("br"), make("small", {}, e.text.replace(/^(player \d+: )?tick \d+: /, "$1").slice(0, 160))], chooseEvent);
}

async function chooseEvent(e) {
	page.chosen = e.number;
	showEvents();
	const d = e.detail, show = about => $("event").replaceChildren(...explanation(e, about, lookAt, traceAt));
	show(d?.prefab);
	if (!d?.entity) return;
	try {
		const v = await get("values.json", { end: e.end, entity: d.entity });
		if (page.chosen === e.number && v.net) show(body(v.prefab, v.net));
	} catch { // it is gone: its prefab has to do
	}
}

// countCorrections counts by cause and by whose they are.
function countCorrections(found) {
	const whose = e => e.player && /^player \d+: /.test(e.text) ? `player ${e.player}` : e.end, counts = new Map(), of = [...new Set(found.map(whose))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
	for (const e of found) {
		if (!counts.has(e.cause)) counts.set(e.cause, new Map());
		const by = counts.get(e.cause);
		by.set(whose(e), (by.get(whose(e)) ?? 0) + 1);
	}
	const sum = by => [...by.values()].reduce((a, b) => a + b, 0);
	$("counted").hidden = found.length === 0;
	table($("count-table"), ["Corrections by cause", "All", ...of], [...counts].sort((a, b) => sum(b[1]) - sum(a[1])).map(([cause, by]) => [cause, sum(by), ...of.map(w => by.get(w) ?? "")]));
}

async function lookAt(e) {
	if (e.end !== page.end && page.ends.some(x => x.name === e.end)) {
		await follow(e.end);
		await new Promise(done => setTimeout(done, 600)); // its samples come
	}
	show($("tab-charts"));
	board.look(e.tick);
}

// traceAt shows the tick of a correction in the trace of its client.
async function traceAt(e) {
	if (e.end !== page.end && page.ends.some(x => x.name === e.end)) await follow(e.end);
	if (isServer()) await showTracePlayers(String(e.player));
	traced();
	show($("tab-trace"));
	tracing.choose(e.tick);
}
$("search").addEventListener("input", showEvents);
$("kind").addEventListener("change", showEvents);

// Players.

async function showPlayers() {
	try {
		const all = await get("players.json"), names = [...new Set(all.flatMap(p => (p.figures ?? []).map(f => f.name)))];
		table($("player-table"), ["Player", "State", "Team", "Owns", "Hidden", "Eye", "Identity", "Address", ...names], all.map(p => [
			p.player ? `player ${p.player}` : "observer", p.state, p.team || "", p.owns, p.hidden || "", p.eye ? p.eye.map(round).join(", ") : "", p.identity ?? "", p.address ?? "",
			...names.map(n => { const f = p.figures?.find(x => x.name === n); return f ? make("span", {}, round(f.value) + (f.unit ? " " + f.unit : "")) : ""; }),
		]));
		$("players-note").textContent = all.length ? "Counts are since the player joined." : "Nobody plays.";
		$("players-note").className = "dim";
		$("counted").textContent = "Counted: " + (await get("ends.json")).ends.find(e => e.name === page.end)?.counted;
		$("sights").hidden = !isServer() || all.length === 0;
		if (!$("sights").hidden) {
			choices($("sights-player"), all.filter(p => p.player).map(p => String(p.player)));
			await showSights();
		}
	} catch (fault) { say($("players-note"), fault); }
}

// choices fills a list of players, where it is another one than before.
function choices(of, all, wanted = of.value) {
	if (wanted && !all.includes(wanted)) all.push(wanted);
	if (all.join() !== [...of.options].map(o => o.value).join()) of.replaceChildren(...all.map(p => make("option", { value: p }, "player " + p)));
	of.value = wanted || all[0] || "";
}

// showSights lists what a player receives of each entity, and why.
async function showSights() {
	const of = $("sights-table"), note = $("sights-found");
	if (of.contains(document.activeElement)) return; // a button would lose the focus
	try {
		const got = await get("sights.json", { player: $("sights-player").value, q: $("sights-search").value, unseen: $("sights-unseen").value });
		note.textContent = `Player ${got.player} receives ${got.sees} of ${got.total} entities in tick ${got.tick}` + (got.found > got.list.length ? `; the first ${got.list.length} of ${got.found} are listed.` : ".");
		note.className = "";
		table(of, ["Entity", "Owner", "Received", "Why", "Fields kept from it"], got.list.map(e => [
			make("button", { type: "button", onclick: () => { show($("tab-entities")); showEntity(e.id); } }, body(e.prefab, e.net)), e.owner ? `player ${e.owner}` : "",
			make("span", { class: e.sees ? "good" : "bad" }, e.sees ? "✓ yes" : "✗ no"), e.why.join(" "), e.sees ? (e.withheld ?? []).join(", ") : "all",
		]));
	} catch (fault) { say(note, fault); }
}
for (const id of ["sights-player", "sights-unseen", "sights-search"]) $(id).addEventListener("input", showSights);

// Entities.

async function showEntities() {
	try {
		const got = await get("entities.json", { q: $("entity-search").value });
		$("entity-found").textContent = `${got.total} in tick ${got.tick}` + (got.total > got.list.length ? `, the first ${got.list.length} are listed` : "");
		$("entity-found").className = "";
		list($("entity-list"), got.list, e => e.id, page.entity, e => [make("strong", {}, body(e.prefab, e.net)), e.owner ? ` · player ${e.owner}` : "", make("br"), make("small", {}, (e.components ?? []).join(", "))], e => showEntity(e.id));
	} catch (fault) { say($("entity-found"), fault); }
}

async function showEntity(id, quiet = false) {
	const box = $("entity");
	page.entity = id;
	for (const b of $("entity-list").querySelectorAll("button")) b.toggleAttribute("aria-current", false);
	$("entity-list").querySelector(`[data-key="${id}"]`)?.setAttribute("aria-current", "true");
	try {
		const v = await get("values.json", { entity: id });
		if (page.entity !== id || quiet && box.contains(document.activeElement)) return;
		const parts = values(v, page.edit, (path, value, form) => save(id, path, value, form));
		if (v.owner && v.net) parts.splice(2, 0, make("p", {}, make("button", { type: "button", onclick: () => traceOne(v) }, "Trace it")));
		const old = quiet ? $("sight") : null;
		box.replaceChildren(...parts, ...(v.net && page.ends.find(e => e.name === page.end)?.role === "server" ? [old ?? asks(id)] : []));
	} catch (fault) {
		if (!quiet && !(fault instanceof Late)) box.replaceChildren(make("p", { class: "bad" }, fault.message));
	}
}

// asks is the question what a player receives of an entity.
function asks(id) {
	const number = make("input", { id: "sight-player", type: "number", min: 1, max: 65535, value: 1, "aria-label": "player" }), answer = make("div", { "aria-live": "polite" });
	return make("div", { id: "sight" }, make("h3", {}, "What does a player receive of it, and why?"), make("form", { onsubmit: async e => {
		e.preventDefault();
		try { answer.replaceChildren(...sight(await get("sight.json", { entity: id, player: number.value }))); } catch (fault) { if (!(fault instanceof Late)) answer.replaceChildren(make("p", { class: "bad" }, fault.message)); }
	} }, "Player ", number, " ", make("button", {}, "Ask")), answer);
}

async function save(entity, path, value, form) {
	const note = form.querySelector("output") ?? form.appendChild(make("output"));
	try {
		const res = await fetch("edit", { method: "POST", headers: { "Content-Type": "application/json", "X-Foretick-Token": page.token }, body: JSON.stringify({ end: page.end, entity, path, value }) });
		const body = await res.json();
		if (!res.ok) throw new Error(body.error);
		note.className = "good";
		note.textContent = `✓ was ${body.before}`;
	} catch (fault) { say(note, fault); }
}
$("entity-search").addEventListener("input", showEntities);
$("singletons").addEventListener("click", () => showEntity("0"));

// Systems and prefabs.

async function showSystems() {
	try {
		const [systems, prefabs] = await Promise.all([get("systems.json"), get("prefabs.json")]);
		const ms = v => v ? v.toPrecision(3) : "";
		table($("system-table"), ["System", "Stage", "Runs on", "Reads", "Writes", "Creates", "Notes", "Newest ms", "Mean ms", "Longest ms"], systems.map(s => [s.name, s.stage, s.runs, s.reads?.join(", "), s.writes?.join(", "), s.creates?.join(", "), s.notes?.join(", "), ms(s.last_ms), ms(s.mean_ms), ms(s.max_ms)]));
		table($("prefab-table"), ["Prefab", "Components", "Clients have it as"], (prefabs ?? []).map(p => [p.name, p.components?.join(", "), p.notes?.join("; ")]));
	} catch (fault) { if (!(fault instanceof Late)) $("system-table").replaceChildren(make("caption", { class: "bad" }, fault.message)); }
}

// Trace.

const isServer = () => page.ends.find(e => e.name === page.end)?.role === "server";

// traced begins the trace of the end and player that are chosen, if it is another.
function traced(entities = null) {
	const of = page.end + "\n" + (isServer() ? $("trace-player").value : "");
	if (of !== tracing.trace.of || entities) tracing.forget(of, entities ?? []);
	$("trace-all").hidden = tracing.trace.entities.length === 0;
	$("trace-live").hidden = true;
	$("trace-save").href = "trace.export?" + new URLSearchParams({ end: page.end, player: isServer() ? $("trace-player").value : 0 });
}

let players = -Infinity, asking = false; // when they were asked for; a slow answer is waited for

async function showTrace() {
	$("trace-of").hidden = !isServer();
	if (asking || tracing.trace.of === tracing.file) return;
	asking = true;
	try {
		if (isServer() && performance.now() - players > 2000) await showTracePlayers();
		if (isServer() && !$("trace-player").value) return;
		traced();
		const of = tracing.trace.of, got = await get("trace.json", { player: isServer() ? $("trace-player").value : 0, ...tracing.query() });
		if (of === tracing.trace.of) tracing.take(got);
	} catch (fault) {
		say($("trace-status"), fault);
	} finally { asking = false; }
}

// arm keeps the trace of a client's player armed while the page is open: what it recorded
// is there when the tab is opened.
async function arm() {
	if (!page.end || isServer() || asking || document.hidden || open() === "trace" && tracing.trace.of !== tracing.file) return;
	asking = true;
	try {
		await get("trace.json", { entity: tracing.trace.entities });
	} catch { // the tab says why
	} finally { asking = false; }
}
setInterval(arm, 5000);

async function showTracePlayers(wanted = $("trace-player").value) {
	players = performance.now();
	const all = (await get("players.json")).filter(p => p.player).map(p => String(p.player));
	choices($("trace-player"), all, wanted);
	if (all.length === 0) $("trace-status").textContent = "Nobody plays.";
}

// traceOne traces one entity of its player.
async function traceOne(v) {
	if (isServer()) await showTracePlayers(String(v.owner));
	traced([v.id]);
	show($("tab-trace"));
}
$("trace-player").addEventListener("change", () => { traced(); refresh(); });
$("trace-all").addEventListener("click", () => { traced([]); refresh(); });
$("trace-live").addEventListener("click", () => { traced([]); refresh(); });
$("trace-open").addEventListener("change", async e => {
	const of = e.target.files[0];
	e.target.value = ""; // the same file may be opened again
	try {
		tracing.open(JSON.parse(await of.text()));
		$("trace-live").hidden = false;
	} catch {
		tracing.refuse(`${of.name} is no comparison with a tape: make one with -beside and -tables.`);
	}
});

// Logs.

async function showLogs() {
	try {
		const lines = await get("logs.json", { end: "", q: $("log-search").value });
		$("log-note").textContent = lines.length ? "Newest first." : "No lines: give the server a logger of Inspector.LogHandler.";
		$("log-list").replaceChildren(...lines.map(l => make("li", {}, (l.tick ? `${l.tick} · ` : "") + (l.end ? `${l.end} · ` : ""), make("strong", { class: l.cause === "info" ? false : "bad" }, l.cause), " " + l.text)));
	} catch (fault) { say($("log-note"), fault); }
}
$("log-search").addEventListener("input", showLogs);

addEventListener("error", e => page.errors.push(e.message));
addEventListener("unhandledrejection", e => page.errors.push(String(e.reason)));
begin();
