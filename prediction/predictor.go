package prediction

import "fmt"

// Tick is a step of the simulation, counted from the server's start.
type Tick = uint32

// DefaultHistory is the number of ticks a Predictor remembers when its Config
// says 0.
const DefaultHistory = 32

const maxHistory = 1 << 16

// World is the predicted part of a simulation. Slots number the saves, from 0
// to History−1. A slot is overwritten when its tick leaves the history.
type World interface {
	// Save stores the predicted state after tick t.
	Save(slot int, t Tick)
	// Load restores the state that Save stored in slot for tick t.
	Load(slot int, t Tick)
	// Step runs tick t with that tick's input. replay is true when the tick ran
	// before: play sounds and other effects only in the first run.
	Step(t Tick, replay bool)
}

// Authority is the server's state of one tick.
type Authority interface {
	// Compare compares the prediction saved in slot with the server's state of
	// the same tick t.
	Compare(slot int, t Tick) Verdict
	// Adopt writes the server's state of tick t into the world, which holds the
	// prediction for t at that moment.
	Adopt(t Tick)
}

// Amender is an [Authority] that can correct a prediction without a replay, for
// differences too small to be worth one.
type Amender interface {
	// Amend adjusts the world, which holds the prediction for tick k, by the
	// difference between the server's state and the prediction of tick t. It is
	// called for t itself and then for every later tick, in order.
	Amend(t, k Tick)
}

// Verdict is the result of a comparison.
type Verdict uint8

// The verdicts, from best to worst.
const (
	// Same: the prediction agrees with the server's state.
	Same Verdict = iota
	// Near: not equal, but within the caller's tolerance. No tick is replayed;
	// the server's values are adopted if the Authority is an Amender.
	Near
	// Different: the world must roll back, adopt and replay.
	Different
)

// String returns "same", "near" or "different".
func (v Verdict) String() string {
	switch v {
	case Same:
		return "same"
	case Near:
		return "near"
	case Different:
		return "different"
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// Config configures a Predictor. The zero value is ready to use.
type Config struct {
	// History is the number of ticks that can be compared and replayed, 2 to 65
	// 536. 0 means 32; negative is an error. It must cover the round trip and
	// the input buffer: replay cannot correct an older prediction.
	History int
}

// Predictor runs a World ahead of its server.
type Predictor struct {
	world   World
	history int
	ticks   []Tick // ticks has the tick that is saved in each slot.
	valid   []bool
	now     Tick
	started bool
}

// NewPredictor returns a predictor that has not started. It fails when w is
// nil, and when the history is negative, below 2 ticks or above 65 536.
func NewPredictor(c Config, w World) (*Predictor, error) {
	if c.History == 0 {
		c.History = DefaultHistory
	}
	if c.History < 2 || c.History > maxHistory {
		return nil, fmt.Errorf("prediction: Config.History is %d; use 2 to %d, or 0 for %d", c.History, maxHistory, DefaultHistory)
	}
	if w == nil {
		return nil, fmt.Errorf("prediction: NewPredictor needs a World")
	}
	return &Predictor{world: w, history: c.History, ticks: make([]Tick, c.History), valid: make([]bool, c.History)}, nil
}

// Start declares that the world holds the state after tick t, and saves it.
// Everything remembered so far is dropped.
func (p *Predictor) Start(t Tick) {
	clear(p.valid)
	p.now, p.started = t, true
	p.saveTick(t)
}

// Restart declares that the world holds the state after tick t. It replays the
// ticks from there to the newest and returns their number. Everything
// remembered is dropped. Use it for changes that no saved state has, such as a
// change of an entity's owner.
func (p *Predictor) Restart(t Tick) int {
	now := p.now
	p.Start(t)
	if int32(now-t) <= 0 {
		return 0
	}
	p.now = now
	return p.replay(t)
}

// Started reports whether Start was called.
func (p *Predictor) Started() bool { return p.started }

// Tick returns the newest predicted tick.
func (p *Predictor) Tick() Tick { return p.now }

// Slot returns the slot of tick t, and whether t is still saved there.
func (p *Predictor) Slot(t Tick) (int, bool) {
	s := int(t % Tick(p.history))
	return s, p.valid[s] && p.ticks[s] == t
}

// Advance predicts the next tick and returns it.
func (p *Predictor) Advance() Tick {
	p.now++
	p.world.Step(p.now, false)
	p.saveTick(p.now)
	return p.now
}

// Rewrite saves the world again as the newest tick's state, after the caller
// changed it outside a Step, for example with unpredicted values from the
// server.
func (p *Predictor) Rewrite() { p.saveTick(p.now) }

// Present loads the newest tick's state, and so undoes changes made for
// drawing.
func (p *Predictor) Present() {
	if s, ok := p.Slot(p.now); ok {
		p.world.Load(s, p.now)
	}
}

// Result reports what Reconcile did.
type Result struct {
	// Verdict of the comparison; Same when nothing could be compared.
	Verdict Verdict
	// Compared is false when tick t was not in the history.
	Compared bool
	// Replayed counts the ticks run again.
	Replayed int
	// SoftCorrections counts the ticks whose state was amended without a
	// replay.
	SoftCorrections int
	// Jumped is true when the server was ahead of the prediction: its state was
	// adopted as the newest tick.
	Jumped bool
}

// Reconcile processes the server's state of tick t. Ticks must come in rising
// order. A tick outside the history is not compared.
func (p *Predictor) Reconcile(t Tick, a Authority) Result {
	if !p.started {
		return Result{}
	}
	if int32(t-p.now) > 0 {
		a.Adopt(t)
		p.Start(t)
		return Result{Jumped: true}
	}
	slot, ok := p.Slot(t)
	if !ok {
		return Result{}
	}
	r := Result{Compared: true, Verdict: a.Compare(slot, t)}
	if r.Verdict == Near {
		r.SoftCorrections = p.amend(t, a)
	}
	if r.Verdict != Different {
		return r
	}
	p.world.Load(slot, t)
	a.Adopt(t)
	p.saveTick(t)
	r.Replayed = p.replay(t)
	return r
}

// amend applies a small difference of tick t to every tick since then.
func (p *Predictor) amend(t Tick, a Authority) (n int) {
	amender, ok := a.(Amender)
	if !ok {
		return 0
	}
	for k := t; int32(k-p.now) <= 0; k++ {
		if slot, ok := p.Slot(k); ok {
			p.world.Load(slot, k)
			amender.Amend(t, k)
			p.saveTick(k)
			n++
		}
	}
	return n
}

// replay runs every tick after t again and returns their number.
func (p *Predictor) replay(t Tick) int {
	n := 0
	for k := t + 1; int32(k-p.now) <= 0; k++ {
		p.world.Step(k, true)
		p.saveTick(k)
		n++
	}
	return n
}

func (p *Predictor) saveTick(t Tick) {
	s := int(t % Tick(p.history))
	p.ticks[s], p.valid[s] = t, true
	p.world.Save(s, t)
}
