package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/examples/arena/game"
)

// referee recomputes a match's counts from its log alone. It shares no code
// with the computation of the report: not the library's comparison, its queries
// into the past, or its statistics.
type referee struct {
	match   Fact
	ended   bool
	world   refWorld
	report  *Report
	players map[int]*refPlayer

	ticks    map[uint32]*Fact   // server ticks by number
	execs    map[refKey]*Fact   // the facts "exec"
	verdicts map[refKey]*Fact   // the newest verdict of each shot
	judged   map[refKey][]*Fact // all verdicts: a tick may judge late shots too
	deaths   map[int][]uint32
	shots    []refKey // in the order of their first firing
	fired    map[refKey]*Fact

	last      *Fact    // the newest fact "tick"
	atEnd     *Fact    // the newest fact "tick" when play ended
	out, in   uint64   // bytes until play ended
	stuns     []uint32 // the ticks of stuns
	missing   uint64
	rerun     uint64
	told      uint64
	toldHurt  int
	hurts     []*Fact
	confirms  []int
	behind    float64
	ahead     float64
	delay     float64
	frames    int
	shown     []*Fact
	noLagBad  int
	noLagSeen int
}

type refKey struct {
	p int
	t uint32
}

// refPlayer is the state of one player, from both ends.
type refPlayer struct {
	first, newest map[uint32]Body         // predicted bodies: the first and the newest prediction
	played        map[uint32]game.Command // the commands used for the predictions
	when          map[uint32]time.Duration
	handed        bool // input was sampled in the current frame
	hand          game.Command
	handTick      uint32
	living        int
	moving        int
	changed       int

	late        refLate
	agreed      uint32 // the newest processed snapshot that had the player's own body
	confirmed   uint32
	substituted []uint32 // ticks that ran without the player's own command
	// stall is the newest of substituted that a correction was counted for.
	stall    uint32
	written  []refEffect
	arrivals []float64
	pic      *Fact

	wrong, shownWrong, again, resets uint64
	causes                           map[string]uint64
	next                             map[string]uint32
	got                              uint64
}

func newReferee() *referee {
	return &referee{
		players: map[int]*refPlayer{}, ticks: map[uint32]*Fact{}, execs: map[refKey]*Fact{}, verdicts: map[refKey]*Fact{}, judged: map[refKey][]*Fact{},
		deaths: map[int][]uint32{}, fired: map[refKey]*Fact{},
	}
}

func (r *referee) player(f *Fact) *refPlayer {
	p := r.players[int(f.P)]
	if p == nil {
		p = &refPlayer{first: map[uint32]Body{}, newest: map[uint32]Body{}, played: map[uint32]game.Command{}, when: map[uint32]time.Duration{}, causes: map[string]uint64{}, next: map[string]uint32{}}
		r.players[int(f.P)] = p
	}
	return p
}

// read reads the whole log.
func (r *referee) read(in io.Reader) error {
	d := json.NewDecoder(in)
	for n := 1; ; n++ {
		f := &Fact{}
		switch err := d.Decode(f); {
		case err == io.EOF:
			if r.report == nil {
				return fmt.Errorf("the log has no report: its match did not end")
			}
			return nil
		case err != nil:
			return fmt.Errorf("line %d: %w", n, err)
		}
		r.take(f)
	}
}

// take processes one fact.
func (r *referee) take(f *Fact) {
	k := refKey{int(f.P), f.T}
	switch f.F {
	case "match":
		r.match = *f
	case "end":
		r.ended, r.atEnd, r.out, r.in = true, r.last, f.Out, f.In
	case "report":
		r.report = f.Report
	case "shown":
		r.shown = append(r.shown, f)
	case "tick":
		r.ticks[f.T], r.last = f, f
		r.affect(f.T)
	case "exec":
		r.execs[k] = f
	case "tell":
		r.told++
		if f.Kind == "hurt" {
			r.toldHurt++
		}
	case "hurt":
		r.hurts = append(r.hurts, f)
	case "undo":
		r.undo(f.T)
	case "redone":
		r.redone(f)
	case "rerun":
		r.player(f).late.again(f)
	case "input":
		r.cameLate(f)
		r.player(f).late.input(f, r.player(f).played, uint32(r.match.Late))
		if !r.ended {
			r.rerun += uint64(f.Late)
		}
		if !f.Ok {
			r.player(f).substituted = append(r.player(f).substituted, f.T)
		}
		if f.Missing && !r.ended {
			r.missing++
		}
	case "write":
		r.write(f)
	case "verdict":
		r.verdicts[k], r.judged[k] = f, append(r.judged[k], f)
	case "shot":
		if !r.ended {
			if r.fired[k] == nil {
				r.shots = append(r.shots, k)
			}
			r.fired[k] = f
		}
	default:
		r.client(f, r.player(f))
	}
}

func (r *referee) write(f *Fact) {
	p := r.player(f)
	p.written = append(p.written, refEffect{tick: f.T, now: r.now()})
	switch f.By {
	case "die":
		r.deaths[int(f.P)] = append(r.deaths[int(f.P)], f.T)
	case "stun":
		r.stuns = append(r.stuns, f.T)
	case "join":
		r.barrier()
	}
}

// client processes a fact from a client.
func (r *referee) client(f *Fact, p *refPlayer) {
	switch f.F {
	case "hear":
		if want, known := p.next[f.Kind]; !known || want == f.ID {
			p.got++
		}
		p.next[f.Kind] = f.ID + 1
	case "hand":
		r.sampled(f, p)
	case "step":
		r.step(f, p)
	case "pic":
		r.sampledTicks(f, p)
		r.frame(f, p)
	case "recv":
		r.received(f, p)
	}
}

// sampled counts a bot's input, once per tick.
func (r *referee) sampled(f *Fact, p *refPlayer) {
	p.handed = true
	if r.ended || f.T == p.handTick {
		return
	}
	p.handTick = f.T
	if f.Body == nil {
		return
	}
	if !f.Body.Dead {
		p.living++
		if f.Body.VX != 0 || f.Body.VY != 0 {
			p.moving++
		}
		if *f.Cmd != p.hand {
			p.changed++
		}
	}
	p.hand = *f.Cmd
}

func (r *referee) step(f *Fact, p *refPlayer) {
	p.newest[f.T], p.played[f.T] = *f.Body, *f.Cmd
	if f.Replay {
		if !r.ended {
			p.again++
		}
		return
	}
	p.first[f.T] = *f.Body
}

// sampledTicks records the ticks for which a frame brought a command: those
// that became due since the previous frame, if input was sampled.
func (r *referee) sampledTicks(f *Fact, p *refPlayer) {
	if p.pic == nil || f.T-p.pic.T > uint32(r.match.Rate) {
		return
	}
	for k := r.newest(p.pic) + 1; k <= r.newest(f); k++ {
		if delete(p.when, k); p.handed {
			p.when[k] = f.At
		}
	}
}

// newest returns the tick of a frame's newest command: the tick on the screen plus the input delay.
func (r *referee) newest(f *Fact) uint32 {
	return f.T + uint32(float64(f.Fraction)+f.Delay.Seconds()*float64(r.match.Rate)+1e-3)
}

// frame follows a client's clock from one frame to the next.
func (r *referee) frame(f *Fact, p *refPlayer) {
	p.handed = false
	if p.pic != nil && !r.ended {
		r.behindNow(f, p)
		// A steered clock advances by the ticks of the elapsed time, plus or
		// minus a few, unless it waited for the server.
		went := (f.At - p.pic.At).Seconds() * float64(r.match.Rate)
		if !p.pic.Stalled && math.Abs(float64(int32(f.T-p.pic.T))-went) > 6 {
			p.resets++
		}
	}
	p.pic = f
}

// behindNow measures how far other players' render time is behind the mean snapshot, and how far inputs
// are ahead of it.
func (r *referee) behindNow(f *Fact, p *refPlayer) {
	if len(p.arrivals) == 0 {
		return
	}
	recent := p.arrivals[max(0, len(p.arrivals)-r.match.Rate):]
	mean := 0.0
	for _, a := range recent {
		mean += a / float64(len(recent))
	}
	server := f.At.Seconds()*float64(r.match.Rate) - mean
	r.behind += max(0, server-f.Render[0]-f.Render[1]) / float64(r.match.Rate) * 1000
	ahead := float64(f.T) + float64(f.Fraction) - server
	r.ahead += ahead/float64(r.match.Rate)*1000 + float64(f.Delay)/float64(time.Millisecond)
	r.delay += float64(f.Delay) / float64(time.Millisecond)
	r.frames++
}

// received compares a snapshot with the prediction for its tick.
func (r *referee) received(f *Fact, p *refPlayer) {
	p.arrivals = append(p.arrivals, f.At.Seconds()*float64(r.match.Rate)-float64(f.T))
	r.confirm(f, p)
	if p.late.final(f.T) != f.T {
		return // the snapshot waits for an input, and leaves out the player's own body
	}
	since := p.agreed
	p.agreed = f.T
	if r.ended || r.ticks[f.T] == nil {
		return
	}
	was, ok := bodyOf(r.ticks[f.T].Bodies, int(f.P))
	ours, predicted := p.newest[f.T]
	if !ok || !predicted {
		return
	}
	if !alike(p.first[f.T], was) {
		p.shownWrong++
	}
	if alike(ours, was) {
		return
	}
	if cause := r.cause(f.P, p, since, f.T); cause != "input" || !r.counted(f.P, p, since, f.T) {
		p.wrong++
		p.causes[cause]++
	}
	p.newest[f.T] = was
}

// confirm records how long it took until the inputs up to a snapshot's tick came back.
func (r *referee) confirm(f *Fact, p *refPlayer) {
	final := p.late.final(f.T)
	if p.confirmed == 0 {
		p.confirmed = final - 1
	}
	for k := p.confirmed + 1; k <= final; k++ {
		if at, ok := p.when[k]; ok && !r.ended {
			r.confirms = append(r.confirms, min(int((f.At-at)/time.Millisecond), 1999)) // see stats.Client
		}
	}
	p.confirmed = final
}

// cause returns the first cause that applies since both ends last agreed.
func (r *referee) cause(player ecs.Owner, p *refPlayer, since, t uint32) string {
	if slices.ContainsFunc(p.substituted, func(k uint32) bool { return k > since && k <= t && r.another(player, p, k) }) {
		return "input"
	}
	return effect(p.written, since, t)
}

// another reports whether the server ran another command than the player's own in a tick. A
// replaced command that equals the original changed nothing.
func (r *referee) another(player ecs.Owner, p *refPlayer, k uint32) bool {
	ran, played := r.execs[refKey{int(player), k}], p.played[k]
	if cmd, again := p.late.ran[k]; again {
		return cmd != played
	}
	return ran == nil || *ran.Cmd != played
}

// counted reports whether a correction belongs to a run of replaced commands for which an earlier
// correction was counted.
func (r *referee) counted(player ecs.Owner, p *refPlayer, since, t uint32) bool {
	newest := uint32(0)
	for _, k := range p.substituted {
		if k > since && k <= t && r.another(player, p, k) {
			newest = max(newest, k)
		}
	}
	first := newest
	for slices.Contains(p.substituted, first-1) { // a replacement that equals the command is of the run too
		first--
	}
	before := p.stall
	p.stall = newest
	return before != 0 && first <= before+1 && newest >= before
}

func bodyOf(bodies []Body, p int) (Body, bool) {
	i := slices.IndexFunc(bodies, func(b Body) bool { return int(b.P) == p })
	if i < 0 {
		return Body{}, false
	}
	return bodies[i], true
}

// simStep is the grid of the simulation for positions and velocities: a
// sixteenth of the hundredth sent to others.
const simStep = 0.01 / 16

// alike reports whether two bodies are equal on the grid sent to their player.
// One of them may not be rounded yet.
func alike(a, b Body) bool {
	near := func(x, y float32) bool { return math.Abs(float64(x)-float64(y)) <= simStep/2*1.01 }
	return near(a.X, b.X) && near(a.Y, b.Y) && near(a.VX, b.VX) && near(a.VY, b.VY) && sameAngle(a.A, b.A, 1<<16) &&
		a.Stun == b.Stun && a.Dead == b.Dead && a.Gun == b.Gun
}

// sameAngle reports whether two angles are equal on a circle with that many steps.
func sameAngle(a, b float32, steps float64) bool {
	d := math.Remainder(float64(a)-float64(b), 2*math.Pi)
	return math.Abs(d) <= 2*math.Pi/steps*0.51
}
