package inspect

import (
	"encoding/json"
	"strings"
	"sync"
)

// Event is something that happened in a tick of an end, or a line of a log.
type Event struct {
	Number uint64 `json:"number"` // counted from 1, over all ends
	End    string `json:"end"`    // name of the end; for a log line its attribute "end", or empty
	Tick   Tick   `json:"tick"`   // 0: unknown
	Kind   string `json:"kind"`   // correction, input, player or log
	// Cause is what happened. For a correction it is the cause: see package prediction. For a
	// log line it is the level.
	Cause string `json:"cause"`
	// Player is the player that the event is about. For a client's correction it is the other
	// player that caused it.
	Player uint16          `json:"player,omitempty"`
	Text   string          `json:"text"`             // one line
	Detail json.RawMessage `json:"detail,omitempty"` // explanation of a correction, as Misprediction.JSON returns it
}

// EventQuery chooses events. The zero EventQuery chooses all.
type EventQuery struct {
	After uint64 // only events with a higher number
	End   string // only events of this end
	Kind  string // only events of this kind
	Text  string // words that must be in the event's text, kind, cause or end; case does not count
	Most  int    // how many of the newest events; 0 means 200
}

const (
	defaultMost = 200
	mostText    = 1024 // bytes of a line
)

// eventRing holds the newest events.
type eventRing struct {
	mu   sync.Mutex
	most int
	list []Event // the event with number n is at (n−1) % most
	last uint64
}

func (r *eventRing) addEvent(e Event) {
	if len(e.Text) > mostText {
		e.Text = strings.ToValidUTF8(e.Text[:mostText], "") + " …"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	if e.Number = r.last; len(r.list) < r.most {
		r.list = append(r.list, e)
		return
	}
	r.list[int((r.last-1)%uint64(r.most))] = e
}

// recent is how many of the newest events [eventRing.noted] searches.
const recent = 512

// noted reports whether a recent event of another end has this tick and a text that begins so.
func (r *eventRing) noted(end string, t Tick, begins string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range min(uint64(recent), uint64(len(r.list))) {
		e := &r.list[int((r.last-1-i)%uint64(r.most))]
		if e.Tick == t && e.End != end && strings.HasPrefix(e.Text, begins) {
			return true
		}
	}
	return false
}

// eventsAfter returns the events with a higher number than after, oldest first.
func (r *eventRing) eventsAfter(after uint64) (all []Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := max(after, r.last-uint64(len(r.list))); n < r.last; n++ {
		all = append(all, r.list[int(n%uint64(r.most))])
	}
	return all
}

func (q *EventQuery) choose(all []Event) (out []Event) {
	words := strings.Fields(strings.ToLower(q.Text))
	most := q.Most
	if most <= 0 {
		most = defaultMost
	}
	for i := len(all) - 1; i >= 0 && len(out) < most; i-- {
		if e := &all[i]; q.matches(e, words) {
			out = append(out, *e)
		}
	}
	return out
}

func (q *EventQuery) matches(e *Event, words []string) bool {
	if e.Number <= q.After || q.End != "" && q.End != e.End || q.Kind != "" && q.Kind != e.Kind {
		return false
	}
	if len(words) == 0 {
		return true
	}
	text := strings.ToLower(e.Text + " " + e.Kind + " " + e.Cause + " " + e.End)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// Events returns events of all ends, newest first. Clients contribute corrections, with the
// explanation that [client.Config].OnMisprediction gets. Servers contribute missing and refused
// commands, and players that join, leave or reconnect. They also contribute the corrections of
// clients in other processes, which they request while the inspector is open.
func (in *Inspector) Events(q EventQuery) []Event { return q.choose(in.events.eventsAfter(q.After)) }

// Logs returns lines that passed a handler of [Inspector.LogHandler], newest first.
func (in *Inspector) Logs(q EventQuery) []Event { return q.choose(in.logs.eventsAfter(q.After)) }
