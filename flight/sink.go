package flight

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/transport"
)

// sink is a Recorder with the methods that its server calls.
type sink Recorder

func init() {
	tape.SinkOf = func(recorder any) tape.Sink {
		switch r := recorder.(type) {
		case *Recorder:
			return (*sink)(r)
		case *deck:
			return r
		}
		return nil
	}
}

func (r *sink) putRecord(kind byte)            { (*Recorder)(r).putRecord(kind) }
func (r *sink) putText(kind byte, text string) { (*Recorder)(r).putText(kind, text) }

// Begin implements tape.Sink.
func (r *sink) Begin(h tape.Head, e transport.Endpoint, random io.Reader) (transport.Endpoint, io.Reader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.begun {
		return nil, nil, errors.New("flight: a Recorder records one server: call flight.New for each")
	}
	r.begun = true
	if k, ok := transport.As[tape.Keeper](e); ok {
		r.aside = k.Aside
	}
	b := r.scratch[:0]
	pair := func(name, value string) { b = appendBytes(appendBytes(b, name), value) }
	pair("name", r.cfg.Name)
	pair("game", r.cfg.Game)
	pair("protocol", fmt.Sprintf("%016x", h.Protocol))
	pair("build", game.BuildName())
	pair("go", runtime.Version())
	pair("os", runtime.GOOS)
	pair("arch", runtime.GOARCH)
	pair("debug", fmt.Sprint(h.Debug))
	for _, s := range h.Settings {
		pair(settingPrefix+s.Name, s.Value)
	}
	pair("describe", h.Describe[:min(len(h.Describe), 64<<10)])
	r.scratch = b
	r.putRecord(recHead)
	return &listener{r: (*Recorder)(r), Endpoint: e}, &dice{(*Recorder)(r), random}, nil
}

const settingPrefix = "config."

// Step implements tape.Sink.
func (r *sink) Step(now time.Time, hash func() uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started {
		if r.started, r.start = true, now; r.cfg.Durable != nil {
			r.cfg.Durable.addRunning((*Recorder)(r))
		}
		r.scratch = appendTime(r.scratch[:0], now)
		r.putRecord(recStart)
	} else if r.touched {
		r.scratch = r.scratch[:0]
		r.putRecord(recTouched)
		if r.hashed && hash() != r.hash {
			r.putText(recOpaque, "the program changed the world between Steps")
		}
	}
	r.touched = false
	t := now.Sub(r.start)
	r.scratch = binary.AppendVarint(r.scratch[:0], int64(t-r.last))
	r.last = t
	r.putRecord(recStep)
	r.inStep, r.sends.n = true, 0
}

// Stepped implements tape.Sink.
func (r *sink) Stepped() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inStep = false
	if r.closing {
		r.closeSink()
	}
}

// Panicked implements tape.Sink.
func (r *sink) Panicked(tick uint32, value any, stack []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprint(value)
	r.scratch = binary.AppendUvarint(r.scratch[:0], uint64(tick))
	r.scratch = appendBytes(r.scratch, text[:min(len(text), 4<<10)])
	r.scratch = append(r.scratch, stack[:min(len(stack), 32<<10)]...)
	r.putRecord(recPanic)
	if (*Recorder)(r).saveTape() == nil && r.aside == nil { // the panic may end the program
		_, _ = r.file.waitWritten() // File has the error
	}
}

// Tick implements tape.Sink.
func (r *sink) Tick(tick uint32, hash uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := binary.AppendUvarint(r.scratch[:0], uint64(tick-r.tick))
	b = binary.LittleEndian.AppendUint64(b, hash)
	r.scratch = binary.LittleEndian.AppendUint32(b, r.sends.sum())
	r.tick, r.hash, r.hashed = tick, hash, true
	r.putRecord(recTick)
}

// Outside implements tape.Sink.
func (r *sink) Outside(c tape.Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inStep && !c.Queued {
		return
	}
	r.hashed = r.hashed && r.inStep
	r.scratch = appendCall(r.scratch[:0], &c)
	r.putRecord(recCall)
}

// Queued implements tape.Sink.
func (r *sink) Queued(_ uint32, waiting []tape.Queued) (run []tape.Queued, replaced bool) {
	if len(waiting) == 0 {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range waiting {
		q := &waiting[i]
		if q.Edit == nil {
			r.putText(recDo, q.Name)
			continue
		}
		r.scratch = appendEdit(r.scratch[:0], q.Name, q.Edit)
		r.putRecord(recEdit)
	}
	return nil, false
}

// Value implements tape.Sink.
func (r *sink) Value(b []byte) (value []byte, replaced bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := byte(0)
	if r.inStep {
		in = 1
	}
	r.scratch = append(append(r.scratch[:0], in), b...)
	r.putRecord(recValue)
	return nil, false
}

// Observed implements tape.Sink.
func (r *sink) Observed(ask func() tape.Grant) tape.Grant {
	g := ask()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.scratch = appendGrant(r.scratch[:0], g)
	r.putRecord(recGrant)
	return g
}

// Replays implements tape.Sink.
func (r *sink) Replays() bool { return false }

// Looked implements tape.Sink.
func (r *sink) Looked(asked []tape.Look) []tape.Look {
	if len(asked) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range asked {
		r.scratch = appendLook(r.scratch[:0], &asked[i])
		r.putRecord(recLook)
	}
	return asked
}

// Touched implements tape.Sink.
func (r *sink) Touched() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.touched = r.touched || !r.inStep
}

// Report implements tape.Sink. The file is written while the match goes on.
func (r *sink) Report(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.putText(recReport, reason)
	if r.reports++; r.reports <= mostReports {
		_ = (*Recorder)(r).saveTape() // without Dir nothing is written
	}
}

// Closed implements tape.Sink. A tick that closes the server is still recorded.
func (r *sink) Closed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing = true; !r.inStep {
		r.closeSink()
	}
}

func (r *sink) closeSink() {
	if r.closed {
		return
	}
	r.closed = true
	r.scratch = r.scratch[:0]
	r.putRecord(recClosed)
	r.ended = true
	if r.keep && r.cfg.Dir != "" {
		_ = (*Recorder)(r).saveTape() // File has the error
	}
	if r.file == nil {
		return
	}
	r.dropped = !r.keep
	if r.file.finishFile(r.keep); r.aside != nil {
		r.aside(func() { _, _ = r.file.waitWritten() })
		return
	}
	_, _ = r.file.waitWritten()
}
