package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/foretick/foretick/simtest"
	"github.com/foretick/foretick/simtest/campaign"
)

// result is how a soak ended; all of its numbers should be about zero.
type result struct {
	HeapGrowth      float64 `json:"heap_growth_percent"` // growth after garbage collection, from the first six hours to the last
	GoroutinesDelta int     `json:"goroutines_delta"`
	Desyncs         int     `json:"desyncs"`
	EventsLost      int     `json:"events_lost"` // events lost, duplicated, or out of order
	Panics          int     `json:"panics"`
}

// soak plays one long match.
func soak(o options, out io.Writer) error {
	flat := &campaign.Flat{}
	plan := o.day(flat)
	started := time.Now()
	checkers := plan.Checkers
	plan.Checkers = func() []simtest.Checker {
		return append(checkers(), &hourly{out: out, json: o.json, started: started})
	}
	var r result
	outcome, err := guarded(plan, o.seed, &r)
	r.blame(err)
	r.HeapGrowth, r.GoroutinesDelta = flat.HeapGrowth(), flat.GoroutinesDelta()
	took := time.Since(started)
	if o.json {
		for _, v := range []any{lineOf(outcome, took), map[string]any{"heap_bytes": flat.Heaps()}, r} {
			if e := json.NewEncoder(out).Encode(v); e != nil {
				return e
			}
		}
	} else {
		fmt.Fprintf(out, "%v\n%.0f times real time (%v)\n%+v\n", outcome, outcome.Played.Seconds()/took.Seconds(), took.Round(time.Second), r)
	}
	return err
}

// guarded plays a plan, and counts a panic instead of crashing.
func guarded(p simtest.Plan, seed uint64, r *result) (o simtest.Outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.Panics++
			err = fmt.Errorf("seed %d: panic: %v", seed, v)
		}
	}()
	return p.Run(seed)
}

// blame counts a failed match by its cause.
func (r *result) blame(err error) {
	var f *simtest.Fault
	if !errors.As(err, &f) {
		return
	}
	switch f.Checker.(type) {
	case *simtest.Agreement:
		r.Desyncs++
	case *simtest.Delivery:
		r.EventsLost++
	}
}

// hourly is a checker that writes a line for each quiet point.
type hourly struct {
	out     io.Writer
	json    bool
	started time.Time
	quiets  int
}

// Tick implements simtest.Checker.
func (h *hourly) Tick(*simtest.Match) error { return nil }

// Quiet implements simtest.Checker.
func (h *hourly) Quiet(m *simtest.Match) error {
	h.quiets++
	st, took := m.Server().Stats(), time.Since(h.started)
	if h.json {
		return json.NewEncoder(h.out).Encode(map[string]any{
			"virtual_hours": m.Net.Now().Hours(), "real_seconds": took.Seconds(), "joined": st.Joined, "left": st.Left, "resumed": st.Resumed,
			"messages_sent": st.MessagesSent, "messages_resent": st.MessagesResent,
		})
	}
	_, err := fmt.Fprintf(h.out, "%v at rest, all agree: %d joined, %d left, %d came back, %d messages; %.0f times real time\n",
		m.Net.Now().Round(time.Second), st.Joined, st.Left, st.Resumed, st.MessagesSent, m.Net.Now().Seconds()/took.Seconds())
	return err
}

// Worked implements simtest.Checker.
func (h *hourly) Worked(*simtest.Match) (string, error) {
	return fmt.Sprintf("quiet points: %d", h.quiets), nil
}

// line is an outcome as JSON.
type line struct {
	Seed      uint64   `json:"seed"`
	Trace     string   `json:"trace_sha256"`
	Seconds   float64  `json:"virtual_seconds"`
	Speed     float64  `json:"times_real_time"`
	Ticks     uint64   `json:"ticks"`
	Packets   uint64   `json:"packets"`
	Snapshots uint64   `json:"snapshots"`
	Mended    uint64   `json:"corrections"`
	Joins     int      `json:"joins"`
	Leaves    int      `json:"leaves"`
	Kills     int      `json:"kills"`
	Freezes   int      `json:"freezes"`
	Quiets    int      `json:"quiets"`
	Worked    []string `json:"worked"`
}

func lineOf(o simtest.Outcome, took time.Duration) line {
	return line{
		o.Seed, fmt.Sprintf("%x", o.Trace), o.Played.Seconds(), o.Played.Seconds() / max(took.Seconds(), 1e-9),
		o.Ticks, o.Packets, o.Snapshots, o.Mended, o.Joins, o.Leaves, o.Kills, o.Freezes, o.Quiets, o.Worked,
	}
}
