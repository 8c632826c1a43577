// Lists, tables and details. Texts go in as text nodes only: names come from games and players.

export const $ = id => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
	const e = document.createElement(tag);
	for (const [k, v] of Object.entries(attributes)) {
		if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
		else if (v !== false && v !== undefined) e.setAttribute(k, v === true ? "" : v);
	}
	e.append(...children.filter(c => c !== null && c !== undefined));
	return e;
}

export function table(of, heads, rows) {
	of.replaceChildren(
		make("thead", {}, make("tr", {}, ...heads.map(h => make("th", { scope: "col" }, h)))),
		make("tbody", {}, ...rows.map(r => make("tr", {}, ...r.map(c => typeof c === "number" ? make("td", { class: "number" }, round(c)) : make("td", {}, c ?? ""))))));
}

export const round = v => Number.isInteger(v) ? v.toLocaleString("en") : Math.abs(v) >= 100 ? v.toFixed(0) : v.toPrecision(3);
export const shown = v => v === null || v === undefined ? "nothing" : typeof v === "number" ? String(+v.toPrecision(10)) : typeof v === "object" ? JSON.stringify(v) : String(v);

// list shows buttons, and keeps the focus and the choice where they were.
export function list(of, items, key, chosen, text, choose) {
	const focused = of.contains(document.activeElement) ? document.activeElement.dataset.key : null;
	of.replaceChildren(...items.map(item => {
		const b = make("button", { type: "button", "data-key": key(item), "aria-current": key(item) === chosen ? "true" : false, onclick: () => choose(item) }, ...text(item));
		return make("li", {}, b);
	}));
	if (focused) of.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

// body names an entity, the same on all tabs and at both ends: by its number on the network.
export const body = (prefab, net) => net ? `${prefab} ${net}` : prefab || "local entity";

// explanation shows a correction. named is the entity that it is about.
export function explanation(e, about, lookAt, traceAt) {
	const d = e.detail, out = [make("h2", {}, `${e.kind}: ${e.cause}`), make("p", {}, `Tick ${e.tick} of ${e.end}. `, e.tick ? make("button", { type: "button", onclick: () => lookAt(e) }, "Show on the charts") : null, e.tick && e.kind === "correction" ? " " : null, e.tick && e.kind === "correction" ? make("button", { type: "button", onclick: () => traceAt(e) }, "Show in the trace") : null)];
	if (!d) return [...out, make("p", {}, e.text)];
	out.push(make("p", {}, d.why));
	const facts = make("table");
	table(facts, ["What", "Value"], [
		["system", d.system], ["tick of the cause", d.cause_tick || ""], ["the server ran", d.stand_in], ["player", d.player || ""], ["component that was read", d.read],
		["architectures", d.architecture ? `${d.architecture}, server ${d.server_architecture}` : ""],
	].filter(r => r[1]).map(r => [r[0], String(r[1])]));
	if (facts.tBodies[0].rows.length) out.push(facts);
	out.push(make("h3", {}, "Differences"));
	const differences = make("table"), all = d.differences?.length ? d.differences : [{ prefab: d.prefab, component: d.component, field: d.field, predicted: d.predicted, actual: d.actual }];
	const named = (v, x) => (x.values && x.values[v] ? x.values[v] : shown(v)) + (x.unit ? " " + x.unit : "");
	table(differences, ["Entity", "Field", "Predicted", "Server"], all.map(x => [x.entity === undefined || String(x.entity) === String(d.entity) ? about : x.prefab, `${x.component}.${x.field}` + (x.label ? ` (${x.label})` : ""), named(x.predicted, x), named(x.actual, x)]));
	out.push(make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Differences" }, differences));
	if (d.input) {
		out.push(make("h3", {}, "Inputs"));
		const inputs = make("table"), fields = Object.keys(Object(d.input));
		const differs = f => JSON.stringify(d.input[f]) !== JSON.stringify(d.executed?.[f]);
		table(inputs, ["Field", "Client ran", "Server ran"], fields.map(f => [f, shown(d.input[f]), make("span", { class: differs(f) ? "bad" : false }, shown(d.executed?.[f]) + (differs(f) ? " (differs)" : ""))]));
		out.push(make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Inputs" }, inputs));
	}
	return out;
}

// values shows an entity, with forms where its fields can be set.
export function values(v, edits, save) {
	const out = [make("h2", {}, v.id === "0" ? "Singletons" : body(v.prefab, v.net)), make("p", { class: "dim" },
		v.id === "0" ? `As of tick ${v.tick}.` : `As of tick ${v.tick}. ${v.owner ? "Owned by player " + v.owner : "Owned by nobody"}. ${v.net ? "Number on the network: " + v.net : "Not replicated"}. Handle at this end: ${v.id}.` + (v.parent ? ` Child of ${v.parent}.` : ""))];
	for (const c of v.has ?? []) {
		out.push(make("h3", {}, c.name, " ", make("small", { class: "dim" }, [c.replicated ? "" : "not sent", c.predicted ? "predicted" : ""].filter(x => x).join(", "))));
		for (const f of c.fields ?? []) out.push(field(f, edits, save));
	}
	return out;
}

function field(f, edits, save) {
	const note = [f.label, f.type, f.ranged ? `${round(f.min)} to ${round(f.max)}` + (f.step ? `, step ${round(f.step)}` : "") : "", f.audience ? "for " + f.audience : ""].filter(x => x).join(" · ");
	const value = make("span", { "data-value": f.path }, f.text);
	const row = make("div", { class: "field" }, make("span", {}, f.path), value, make("small", {}, note));
	if (!edits || !f.editable) return row;
	const box = f.type === "bool"
		? make("select", { "aria-label": f.path }, make("option", {}, "true"), make("option", {}, "false"))
		: f.names?.length
			? make("select", { "aria-label": f.path }, ...f.names.map(n => make("option", {}, n)))
			: make("input", { "aria-label": f.path, type: typeof f.value === "number" ? "number" : "text", step: "any", min: f.ranged ? f.min : undefined, max: f.ranged ? f.max : undefined });
	box.value = f.names?.length ? f.names[f.value] ?? f.value : String(f.value);
	const form = make("form", { "data-path": f.path, onsubmit: e => {
		e.preventDefault();
		const v = f.type === "bool" ? box.value === "true" : f.names?.length || typeof f.value !== "number" ? box.value : Number(box.value);
		save(f.path, v, form);
	} }, box, make("button", {}, "Set"));
	value.replaceWith(form);
	return row;
}

// sight shows what a player receives of an entity.
export function sight(s) {
	const out = [make("p", {}, make("span", { class: s.sees ? "good" : "bad" }, s.sees ? `✓ Player ${s.player} receives it.` : `✗ Player ${s.player} does not receive it.`)), make("ul", {}, ...s.why.map(w => make("li", {}, w)))];
	const fields = make("table");
	table(fields, ["Field", "Received", "Why"], (s.fields ?? []).map(f => [f.path, make("span", { class: f.gets ? "good" : "bad" }, f.gets ? "✓ yes" : "✗ no"), f.why]));
	return [...out, make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Fields" }, fields)];
}
