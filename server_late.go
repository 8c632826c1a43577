package foretick

import (
	"bytes"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// lateInputs runs commands that come after their tick in that tick: see
// ServerConfig.LateInputs. RATIONALE.md tells why it is done in this way.
type lateInputs struct {
	s      *Server
	window Tick   // 0: it is off
	shared []bool // by system: whether it runs again with a player's part
	runs   func(system int) bool
	fields [][]lateField  // of predicted components, by registry index
	kept   []ecs.ID       // components that no client predicts: they stay as they are
	queues []int          // of each queue of events, the system that drains it; −1: none
	events int            // the first of these systems
	before unsafe.Pointer // scratch: a command …
	packed []byte         // … and a packed one
	shapes []uint64       // scratch, by owner

	player *player // whose part runs again; nil: none
	at     *lateTick
	next   int         // of its journal
	moved  []lateWrite // scratch
	now    Tick        // the present, meanwhile

	test  lateSyncTest
	fades lateFades
	match lateMatch // without ServerConfig.LateWorld
	world lateWorld // with it
}

// lateField is a leaf of a component.
type lateField struct{ offset, size uintptr }

// The budget of late commands: on average one tick in lateShare, and lateDeep windows at
// once.
const (
	lateShare = 5
	lateDeep  = 2
)

func newLateInputs(s *Server) lateInputs {
	l := lateInputs{s: s, window: s.cfg.lateTicks()}
	if l.window == 0 {
		return l
	}
	l.fades.first = map[ecs.Entity]int{}
	systems := s.p.schedule.Systems()
	for _, sys := range systems {
		l.shared = append(l.shared, layout.Shared(sys) && (!sys.Once || layout.KeepsMatch(sys)))
	}
	l.runs = func(system int) bool { return l.shared[system] }
	for i := range s.p.Components {
		c := &s.p.Components[i]
		var fields []lateField
		switch {
		case c.Unknown:
		case c.Predicted:
			for _, f := range s.p.Types.Info(c.ID).Fields {
				fields = append(fields, lateField{f.Offset, f.Type.Size()})
			}
		default:
			l.kept = append(l.kept, c.ID)
		}
		l.fields = append(l.fields, fields)
	}
	for _, c := range s.p.Locals {
		l.kept = append(l.kept, c.ID)
	}
	l.kept = append(l.kept, s.p.identity.ID())
	if l.world = newLateWorld(s, l.window); !l.world.on {
		l.match = newLateMatch(s, l.window)
	}
	l.events = len(systems)
	for i := range s.p.Events {
		at := -1
		for k := range systems {
			if systems[k].Name == s.p.drains[i] {
				at = k
			}
		}
		if l.queues = append(l.queues, at); at >= 0 {
			l.events = min(l.events, at)
		}
	}
	return l
}

// ready reports whether ticks of a player may run again.
func (l *lateInputs) ready(p *player) bool { return p.late != nil && l.on(p) }

// on reports whether late commands of a player are taken.
func (l *lateInputs) on(p *player) bool {
	return l.window > 0 && !p.prompt && p.session.state == playing && p.inputs.buffer != nil
}

// begin makes the present tick's room, and takes the commands of earlier ones that came.
func (l *lateInputs) begin(p *player, c *layout.Command) {
	if !l.on(p) {
		return
	}
	now := l.s.sim.frame.Tick
	if p.late == nil {
		p.late = l.enter(p, c)
	}
	st := p.late
	st.tokens = min(st.tokens+1, int(l.window)*lateDeep*lateShare)
	for t := now - l.window; t != now; t++ {
		at := st.find(t)
		if at == nil || at.state != waits {
			continue
		}
		if cmd, ok := p.inputs.buffer.TakeLate(t); ok {
			l.take(p, c, at, &cmd)
		}
	}
	if at := st.find(now - l.window); at != nil && at.state == waits {
		l.settle(p, at)
	}
	st.begin(now)
}

// enter begins to take late commands of a player.
func (l *lateInputs) enter(p *player, c *layout.Command) *playerLate {
	n := int(l.window) + 2
	st := &playerLate{
		ticks:   make([]lateTick, n),
		barrier: l.s.sim.frame.Tick, tokens: int(l.window) * lateDeep * lateShare,
	}
	for i := range st.ticks {
		st.ticks[i].command = c.New()
		if l.world.on {
			continue
		}
		st.ticks[i].journal, st.ticks[i].bytes = make([]lateWrite, 0, 32), make([]byte, 0, 256)
	}
	if !l.world.on {
		st.history = l.s.sim.world.NewOwnerHistory(p.owner, n+1)
	}
	return st
}

// leave ends the late commands of a player.
func (l *lateInputs) leave(p *player) {
	if p.late != nil && p.late.history != nil {
		p.late.history.Release()
	}
	p.late = nil
}

// take takes the command of a tick that waits for it.
func (l *lateInputs) take(p *player, c *layout.Command, at *lateTick, cmd *netcode.Command) {
	s, in := l.s, &p.inputs
	if l.world.on && l.world.hindsight(p, at.tick) {
		p.stats.InputsHindsight++
		s.stats.InputsHindsight++
		l.settle(p, at)
		return
	}
	if p.late.tokens < lateShare || l.world.on && !l.world.affords(p, at.tick) {
		p.stats.InputsOverBudget++
		s.stats.InputsOverBudget++
		l.settle(p, at)
		return
	}
	if !s.accept(p, c, at.tick, cmd.Data) {
		l.settle(p, at)
		return
	}
	p.late.tokens -= lateShare
	at.state, at.shot, at.offset = came, shot(cmd), cmd.Offset
	layout.CopyBytes(at.command, in.command, c.Size)
	if p.late.from == 0 {
		p.late.from = at.tick
	}
	if l.world.on {
		l.world.take(p, c, at)
	}
	if int32(at.tick-in.tookTick) > 0 {
		in.took(c, at.tick)
		for t := at.tick + 1; t != s.sim.frame.Tick; t++ {
			in.repeated += s.clock.interval
		}
	}
	p.stats.InputsRerun++
	s.stats.InputsRerun++
}

// mayWait reports whether the present tick may still get its command, after this tick.
func (l *lateInputs) mayWait(p *player) bool {
	return l.ready(p) && p.inputs.heard && int32(l.s.sim.frame.Tick-p.late.barrier) > 0
}

// miss replaces the present tick's command, for as long as its own may still come.
func (l *lateInputs) miss(p *player, c *layout.Command) {
	if !l.mayWait(p) {
		l.s.standIn(p, c, prediction.Repeated)
		return
	}
	in := &p.inputs
	in.offset = 0
	how := l.s.replacement(p, c, prediction.Repeated)
	layout.CopyBytes(in.command, in.last, c.Size)
	l.ran(p, c, waits)
	p.late.at(l.s.sim.frame.Tick).how = how
}

// ran notes what the present tick runs with.
func (l *lateInputs) ran(p *player, c *layout.Command, state lateState) {
	if !l.ready(p) {
		return
	}
	if at := p.late.at(l.s.sim.frame.Tick); at.tick == l.s.sim.frame.Tick {
		at.state, at.offset = state, p.inputs.offset
		layout.CopyBytes(at.command, p.inputs.command, c.Size)
	}
}

// settle ends the wait of a tick: its replacement stands, and what that raised happens.
func (l *lateInputs) settle(p *player, at *lateTick) {
	if at.state == settled {
		return
	}
	at.state = settled
	l.stood(p, at)
	if l.world.on {
		return // nothing was held
	}
	for _, q := range l.s.sim.frame.queues {
		q.release(p.owner, at.tick)
	}
}

// save keeps the end of the present tick of each player.
func (l *lateInputs) save() {
	if l.window == 0 {
		return
	}
	if l.world.on {
		l.world.save()
		return
	}
	now := l.s.sim.frame.Tick
	l.match.save(now)
	for _, p := range l.s.sessions.players {
		st := p.late
		if !l.ready(p) {
			continue
		}
		st.history.Save(st.slot(now))
		st.shape, st.outside = l.s.sim.world.Structure(p.owner), false
		if at := st.at(now); at.tick == now {
			at.used = p.shooter.Used()
		}
		l.forgetSpawns(p)
	}
}

// decide decides, ahead of the snapshots, who is told of its own entities.
func (l *lateInputs) decide() {
	if l.window == 0 {
		return
	}
	now := l.s.sim.frame.Tick
	for _, p := range l.s.sessions.players {
		if !l.ready(p) || p.outbox.sender == nil {
			continue
		}
		st := p.late
		hold := st.firstWaiting(now+1) != now+1
		// Who was told nothing for a whole history starts over from what it is told next.
		if hold && (now-st.withheld >= 2*l.window || now-p.told() > prediction.DefaultHistory) {
			l.giveUp(p)
			hold = false
		}
		p.outbox.sender.Withhold(hold)
		if !hold {
			st.withheld = now
		}
	}
}

// tells notes that a snapshot of the present tick is made for a player.
func (l *lateInputs) tells(p *player) {
	if now := l.s.sim.frame.Tick; p.late != nil && p.late.withheld == now {
		p.late.told[now%toldTicks] = now
	}
}

// told returns the newest tick of which the client is known to have its own entities.
func (p *player) told() Tick {
	if p.late == nil {
		return p.shooter.Acked()
	}
	return p.late.toldBy(p.shooter.Acked())
}

// stood notes that a tick was run with a replacement for good. The player's client takes a run
// of repeated commands for repetitions of the command before the run. That holds only where
// none of them came late, after its replacement had been made.
func (l *lateInputs) stood(p *player, at *lateTick) {
	c, r := l.s.p.Command, &p.inputs.replaced
	if l.before == nil {
		l.before = c.New()
	}
	l.packed = c.Schema.Pack(at.command, l.packed[:0])
	how := at.how
	switch {
	case r.To != 0 && int32(at.tick-r.To) <= 0: // a later one was noted before
		r.From, r.How = min(r.From, at.tick), prediction.Other
		return
	case r.To != 0 && r.To == at.tick-1:
		if r.How != how || !bytes.Equal(l.packed, r.Command) {
			how = prediction.Other
		}
	default:
		if before := p.late.at(at.tick - 1); before.tick != at.tick-1 || !l.repeats(c, before) {
			how = prediction.Other
		}
		r.Follow(at.tick, p.told())
	}
	r.To, r.How = at.tick, how
	r.Command = append(r.Command[:0], l.packed...)
}

// repeats reports whether the packed command is that of a tick, without its one-shots.
func (l *lateInputs) repeats(c *layout.Command, tick *lateTick) bool {
	layout.CopyBytes(l.before, tick.command, c.Size)
	c.Schema.ClearMomentary(l.before)
	n := len(l.packed)
	b := c.Schema.Pack(l.before, l.packed)
	l.packed = b[:n]
	return bytes.Equal(b[:n], b[n:])
}
