package screentest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// inspected is what the inspector's page says of itself: see page.js.
type inspected struct {
	End                                              string
	Connected                                        bool
	Samples, Tick, Draws, Events, Corrections        float64
	Charts, Errors                                   []string
	Cursor, Event, Entity, Status, Found, Sight, Set string
}

// inspectState reads the page, with the texts that a test looks at.
const inspectState = `(() => {
	const text = id => document.getElementById(id)?.innerText ?? "";
	return JSON.stringify({ ...inspector.read(), cursor: text("cursor"), event: text("event"), entity: text("entity"), status: text("status"), found: text("found"), sight: text("sight"), set: document.querySelector("#entity output")?.innerText ?? "" });
})()`

func (p *tab) inspects(what string, want func(inspected) bool) (s inspected) {
	p.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		var text string
		err := chromedp.Run(p, chromedp.Evaluate(inspectState, &text))
		if err == nil {
			require.NoError(p.t, json.Unmarshal([]byte(text), &s))
			if want(s) {
				return s
			}
		}
		require.True(p.t, time.Now().Before(end), "%s: not within %v: %+v, %v", what, patience, s, err)
	}
}

func (p *tab) do(actions ...chromedp.Action) {
	p.t.Helper()
	ctx, stop := context.WithTimeout(p, patience)
	defer stop()
	require.NoError(p.t, chromedp.Run(ctx, actions...))
}

// ink is what the charts have drawn, as numbers that differ when they move.
const ink = `JSON.stringify([...document.querySelectorAll("canvas")].slice(0, 6).map(c => {
	const b = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
	let sum = 0;
	for (let i = 0; i < b.length; i += 4) sum = (sum * 31 + b[i] + b[i + 1] + b[i + 3]) >>> 0;
	return sum;
}))`

// The inspector of an arena with bots: charts move, a correction is found and explained, an
// entity's value is set, and it says what a player receives and why. It is readable at both
// widths, by day and by night, and keys reach it.
func TestInspector(t *testing.T) {
	t.Parallel()
	p := open(t, browse(t, ""), arena(t, "-clients", "6", "-rtt", "80ms", "-loss", "0.02").Inspect)
	var href string
	p.do(chromedp.Evaluate(`location.href`, &href))
	require.NotContains(t, href, "key", "the address that stays has no key")
	p.do(emulation.SetFocusEmulationEnabled(true), emulation.SetDeviceMetricsOverride(1600, 1000, 1, false))
	s := p.inspects("connects", func(s inspected) bool { return s.Connected && s.Samples > 40 && s.Draws > 20 })
	require.Equal(t, "server", s.End)
	require.Subset(t, s.Charts, []string{"Tick", "Round trip", "Input buffer", "Rewind", "Loss by cause", "Traffic", "Bytes by field", "Time by system"})
	var first, now []uint32
	p.do(evaluated(ink, &first))
	require.Len(t, first, 6)
	moved := map[int]bool{} // one that stays at nothing for a while looks the same for a while
	require.Eventually(t, func() bool {
		p.do(evaluated(ink, &now))
		for i := range first {
			moved[i] = moved[i] || first[i] != now[i]
		}
		return len(moved) == 6 && !slices.Contains(slices.Collect(maps.Values(moved)), false)
	}, patience, 200*time.Millisecond, "all charts move")
	p.views("charts", "light", "dark")

	p.correction()
	p.edits()
	p.filled()
	for _, view := range []string{"players", "systems", "logs"} {
		p.do(chromedp.Click("#tab-"+view, chromedp.ByID), chromedp.Sleep(300*time.Millisecond))
		if view == "players" {
			p.sights()
		}
		p.views(view, "dark")
	}
	p.keys()
	s = p.inspects("is well", func(s inspected) bool { return s.Connected })
	require.Empty(t, s.Errors)
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(t, p.faults)
}

// filled reads every tab: each shows what it is there for, and an entity has one name on all of them.
func (p *tab) filled() {
	p.t.Helper()
	rows := func(tab, of string, enough func(rows []string) bool) (all []string) {
		p.t.Helper()
		p.do(chromedp.Click("#tab-"+tab, chromedp.ByID))
		p.inspects(tab+" shows "+of, func(inspected) bool {
			all = nil
			err := chromedp.Run(p, chromedp.Evaluate(`[...document.querySelectorAll("`+of+`")].map(e => e.innerText)`, &all))
			return err == nil && enough(all)
		})
		return all
	}
	some := func(all []string) bool { return len(all) > 0 && all[0] != "" }
	has := func(word string) func([]string) bool {
		return func(all []string) bool {
			return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, word) })
		}
	}
	p.do(chromedp.Evaluate(`for (const id of ["search", "entity-search", "log-search"]) { const e = document.getElementById(id); e.value = ""; e.dispatchEvent(new Event("input")); }`, nil))
	rows("charts", "figcaption", has("Round trip"))
	rows("timeline", "#events button", some)
	counted := rows("timeline", "#count-table tbody tr", some)
	require.Regexp(p.t, `^\w+\t\d+\t`, counted[0], "a cause, how many, and whose")
	rows("players", "#player-table tbody tr", has("player 2"))
	rows("players", "#counted", has("inputs taken "))
	entities := rows("entities", "#entity-list strong", func(all []string) bool { return len(all) > 4 })
	named := rows("players", "#sights-table tbody button", some)
	require.Subset(p.t, entities, named[:1], "an entity has one name")
	rows("systems", "#system-table tbody tr", some)
	rows("trace", "#trace-status", some)
	for _, line := range rows("logs", "#log-list li", has("joined")) {
		require.Regexp(p.t, `^(\d+ · )?server · (info|warn|error) `, line)
	}
}

// correction finds a stun by words, reads why, and goes to its tick on the charts.
func (p *tab) correction() {
	p.t.Helper()
	p.inspects("a correction by the server", func(s inspected) bool { return s.Corrections > 0 })
	p.do(chromedp.Click("#tab-timeline", chromedp.ByID), chromedp.SendKeys("#search", "status server_effect", chromedp.ByID))
	p.inspects("one is found", func(inspected) bool {
		var n int
		return chromedp.Run(p, chromedp.Evaluate(`document.querySelectorAll("#events button").length`, &n)) == nil && n > 0
	})
	p.do(chromedp.Evaluate(`document.querySelector("#events button").click()`, nil))
	s := p.inspects("it is explained", func(s inspected) bool { return s.Event != "" })
	require.Contains(p.t, s.Event, "server_effect")
	require.Contains(p.t, s.Event, "only the server runs")
	require.Contains(p.t, s.Event, "Differences")
	p.views("timeline", "light", "dark")
	p.do(chromedp.Click("#event button", chromedp.ByQuery))
	s = p.inspects("its tick is on the charts", func(s inspected) bool {
		return s.End != "server" && s.Samples > 0 && s.Cursor != "" && s.Cursor[:4] == "Tick"
	})
	require.Subset(p.t, s.Charts, []string{"Snapshot buffer", "Tick", "Bytes by field"})
	p.receives()
	p.views("client", "light")
	p.do(chromedp.SetValue("#end", "server", chromedp.ByID), chromedp.Evaluate(`document.getElementById("end").dispatchEvent(new Event("change"))`, nil))
	p.inspects("the server again", func(s inspected) bool { return s.End == "server" && s.Samples > 0 })
}

// receives looks at what a client counts: bytes by field, and the time of its ticks.
func (p *tab) receives() {
	p.t.Helper()
	const sums = `(async () => {
		const end = encodeURIComponent(inspector.read().end), get = async path => (await fetch(path)).json();
		const series = await get("series.json?end=" + end), samples = await get("samples.json?end=" + end);
		const sum = test => series.reduce((n, s, i) => test(s) ? n + samples.values.reduce((n, row) => n + row[i], 0) : n, 0);
		return [sum(s => s.chart === "Bytes by field"), sum(s => s.key === "bytes.Position.X"), sum(s => s.key === "tick_ms"), sum(s => s.key === "bytes_in")];
	})()`
	var got []float64
	p.do(chromedp.Evaluate(sums, &got, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	require.Len(p.t, got, 4)
	require.Greater(p.t, got[0], 100.)
	require.Less(p.t, got[0], got[3], "of what it received")
	require.NotZero(p.t, got[1])
	require.NotZero(p.t, got[2])
}

// edits sets a bot's health, and asks what another receives of it.
func (p *tab) edits() {
	p.t.Helper()
	p.do(chromedp.Click("#tab-entities", chromedp.ByID), chromedp.SendKeys("#entity-search", "avatar player 2", chromedp.ByID))
	p.inspects("the entity is found", func(inspected) bool {
		var n int
		return chromedp.Run(p, chromedp.Evaluate(`document.querySelectorAll("#entity-list button").length`, &n)) == nil && n == 1
	})
	p.do(chromedp.Evaluate(`document.querySelector("#entity-list button").click()`, nil))
	p.inspects("its values are shown", func(s inspected) bool { return strings.Contains(s.Entity, "Health.Points") })
	p.do(
		chromedp.Focus(`form[data-path="Health.Points"] input`, chromedp.ByQuery), // else the page shows the newest value in it
		chromedp.SetValue(`form[data-path="Health.Points"] input`, "77", chromedp.ByQuery),
		chromedp.Click(`form[data-path="Health.Points"] button`, chromedp.ByQuery),
	)
	s := p.inspects("it is set", func(s inspected) bool { return s.Set != "" })
	require.Contains(p.t, s.Set, "✓ was")
	var sent string
	p.do(chromedp.Value(`form[data-path="Health.Points"] input`, &sent, chromedp.ByQuery))
	require.Equal(p.t, "77", sent)
	p.do(chromedp.Click("#sight button", chromedp.ByQuery))
	s = p.inspects("what player 1 receives", func(s inspected) bool { return len(s.Sight) > 100 })
	require.Contains(p.t, s.Sight, "Player 1 receives it")
	p.views("entities", "light", "dark")
}

// sights reads what the second player receives of all entities, and then what is kept from it.
func (p *tab) sights() {
	p.t.Helper()
	rows := func(found string, enough func(rows [][]string) bool) (rows [][]string) {
		p.t.Helper()
		p.inspects(found, func(inspected) bool {
			var said string
			rows = nil
			err := chromedp.Run(p, chromedp.Text("#sights-found", &said, chromedp.ByID), chromedp.Evaluate(`[...document.querySelectorAll("#sights-table tbody tr")].map(r => [...r.cells].map(c => c.innerText))`, &rows))
			return err == nil && strings.Contains(said, "Player 2 receives") && enough(rows)
		})
		return rows
	}
	choose := func(id, value string) {
		p.do(chromedp.SetValue(id, value, chromedp.ByID), chromedp.Evaluate(`document.querySelector("`+id+`").dispatchEvent(new Event("input"))`, nil))
	}
	p.do(chromedp.WaitVisible("#sights-player", chromedp.ByID))
	choose("#sights-player", "2")
	own := false
	for _, r := range rows("what player 2 receives", func(rows [][]string) bool { return len(rows) > 5 }) {
		own = own || r[1] == "player 2" && r[2] == "✓ yes" && strings.Contains(r[3], "the player's own")
	}
	require.True(p.t, own)
	choose("#sights-unseen", "1")
	rows("what is kept from it", func(rows [][]string) bool {
		for _, r := range rows {
			if r[4] == "" {
				return false
			}
		}
		return len(rows) > 0
	})
}

// views looks at a view at both widths, by day, by night or both.
func (p *tab) views(name string, schemes ...string) {
	p.t.Helper()
	for _, width := range []int64{400, 1600} {
		for _, scheme := range schemes {
			var wide float64
			var contrast []float64
			p.do(
				emulation.SetDeviceMetricsOverride(width, 1000, 1, width < 500),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				chromedp.Sleep(150*time.Millisecond),
				chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide),
				chromedp.Evaluate(inspectContrasts, &contrast),
			)
			require.LessOrEqual(p.t, wide, float64(width), "%s: nothing is wider than the screen", name)
			require.NotEmpty(p.t, contrast)
			for _, c := range contrast {
				require.GreaterOrEqual(p.t, c, 4.5, "%s at %d, %s", name, width, scheme)
			}
			p.screenshot(fmt.Sprintf("inspect-%s-%d-%s", name, width, scheme))
		}
	}
}

// keys moves through the tabs and a chart without a mouse.
func (p *tab) keys() {
	p.t.Helper()
	p.do(chromedp.Focus("#tab-logs", chromedp.ByID), chromedp.KeyEvent("\u0303")) // right arrow, from the last to the first
	var tab string
	p.do(chromedp.Evaluate(`document.activeElement.id`, &tab))
	require.Equal(p.t, "tab-charts", tab)
	p.do(chromedp.Focus("#grid canvas", chromedp.ByQuery), chromedp.KeyEvent("\u0302"))
	s := p.inspects("the cursor moves by keys", func(s inspected) bool { return len(s.Cursor) > 5 && s.Cursor[:5] == "Tick " })
	require.Contains(p.t, s.Cursor, "Esc")
	var unreachable int
	p.do(chromedp.Evaluate(`[...document.querySelectorAll("button, a, input, select, canvas")].filter(e => e.offsetParent && e.tabIndex < 0 && e.getAttribute("role") !== "tab").length`, &unreachable))
	require.Zero(p.t, unreachable)
}

func evaluated(script string, into *[]uint32) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		var text string
		if err := chromedp.Evaluate(script, &text).Do(ctx); err != nil {
			return err
		}
		return json.Unmarshal([]byte(text), into)
	})
}

// inspectContrasts is the contrast of all visible texts with what is behind them, as WCAG
// counts it.
const inspectContrasts = `(() => {
	const light = c => {
		const [r, g, b] = c.match(/[\d.]+/g).map(Number).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
		return .2126 * r + .7152 * g + .0722 * b;
	};
	const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } return "rgb(255,255,255)"; };
	const all = [...document.querySelectorAll("p, button, a, label, li, td, th, h2, h3, small, figcaption span, output")].filter(e => e.offsetParent && e.textContent.trim());
	return [...new Set(all.slice(0, 300).map(e => {
		const a = light(getComputedStyle(e).color), b = light(behind(e));
		return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
	}))];
})()`
