package main

import (
	"cmp"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/foretick/foretick/host"
	"github.com/foretick/foretick/transport/multi"
)

// figures are what the page shows.
type figures struct {
	Healthy   bool // no step of a match hangs
	Draining  bool
	Free      int // matches that may still be made
	Host      host.Stats
	Endpoints []multi.Counters
	Matches   []matchFigures
}

// matchFigures are those of one match.
type matchFigures struct {
	Name       string
	Players    int
	Age        time.Duration // ticks so far, as time
	Slips      uint64        // ticks that the server left out
	Missing    uint64        // ticks without a player's input
	Taken      uint64        // ticks with one
	KBytesOut  uint64
	Reconnects uint64
}

// figures collects them. Matches run on: no lock of theirs is held.
func (h *hosting) figures() figures {
	most, _ := h.host.Limits()
	f := figures{Healthy: h.host.Healthy(), Draining: h.host.Draining(), Host: h.host.Stats(), Endpoints: h.joined.Counters(nil), Matches: []matchFigures{}}
	if f.Free = max(most-f.Host.Matches, 0); f.Draining {
		f.Free = 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, srv := range h.matches {
		st := srv.Stats()
		f.Matches = append(f.Matches, matchFigures{Name: name, Players: len(srv.Players(nil)), Age: time.Duration(st.Ticks) * time.Second / tickRate,
			Slips: st.Slips, Missing: st.InputsMissing, Taken: st.InputsTaken, KBytesOut: st.BytesOut / 1000, Reconnects: st.Resumed})
	}
	slices.SortFunc(f.Matches, func(a, b matchFigures) int { return cmp.Compare(a.Name, b.Name) })
	return f
}

// json shows the figures to programs.
func (h *hosting) json(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(h.figures())
}

// healthz replies 200 while ticks advance, and 503 when a match hangs.
func (h *hosting) healthz(w http.ResponseWriter, _ *http.Request) {
	if !h.host.Healthy() {
		http.Error(w, "a step of a match does not end", http.StatusServiceUnavailable)
	}
}

// page shows the figures to people.
func (h *hosting) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = sheet.Execute(w, h.figures())
}

var sheet = template.Must(template.New("figures").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2"><meta name="viewport" content="width=device-width">
<title>{{.Host.Matches}} matches, {{.Host.Players}} players</title>
<style>body{font:15px system-ui;margin:2em;max-width:60em}table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ccc}td:first-child,th:first-child{text-align:left}</style>
<h1>{{.Host.Matches}} matches, {{.Host.Players}} players{{if .Draining}}, draining{{end}}{{if not .Healthy}}, a match hangs{{end}}</h1>
<p>{{.Free}} more matches fit. {{.Host.Made}} made, {{.Host.Ended}} ended, {{.Host.Panicked}} by a panic. {{.Host.Refused}} players refused. {{.Host.Late}} of {{.Host.Steps}} steps late.</p>
<table><tr><th>endpoint<th>players<th>ever<th>datagrams in<th>out<th>bytes in<th>out
{{range .Endpoints}}<tr><td>{{.Name}}<td>{{.Peers}}<td>{{.Connected}}<td>{{.Received}}<td>{{.Sent}}<td>{{.ReceivedBytes}}<td>{{.SentBytes}}
{{end}}</table>
<table><tr><th>match<th>players<th>age<th>slips<th>inputs missing<th>taken<th>kB out<th>reconnects
{{range .Matches}}<tr><td>{{.Name}}<td>{{.Players}}<td>{{.Age}}<td>{{.Slips}}<td>{{.Missing}}<td>{{.Taken}}<td>{{.KBytesOut}}<td>{{.Reconnects}}
{{end}}</table>
</html>
`))
