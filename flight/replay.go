package flight

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/tape"
	"github.com/foretick/foretick/server"
)

// Game is the game's own part of a replay.
type Game struct {
	// New makes a server like the one that was recorded: of the same protocol and systems,
	// and with the same entities before the first Step. cfg has the recorded settings, and
	// the tape in place of Transport, Random and Recorder. Add the Protocol, and return
	// server.New(cfg) with the first entities of the match. Play calls it again to find the
	// reason of a difference. Required.
	New func(cfg server.Config) (*server.Server, error)
	// Call returns the function that the program passed to Server.Do with this name. The
	// tape has only the calls of the server that the function made, such as ServerFrame.Kick.
	// nil, for the function or its result, makes those calls.
	Call func(name string) func(*foretick.ServerFrame)
	// Level returns the function that builds a level, for calls of Server.NextLevel between
	// Steps or in a function of Server.Do. nil builds nothing.
	Level func(data []byte) func(*foretick.ServerFrame)
	// Loose turns off the comparison with the tape, to see what changed code does with the
	// same input. With false a replay ends at the first difference.
	Loose bool
}

// Replay plays a tape through the game's code, tick by tick. It is used by one goroutine.
type Replay struct {
	tape *Tape
	game Game
	srv  *server.Server
	deck deck
	cur  *cursor

	setup  []tape.Call // calls recorded before the first Step that Game.New did not make
	start  time.Time   // time of the first Step
	passed bool        // the tick that panicked in the recording ran without a panic

	// pull and stop are those of iter.Pull, and yield passes a tick to pull.
	yield   func(foretick.Tick) bool
	pull    func() (foretick.Tick, bool)
	stop    func()
	stopped bool
	err     error // the first difference, or the reason why the replay ended
}

// DifferenceError says where a replay first differs from the match, and why.
type DifferenceError struct {
	Tick   foretick.Tick // the first tick that differs; 0: something differs before the first tick
	What   string        // what differs
	Reason string        // the reason, as far as it is known
	System string        // the first system with other results in each replay; empty if none is known
	state  bool          // the world's hash or the packets differ
}

// Error names the tick, what differs, and the reason.
func (d *DifferenceError) Error() string {
	s := fmt.Sprintf("flight: the replay differs in tick %d: %s", d.Tick, d.What)
	if d.Reason != "" {
		s += ". " + d.Reason
	}
	return s
}

// PanicError is the panic of a replay.
type PanicError struct{ Panic }

// Error has the tick and the value.
func (e *PanicError) Error() string {
	return fmt.Sprintf("flight: a system panics in tick %d: %s", e.Tick, e.Text)
}

// NewReplay makes the game's server. The first call of Next plays its first tick. If the protocol
// or the settings are not those of the tape, the error names what differs.
func NewReplay(t *Tape, g Game) (*Replay, error) {
	if g.New == nil {
		return nil, errors.New("flight: Game.New is nil: pass the function that makes the match's server")
	}
	r := &Replay{tape: t, game: g, cur: t.cursor()}
	r.deck.r, r.deck.ready = r, make(chan struct{}, 1)
	first, err := r.prelude()
	if err != nil {
		return nil, err
	}
	cfg := server.Config{Transport: &r.deck, Random: &r.deck, Recorder: &r.deck}
	if err := t.configure(&cfg); err != nil {
		return nil, err
	}
	srv, err := g.New(cfg)
	switch {
	case err != nil:
		return nil, err
	case srv == nil:
		return nil, errors.New("flight: Game.New returned no server and no error")
	case r.err != nil:
		return nil, r.err
	case !r.begun():
		return nil, errors.New("flight: Game.New returned a server without the Recorder of its configuration: pass on the whole server.Config that it is given")
	}
	r.srv = srv
	probe.OfServer(srv).SetArchitecture(t.info.Arch)
	for _, c := range r.setup {
		if r.applyCall(c); r.err != nil {
			return nil, r.err
		}
	}
	next, stop := iter.Pull(func(yield func(foretick.Tick) bool) {
		r.yield = yield
		r.play(first)
	})
	r.pull, r.stop = next, stop
	return r, nil
}

// begun reports whether the server uses the deck as its recorder.
func (r *Replay) begun() bool { return r.deck.begun }

// prelude reads the records before the first Step. It reports whether there is a first Step.
func (r *Replay) prelude() (first bool, err error) {
	var p portion
	for {
		kind, b, err := r.cur.nextRecord()
		if err != nil || kind == recStep {
			if err != nil && err != io.EOF {
				return false, err
			}
			r.setup = p.calls
			r.deck.outside = p.values
			p.values = nil
			r.deck.loadStep(p)
			if kind == recStep && err == nil {
				s := scan{b: b}
				r.deck.now.at = time.Duration(s.varint())
			}
			return err == nil, nil
		}
		if kind == recStart {
			s := scan{b: b}
			r.start = s.time()
		}
		if err := p.addRecord(kind, b); err != nil {
			return false, r.cur.damaged("%v", err)
		}
	}
}

// Server returns the server, to look into its world between calls of Next. Do not step it.
func (r *Replay) Server() *server.Server { return r.srv }

// Next plays to the end of the next tick, and returns the tick. The server then is in the state
// that the recorded one had after this tick. Errors: io.EOF at the end of the tape, a
// [PanicError], a [DifferenceError], a [DamagedError].
func (r *Replay) Next() (foretick.Tick, error) {
	if r.err != nil {
		return 0, r.err
	}
	tick, ok := r.pull()
	switch {
	case r.err != nil:
		return tick, r.err
	case !ok:
		r.err = io.EOF
		return 0, r.err
	}
	return tick, nil
}

// RunTo plays to the end of a tick. Errors are those of Next.
func (r *Replay) RunTo(tick foretick.Tick) error {
	for r.srv.Tick() < tick {
		if _, err := r.Next(); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the replay.
func (r *Replay) Close() {
	r.stop()
	if r.err == nil {
		r.err = errors.New("flight: the replay is closed")
	}
}

// ticked makes Next return with a tick that has ended.
func (r *Replay) ticked(tick foretick.Tick) {
	if !r.stopped && (r.err == nil || r.game.Loose) {
		r.stopped = !r.yield(tick)
	}
}

func (r *Replay) differ(tick foretick.Tick, format string, args ...any) {
	if r.err == nil && !r.game.Loose {
		r.err = &DifferenceError{Tick: tick, What: fmt.Sprintf(format, args...)}
	}
}

func (r *Replay) differState(tick foretick.Tick, format string, args ...any) {
	if r.err == nil && !r.game.Loose {
		r.err = &DifferenceError{Tick: tick, What: fmt.Sprintf(format, args...), state: true}
	}
}

// play plays the Steps of the tape.
func (r *Replay) play(pending bool) {
	p := portion{at: r.deck.now.at}
	for {
		kind, b, err := r.cur.nextRecord()
		complete := err == nil && betweenSteps(kind, b)
		if pending && (complete || err != nil && p.panic != nil) {
			if pending = false; !r.playStep(p) {
				return
			}
		}
		switch {
		case err == io.EOF:
			return
		case err != nil:
			r.err = err
			return
		case kind == recStep:
			s := scan{b: b}
			p, pending = portion{at: p.at + time.Duration(s.varint())}, true
		case kind == recCall && complete:
			c, err := readCall(b)
			if err != nil {
				r.err = r.cur.damaged("%v", err)
				return
			}
			if r.applyCall(c); r.err != nil {
				return
			}
		case kind == recValue && complete:
			r.deck.outside = append(r.deck.outside, slices.Clone(b[1:]))
		default:
			if err := p.addRecord(kind, b); err != nil {
				r.err = r.cur.damaged("%v", err)
				return
			}
		}
	}
}

// betweenSteps reports whether a record shows that no Step was running.
func betweenSteps(kind byte, b []byte) bool {
	switch kind {
	case recStep, recTouched, recOpaque, recClosed, recPause:
		return true
	case recValue:
		return len(b) > 0 && b[0] == 0
	case recCall:
		return len(b) > 1 && b[1]&callQueued == 0
	}
	return false
}

// playStep plays one Step. It returns false at the end of the replay.
func (r *Replay) playStep(p portion) bool {
	d := &r.deck
	d.loadStep(p)
	d.panicked = nil
	r.runStep(r.start.Add(p.at))
	if r.stopped || r.err != nil {
		return false
	}
	switch was, is := p.panic, d.panicked; {
	case is != nil && (was != nil && was.Text == is.Text && was.Tick == is.Tick || r.game.Loose):
		r.err = &PanicError{*is}
	case is != nil && was != nil:
		r.differ(is.Tick, "it panics with %q, and with %q when it was recorded", is.Text, was.Text)
	case is != nil:
		r.differ(is.Tick, "it panics with %q, and did not when it was recorded", is.Text)
	case d.ticks < len(p.ticks):
		r.differ(d.tick+1, "the match computed this tick in this Step, and the replay does not")
	case d.values < len(p.values):
		r.differ(d.tick, "Server.Record is called less often than on the tape")
	case d.infos < len(p.infos) || d.random < len(p.random) || d.grants < len(p.grants):
		r.differ(d.tick, "the server asks for less than the tape has of peers, randomness or observers")
	}
	return r.err == nil && !r.passed
}

// runStep calls Step. The deck has stored a panic of the game by the time it is recovered.
func (r *Replay) runStep(now time.Time) {
	defer func() {
		if v := recover(); v != nil && r.deck.panicked == nil {
			r.err = fmt.Errorf("flight: the replay fails: %v", v)
		}
	}()
	r.srv.Step(now)
}

// Result is what Play found.
type Result struct {
	Ticks int           // number of ticks that were played
	Last  foretick.Tick // newest tick that was played
	Panic *Panic        // the recorded panic, if it happened again; nil: none happened
}

// Play plays a whole tape. It returns without an error if each tick had the recorded hash, up
// to the end or to the recorded panic. Result.Panic is set if that panic happened again. After a
// difference Play plays the tape two more times, to find out whether the game's code does the
// same each time. The [DifferenceError] then has the reason.
func Play(t *Tape, g Game) (res Result, err error) {
	r, err := NewReplay(t, g)
	if err != nil {
		return res, err
	}
	defer r.Close()
	for {
		tick, err := r.Next()
		if err == nil {
			res.Ticks++
			res.Last = tick
			continue
		}
		var p *PanicError
		var d *DifferenceError
		switch {
		case err == io.EOF:
			return res, nil
		case errors.As(err, &p):
			res.Panic = &p.Panic
			return res, nil
		case errors.As(err, &d):
			d.explain(t, g)
		}
		return res, err
	}
}
