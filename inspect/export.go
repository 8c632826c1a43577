package inspect

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
)

// WriteJSONL writes all samples, events and log lines in memory as JSON lines. Each line has
// "kind", "end" and "tick". So lines of servers and clients can be joined by tick, also those of
// other processes:
//
//	{"kind":"end","end":"match","tick":0,"of":{"role":"server","tick_rate":30,…},"series":[…]}
//	{"kind":"tick","end":"match","tick":17,"figures":{"tick_ms":0.2,"rtt_ms":52,"bytes.Position.X":14.5}}
//	{"kind":"correction","end":"player 1","tick":19,"cause":"server_effect","text":"…","detail":{…}}
//
// Counts of 0 are left out of "figures". A correction's tick is the server's tick that
// differed. The samples of an end are in the order of time, and the events follow in theirs.
func (in *Inspector) WriteJSONL(to io.Writer) error {
	w := bufio.NewWriter(to)
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	type head struct {
		Kind   string   `json:"kind"`
		End    string   `json:"end"`
		Tick   Tick     `json:"tick"`
		Of     End      `json:"of"`
		Series []Series `json:"series"`
	}
	type tick struct {
		Kind    string             `json:"kind"`
		End     string             `json:"end"`
		Tick    Tick               `json:"tick"`
		Figures map[string]float32 `json:"figures"`
	}
	for _, of := range in.Ends() {
		e, err := in.findEnd(of.Name)
		if err != nil {
			continue // removed meanwhile
		}
		if err := lines.Encode(head{"end", of.Name, 0, of, e.series}); err != nil {
			return err
		}
		for from := uint64(0); ; {
			s := e.samples.readSamples(from, 256)
			if from = s.Next; len(s.Ticks) == 0 {
				break
			}
			for i, row := range s.Values {
				if err := lines.Encode(tick{"tick", of.Name, s.Ticks[i], e.figures(row)}); err != nil {
					return err
				}
			}
		}
	}
	for _, ring := range []*eventRing{&in.events, &in.logs} {
		for _, ev := range ring.eventsAfter(0) {
			if err := lines.Encode(ev); err != nil {
				return err
			}
		}
	}
	return w.Flush()
}

// figures returns the values of a row by the keys of their series. It leaves out counts and times
// of systems that are 0.
func (e *end) figures(row []float32) map[string]float32 {
	out := make(map[string]float32, len(row))
	for i, v := range row {
		if s := &e.series[i]; v != 0 || !s.Count && s.Chart != chartSystems {
			out[s.Key] = v
		}
	}
	return out
}

// traceEvent is an event of Chrome's trace format. Times are in microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Time  float64        `json:"ts"`
	Took  *float64       `json:"dur,omitempty"`
	End   int            `json:"pid"`
	Row   int            `json:"tid"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Rows of an end in a trace.
const (
	rowTicks = 1 + iota
	rowEvents
)

// WriteChromeTrace writes all samples and events in memory in the format of chrome://tracing and Perfetto.
// Each end is a process of the trace. The time axis is ticks at the tick rate, so the same
// tick of servers and clients is at the same time. A server's systems are shown inside of its
// ticks, figures are counters, and events are marks.
func (in *Inspector) WriteChromeTrace(to io.Writer) error {
	t := tracer{w: bufio.NewWriter(to)}
	t.raw(`{"displayTimeUnit":"ms","traceEvents":[`)
	numbers := map[string]int{}
	rates := map[string]float64{}
	for i, of := range in.Ends() {
		e, err := in.findEnd(of.Name)
		if err != nil {
			continue
		}
		numbers[of.Name], rates[of.Name] = i+1, 1e6/float64(max(of.TickRate, 1))
		t.putEvent(traceEvent{Name: "process_name", Phase: "M", End: i + 1, Args: map[string]any{"name": of.Name}})
		t.putEvent(traceEvent{Name: "thread_name", Phase: "M", End: i + 1, Row: rowTicks, Args: map[string]any{"name": "ticks"}})
		t.putEvent(traceEvent{Name: "thread_name", Phase: "M", End: i + 1, Row: rowEvents, Args: map[string]any{"name": "events"}})
		for from := uint64(0); t.err == nil; {
			s := e.samples.readSamples(from, 256)
			if from = s.Next; len(s.Ticks) == 0 {
				break
			}
			for k, row := range s.Values {
				t.writeTick(e, i+1, s.Ticks[k], rates[of.Name], row)
			}
		}
	}
	for _, ev := range in.events.eventsAfter(0) {
		if n := numbers[ev.End]; n != 0 {
			t.putEvent(traceEvent{Name: ev.Kind + ": " + ev.Cause, Phase: "i", Time: float64(ev.Tick) * rates[ev.End], End: n, Row: rowEvents, Scope: "p", Args: map[string]any{"tick": ev.Tick, "text": ev.Text}})
		}
	}
	t.raw("]}\n")
	if t.err != nil {
		return t.err
	}
	return t.w.Flush()
}

// tracer writes the events of a Chrome trace.
type tracer struct {
	w     *bufio.Writer
	begun bool
	err   error
}

func (t *tracer) raw(s string) {
	if t.err == nil {
		_, t.err = t.w.WriteString(s)
	}
}

func (t *tracer) putEvent(e traceEvent) {
	if t.err != nil {
		return
	}
	if t.begun {
		t.raw(",\n")
	}
	t.begun = true
	var b []byte
	if b, t.err = json.Marshal(e); t.err == nil {
		_, t.err = t.w.Write(b)
	}
}

// writeTick writes a tick of an end: for a server the times of the tick and of its systems, and
// the figures by chart.
func (t *tracer) writeTick(e *end, number int, tick Tick, rate float64, row []float32) {
	at := float64(tick) * rate
	if e.role == "server" {
		at += max(float64(row[srvLate])*1000, 0)
		took := float64(row[srvTook]) * 1000
		t.putEvent(traceEvent{Name: "tick", Phase: "X", Time: at, Took: &took, End: number, Row: rowTicks, Args: map[string]any{"tick": tick}})
		from := at
		for i, s := range e.series {
			if s.Chart == chartSystems && row[i] > 0 {
				took := float64(row[i]) * 1000
				t.putEvent(traceEvent{Name: s.Name, Phase: "X", Time: from, Took: &took, End: number, Row: rowTicks})
				from += took
			}
		}
	}
	for i := 0; i < len(row); {
		chart, args := e.series[i].Chart, map[string]any{}
		for ; i < len(row) && e.series[i].Chart == chart; i++ {
			if v := float64(row[i]); !math.IsNaN(v) && !math.IsInf(v, 0) {
				args[e.series[i].Name] = row[i]
			}
		}
		if chart != chartSystems {
			t.putEvent(traceEvent{Name: chart, Phase: "C", Time: at, End: number, Args: args})
		}
	}
}
