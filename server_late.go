package foretick

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/rewind"
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
	st.tokens = min(st.tokens+1, int(l.window)*probe.LateDeep*probe.LateShare)
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
		barrier: l.s.sim.frame.Tick, tokens: int(l.window) * probe.LateDeep * probe.LateShare,
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
	if p.late.tokens < probe.LateShare || l.world.on && !l.world.affords(p, at.tick) {
		p.stats.InputsOverBudget++
		s.stats.InputsOverBudget++
		l.settle(p, at)
		return
	}
	if !s.commands.acceptCommand(p, c, at.tick, cmd.Data) {
		l.settle(p, at)
		return
	}
	p.late.tokens -= probe.LateShare
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
		l.s.commands.standIn(p, c, prediction.Repeated)
		return
	}
	in := &p.inputs
	in.offset = 0
	how := l.s.commands.replaceCommand(p, c, prediction.Repeated)
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

// longestLate is the longest window for late commands.
const longestLate = 500 * time.Millisecond

// lateTicks returns the window for late commands in ticks, 0 for none.
func (c *ServerConfig) lateTicks() Tick {
	if c.LateInputs <= 0 {
		return 0
	}
	rate := time.Duration(c.Protocol.TickRate())
	return Tick((c.LateInputs*rate + time.Second - 1) / time.Second)
}

// toldLateShare is LateShare as a Welcome says it: in 1/256, and not 0 if it is not.
func (c *ServerConfig) toldLateShare() uint8 {
	return uint8(math.Ceil(c.LateShare * 256))
}

// checkLate refuses late commands in a game where one player's part of a tick cannot run
// again alone.
func (c *ServerConfig) checkLate() error {
	var errs []error
	switch {
	case !(c.LateShare >= 0 && c.LateShare <= netcode.MaxLateShare):
		errs = append(errs, fmt.Errorf("foretick: ServerConfig.LateShare is %v: use up to %v, or 0 for none", c.LateShare, netcode.MaxLateShare))
	case c.LateShare > 0 && c.LateInputs == 0:
		errs = append(errs, fmt.Errorf("foretick: ServerConfig.LateShare is %v, and inputs that come late are lost: set LateInputs too, or leave LateShare out", c.LateShare))
	}
	if c.LateWorld && c.LateInputs == 0 {
		errs = append(errs, errors.New("foretick: ServerConfig.LateWorld is set without LateInputs: set it too, or leave LateWorld out"))
	}
	if c.LateInputs == 0 {
		return errors.Join(errs...)
	}
	fault := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("foretick: ServerConfig.LateInputs: "+format, args...))
	}
	p := &c.Protocol.compiled
	if c.LateInputs < 0 || c.LateInputs > longestLate {
		fault("%v: use up to %v, or 0 for none", c.LateInputs, longestLate)
	} else if n := c.lateTicks(); n > prediction.DefaultHistory/2 {
		fault("%v is %d ticks at %d Hz, and clients remember %d: use %v at most", c.LateInputs, n, c.Protocol.TickRate(), prediction.DefaultHistory, prediction.DefaultHistory/2*time.Second/time.Duration(c.Protocol.TickRate()))
	}
	if c.AllowOtherBuilds {
		fault("clients of other builds are not supported: leave AllowOtherBuilds out, or LateInputs")
	}
	if p.Command == nil {
		fault("the protocol has no command: declare one with Protocol.Command, or leave LateInputs out")
	}
	if p.Remote.Predicts && !c.LateWorld {
		fault("other players' clients predict a player with PredictRemote, and would be wrong in every late tick: leave one of the two out")
	}
	for _, k := range p.Prefabs {
		if k.Common && k.ECS != &p.singletonRow && !c.LateWorld {
			fault("prefab %q is a shared physics object, which every client computes with: let a Server system move it, or leave LateInputs out", k.ECS.Name())
		}
	}
	for _, s := range p.schedule.Systems() {
		if c.LateWorld {
			break // whole ticks run again
		}
		if layout.KeepsMatch(s) {
			continue
		}
		if layout.Shared(s) && (len(s.OtherWrites) > 0 || len(s.SingleWrites) > 0) {
			fault("shared system %q writes what is not its own rows (WriteOther, or a singleton), and cannot run again for one player: raise an Event and write in its OnServer handler, or declare a clock of the match ecs.Once with singletons alone", s.Name)
		}
		if layout.Shared(s) && s.Once && len(s.Writes)+len(s.Creates) > 0 {
			fault("shared system %q is declared with ecs.Once, so it has no rows and cannot run again for one player (a system of a bridge is declared so): let it loop over rows, or leave LateInputs out", s.Name)
		}
	}
	for i := range p.Components {
		if k := &p.Components[i]; k.Predicted && k.Varies && !c.LateWorld {
			fault("predicted component %s holds strings or slices: use arrays and numbers, or leave LateInputs out", k.Name)
		}
	}
	return errors.Join(errs...)
}

// lateMatch remembers the predicted singletons of each tick that may still run again for a
// player: its client ran the tick with them, so it runs again with them, and not with those of
// the present.
type lateMatch struct {
	kept  []keptSingleton
	slots []lateMatchSlot // by tick
	now   []byte          // the present's, while a tick runs again
}

// keptSingleton is the place of one in a slot.
type keptSingleton struct {
	at   unsafe.Pointer // in the world
	from uintptr
	size uintptr
}

// lateMatchSlot has the values at the end of a tick, once it holds some.
type lateMatchSlot struct {
	holds bool
	tick  Tick
	bytes []byte
}

// newLateMatch makes the memory for the ticks of a window.
func newLateMatch(s *Server, window Tick) (m lateMatch) {
	size := uintptr(0)
	for _, v := range s.p.singletons {
		if v.predicted {
			m.kept = append(m.kept, keptSingleton{s.sim.world.SingletonPointer(v.id), size, v.size})
			size += v.size
		}
	}
	if size == 0 {
		return lateMatch{}
	}
	m.slots, m.now = make([]lateMatchSlot, window+2), make([]byte, size)
	for i := range m.slots {
		m.slots[i].bytes = make([]byte, size)
	}
	return m
}

// slot returns a tick's slot. A tick may be more than an int holds.
func (m *lateMatch) slot(tick Tick) *lateMatchSlot { return &m.slots[tick%Tick(len(m.slots))] }

// save keeps the values at the end of a tick.
func (m *lateMatch) save(tick Tick) {
	if len(m.slots) == 0 {
		return
	}
	to := m.slot(tick)
	to.holds, to.tick = true, tick
	m.copyTo(to.bytes)
}

// enter gives the world the values at the end of a tick, and keeps the present's.
func (m *lateMatch) enter(tick Tick) (entered bool) {
	if len(m.slots) == 0 {
		return false
	}
	was := m.slot(tick)
	if !was.holds || was.tick != tick {
		return false
	}
	m.copyTo(m.now)
	m.copyFrom(was.bytes)
	return true
}

// leave gives the present's values back: what handlers of late commands do is of the present.
func (m *lateMatch) leave() { m.copyFrom(m.now) }

func (m *lateMatch) copyTo(b []byte) {
	for _, k := range m.kept {
		copy(b[k.from:k.from+k.size], unsafe.Slice((*byte)(k.at), k.size))
	}
}

func (m *lateMatch) copyFrom(b []byte) {
	for _, k := range m.kept {
		copy(unsafe.Slice((*byte)(k.at), k.size), b[k.from:k.from+k.size])
	}
}

// block makes the present a barrier: no tick up to here runs again.
func (l *lateInputs) block(p *player) {
	if l.world.on {
		l.world.block()
		return
	}
	if p == nil || p.late == nil {
		return
	}
	st, until := p.late, l.s.sim.frame.Tick
	if l.player != nil {
		until = l.now
	}
	if !l.s.run.ticking {
		until++
	}
	for t := until - Tick(len(st.ticks)) + 1; t != until+1; t++ {
		if at := st.find(t); at != nil {
			l.settle(p, at)
		}
	}
	if int32(until-st.barrier) > 0 {
		st.barrier = until
	}
	if l.player == nil {
		st.from = 0
	}
}

// blockAll is block for every player.
func (l *lateInputs) blockAll() {
	if l.world.on {
		l.world.block()
		return
	}
	for _, p := range l.s.sessions.players {
		l.block(p)
	}
}

// giveUp waits no longer for commands of a player.
func (l *lateInputs) giveUp(p *player) {
	if !l.world.on {
		l.block(p)
		return
	}
	now := l.s.sim.frame.Tick
	for t := now - Tick(len(p.late.ticks)) + 1; t != now+1; t++ {
		if at := p.late.find(t); at != nil {
			l.settle(p, at)
		}
	}
}

// own reports whether late commands are taken, and only their player's part runs again.
func (l *lateInputs) own() bool { return l.window > 0 && !l.world.on }

// ack returns the tick up to which a player's commands are settled.
func (l *lateInputs) ack(p *player) Tick {
	now := l.s.sim.frame.Tick
	if p.late == nil {
		return p.inputs.buffer.Ack()
	}
	return p.inputs.buffer.AckFrom(p.late.firstWaiting(now+1) - 1)
}

// shaped notes that what does not run again for a player made or removed an entity of its.
func (l *lateInputs) shaped(p *player) {
	if !l.world.on {
		l.block(p)
	}
}

// beginShape and endShape look for entities that a server system made, removed, or gave
// another set of components.
func (l *lateInputs) beginShape() {
	if !l.own() {
		return
	}
	l.shapes = l.shapes[:0]
	for _, p := range l.s.sessions.players {
		l.shapes = append(l.shapes, l.s.sim.world.Structure(p.owner))
	}
}

func (l *lateInputs) endShape() {
	if !l.own() {
		return
	}
	for i, p := range l.s.sessions.players {
		if i < len(l.shapes) && l.s.sim.world.Structure(p.owner) != l.shapes[i] {
			l.block(p)
		}
	}
	l.shapes = l.shapes[:0]
}

// lateState is how far a tick's command has come.
type lateState uint8

const (
	settled lateState = iota // the tick has its command for good
	waits                    // it ran a replacement, and its own may still come
	came                     // it did: the tick is to run again
)

// playerLate is what a server needs to run a player's late commands in their own ticks: see
// ServerConfig.LateInputs.
type playerLate struct {
	history *ecs.History // the player's part at the end of each tick; the last slot is scratch
	ticks   []lateTick   // by tick
	barrier Tick         // no tick up to here runs again
	from    Tick         // the first tick to run again; 0: none
	tokens  int          // late commands that it may still have run, in parts of a command
	taken   float64      // with LateWorld: ticks that ran again for it, in about the last second
	outside bool         // something may have changed its part between two ticks
	shape   uint64       // the structure of its part at the newest save
	spawned []lateSpawn

	told     [toldTicks]Tick // ticks whose snapshots had the player's own entities
	withheld Tick            // the newest tick told; from then on they are withheld
}

// toldTicks is for how many ticks it is known whether own entities were told: longer than a
// packet and its acknowledgement can take.
const toldTicks = 512

// lateTick is one tick of a player.
type lateTick struct {
	tick    Tick
	state   lateState
	command unsafe.Pointer // that it ran with, as a component
	how     prediction.StandIn
	offset  uint8          // that the command stated
	shot    rewind.Command // with came
	used    float64        // the latest moment that the player had looked at by its end

	journal []lateWrite // what others did to the player's part, in order
	bytes   []byte
}

// lateWrite is a field that was set by no shared system of the player's own.
type lateWrite struct {
	system int // that set it; −1: before the systems
	e      ecs.Entity
	comp   int
	offset uintptr
	from   int // of the value, in bytes …
	size   uintptr
}

// lateSpawn is a predicted spawn: in every run of its tick it has the same handle and id.
type lateSpawn struct {
	ordinalKey
	n     uint16
	tick  Tick
	e     ecs.Entity
	net   uint32
	gone  Tick // since when it does not live; 0: it does
	first firstOrigin
}

// firstOrigin is the origin of a spawn in the first run of its tick.
type firstOrigin struct {
	known  bool
	origin uint32
}

// at returns a tick's slot, which may hold an earlier tick.
func (l *playerLate) at(t Tick) *lateTick { return &l.ticks[t%Tick(len(l.ticks))] }

// find returns a tick that can still run again, nil for any other.
func (l *playerLate) find(t Tick) *lateTick {
	if int32(t-l.barrier) <= 0 {
		return nil
	}
	if at := l.at(t); at.tick == t {
		return at
	}
	return nil
}

// slot returns where the end of a tick is saved.
func (l *playerLate) slot(t Tick) int { return int(t % Tick(len(l.ticks))) }

// scratch is the slot that is no tick's.
func (l *playerLate) scratch() int { return len(l.ticks) }

// begin makes room for tick t.
func (l *playerLate) begin(t Tick) *lateTick {
	at := l.at(t)
	at.tick, at.state, at.used = t, settled, -1
	at.journal, at.bytes = at.journal[:0], at.bytes[:0]
	return at
}

// firstWaiting returns the oldest tick before end that still waits, or end.
func (l *playerLate) firstWaiting(end Tick) Tick {
	for t := end - Tick(len(l.ticks)) + 1; t != end; t++ {
		if at := l.find(t); at != nil && at.state == waits {
			return t
		}
	}
	return end
}

// firstOpen returns the oldest tick before end that may still run again, or end.
func (l *playerLate) firstOpen(end Tick) Tick {
	for t := end - Tick(len(l.ticks)) + 1; t != end; t++ {
		if at := l.find(t); at != nil && at.state != settled {
			return t
		}
	}
	return end
}

// toldBy returns the newest tick up to acked whose snapshot had the player's own entities, 0
// for none that is known.
func (l *playerLate) toldBy(acked Tick) Tick {
	for t := acked; t != 0 && acked-t < toldTicks; t-- {
		if l.told[t%toldTicks] == t {
			return t
		}
	}
	return 0
}

// write adds what a system did to a field.
func (at *lateTick) write(w lateWrite, value unsafe.Pointer) {
	w.from = len(at.bytes)
	at.bytes = append(at.bytes, unsafe.Slice((*byte)(value), w.size)...)
	at.journal = append(at.journal, w)
}
