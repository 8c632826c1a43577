package main

import (
	"encoding/json"
	"html/template"
	"net/http"
	"time"

	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/stats/metrics"
	"github.com/foretick/foretick/transport/multi"
)

// sheet is what the page shows.
type sheet struct {
	Live      bool // see host.Host.Live
	Ready     bool // see host.Host.Ready
	Draining  bool
	Free      int // how many more matches the host takes
	Build     metrics.Build
	Host      host.Stats
	Endpoints []multi.Counters
	Refused   []stats.Count // how many peers the endpoints refused, by reason
	Sums      []line        // for each kind of match: the sum of all that run or have ended
	Matches   []line        // the matches that run now
}

// line has the figures of a match, or the sums of several.
type line struct {
	Name       string
	Matches    int // how many of them run now
	Players    int
	Ticks      uint64
	P50, P99   time.Duration // the median time that a tick takes, and the time that 1 in 100 exceeds
	Late99     time.Duration // the delay that 1 in 100 ticks exceeds
	Slips      uint64        // how often the server skipped ticks
	Missing    uint64        // how often a tick had no input of a player
	Taken      uint64        // how often it had one
	KBytesOut  uint64
	Reconnects uint64
	RTT95      time.Duration // the round trip that 1 in 20 players exceeds
	Loss       float64       // the share of packets to players that are lost, in percent
	Wrong      string        // how often clients predicted wrong, by cause
}

func newLine(name string, matches int, f *stats.Server) line {
	wrong := ""
	if f.Corrections != (prediction.ByCause{}) {
		wrong = f.Corrections.String()
	}
	return line{
		Name: name, Matches: matches, Players: f.Players, Ticks: f.Ticks, P50: f.TickTime.Quantile(0.5), P99: f.TickTime.Quantile(0.99),
		Late99: f.Lateness.Quantile(0.99), Slips: f.Slips, Missing: f.InputsMissing, Taken: f.InputsTaken, KBytesOut: f.BytesOut / 1000, Reconnects: f.Resumed,
		RTT95: f.RTT.Quantile(0.95), Loss: 100 * f.LossOut.Mean(), Wrong: wrong,
	}
}

// figures collects what the page shows. It delays no tick.
func (h *hosting) figures() sheet {
	f := sheet{Live: h.host.Live(), Ready: h.host.Ready(), Draining: h.host.Draining(), Build: metrics.ReadBuild(), Host: h.host.Stats(), Endpoints: h.joined.Counters(nil), Matches: []line{}}
	f.Free, _ = h.host.Free()
	var sum stats.Host
	h.host.Figures(&sum)
	for _, c := range sum.Endpoint {
		if c.Refusal != "" && c.N > 0 {
			f.Refused = append(f.Refused, c)
		}
	}
	for i := range sum.Kinds {
		k := &sum.Kinds[i]
		f.Sums = append(f.Sums, newLine(k.Name, k.Matches, &k.Sum))
	}
	h.host.EachMatch(func(name, _ string, one *stats.Server) bool {
		f.Matches = append(f.Matches, newLine(name, 1, one))
		return true
	})
	return f
}

// json replies with the figures as JSON.
func (h *hosting) json(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(h.figures())
}

// livez replies 200 while the host finishes steps, and 503 when the process should be restarted.
func (h *hosting) livez(w http.ResponseWriter, _ *http.Request) {
	if !h.host.Live() {
		http.Error(w, "no step of a match ends", http.StatusServiceUnavailable)
	}
}

// readyz replies 200 while new matches should come, and 503 when they should go elsewhere.
func (h *hosting) readyz(w http.ResponseWriter, _ *http.Request) {
	if !h.host.Ready() {
		http.Error(w, "the host drains, is overloaded, or has a match that is stuck", http.StatusServiceUnavailable)
	}
}

// page replies with the figures as a web page.
func (h *hosting) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = view.Execute(w, h.figures())
}

var view = template.Must(template.New("figures").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2"><meta name="viewport" content="width=device-width">
<title>{{.Host.Matches}} matches, {{.Host.Players}} players</title>
<style>body{font:15px system-ui;margin:2em;max-width:60em}table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ccc}td:first-child,th:first-child{text-align:left}</style>
<h1>{{.Host.Matches}} matches, {{.Host.Players}} players{{if .Draining}}, draining{{end}}{{if not .Live}}, no step ends{{else if .Host.Unready}}, not ready{{end}}</h1>
<p>{{.Free}} more matches fit. {{.Host.Made}} made, {{.Host.Ended}} ended, {{.Host.Panicked}} by a panic, {{.Host.Abandoned}} given up. {{.Host.Stuck}} stuck. {{.Host.Refused}} players refused. {{.Host.Late}} of {{.Host.Steps}} steps late.</p>
<table><tr><th>endpoint<th>players<th>ever<th>datagrams in<th>out<th>bytes in<th>out
{{range .Endpoints}}<tr><td>{{.Name}}<td>{{.Peers}}<td>{{.Connected}}<td>{{.Received}}<td>{{.Sent}}<td>{{.ReceivedBytes}}<td>{{.SentBytes}}
{{end}}</table>
{{if .Refused}}<table><tr><th>refused by<th>reason<th>players
{{range .Refused}}<tr><td>{{.Part}}<td>{{.Refusal}}<td>{{.N}}
{{end}}</table>{{end}}
{{define "lines"}}<th>matches<th>players<th>ticks<th>tick p50<th>p99<th>late p99<th>slips<th>inputs missing<th>taken<th>kB out<th>reconnects<th>rtt p95<th>lost %<th>corrections
{{range .}}<tr><td>{{.Name}}<td>{{.Matches}}<td>{{.Players}}<td>{{.Ticks}}<td>{{.P50}}<td>{{.P99}}<td>{{.Late99}}<td>{{.Slips}}<td>{{.Missing}}<td>{{.Taken}}<td>{{.KBytesOut}}<td>{{.Reconnects}}<td>{{.RTT95}}<td>{{printf "%.1f" .Loss}}<td>{{.Wrong}}
{{end}}{{end}}<table><tr><th>kind{{template "lines" .Sums}}</table>
<table><tr><th>match{{template "lines" .Matches}}</table>
<p>{{.Build.Version}} {{.Build.Commit}} {{.Build.Go}}</p>
</html>
`))
