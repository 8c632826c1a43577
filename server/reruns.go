package server

import (
	"slices"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/rewind"
)

// reruns runs ticks again. It is the host of late inputs.
type reruns struct {
	sim      *simulation
	sessions *sessions
	late     *late.Room
	around   *systemHooks
	traces   *traceRequests
	requests *requests
	commands *commands
	mail     *mail
	interest *interest
	past     *rewind.Past
	tape     *recording
	// handlers has, for each queue of events, the system that drains the queue. It is −1 if there is
	// none.
	handlers []int
}

// Swap implements late.Host.
func (re *reruns) Swap(of *late.Player, command unsafe.Pointer, offset uint8) (unsafe.Pointer, uint8) {
	in := &re.sessions.player(of.Owner()).inputs
	was, wasOffset := in.command, in.offset
	in.command, in.offset = command, offset
	return was, wasOffset
}

// beginRun prepares the frame for a tick that runs again for some players.
func (re *reruns) beginRun(t foretick.Tick, test bool, players ...*player) {
	f := &re.sim.frame
	f.Tick, f.Replay = t, true
	re.sim.spawnTick = 0
	for _, p := range players {
		if test {
			break
		}
		p.reasons.Rerun(t)
		if game.DebugBuild {
			p.trail.Forget()
		}
	}
}

// RunPart implements late.Host.
func (re *reruns) RunPart(of *late.Player, t foretick.Tick, test bool) {
	f, p := &re.sim.frame, re.sessions.player(of.Owner())
	now := f.Tick
	re.beginRun(t, test, p)
	for _, q := range re.sim.frames.Queues {
		q.Drop(p.owner, t)
		if !test {
			q.DropFinal(p.owner, t)
		}
	}
	for _, rows := range re.sim.commands.Owned(re.sim.world, p.owner) {
		re.commands.fillRows(rows, p)
	}
	if re.traces.armed() && !test {
		re.traces.beginRerun(p, t)
	}
	re.around.runAgain(test)
	re.sim.p.Schedule.ExecuteOwner(re.sim.world, f, re.late.RunsWithPart(), p.owner)
	re.around.runFirst()
	if len(re.traces.recording) > 0 {
		re.traces.end()
	}
	f.Tick, f.Replay = now, false
	re.sim.spawnTick = 0
}

// HandleEvents implements late.Host.
func (re *reruns) HandleEvents() {
	f := &re.sim.frame
	for i, q := range re.sim.frames.Queues {
		if system := re.handlers[i]; system >= 0 && q.Pending() {
			re.sim.writes.BeforeSystem(re.sim.running, system)
			ecs.Engine(re.sim.world).Lock()
			q.Drain(re.sim.frames, f)
			ecs.Engine(re.sim.world).Unlock()
			re.sim.writes.AfterSystem(re.sim.running, system)
		}
	}
	re.sim.writes.end()
}

// RoundPart implements late.Host.
func (re *reruns) RoundPart(owner foretick.PlayerID) {
	for _, rows := range re.sim.entities.Owned(re.sim.world, owner) {
		re.sim.roundRows(rows, false)
	}
}

// ReleaseEvents implements late.Host.
func (re *reruns) ReleaseEvents(owner foretick.PlayerID, t foretick.Tick) {
	for _, q := range re.sim.frames.Queues {
		q.Release(owner, t)
	}
}

// beginWorld runs the ticks with late commands again, if Config.Late.World is set.
func (re *reruns) beginWorld() {
	if !re.late.Whole {
		return
	}
	now := re.sim.frame.Tick
	changed := re.sim.writes.outside.look(game.CauseOutside)
	for _, q := range re.sim.frames.Queues {
		changed = changed || q.Differs(re.late.Slot(now-1))
	}
	re.late.BeginWorld(changed)
	for _, e := range re.late.Jumped() {
		re.past.Cut(uint64(e))
		re.sim.nets.in.Teleport(re.sim.net(e))
	}
	for _, p := range re.sessions.players {
		if re.late.Affects(p.owner) {
			p.reasons.Affected(now, re.sim.p.LateCause(), foretick.Tick(re.sim.p.TickRate/calmShare))
		}
	}
}

// RunWorld implements late.Host.
func (re *reruns) RunWorld(t foretick.Tick, test bool) {
	f := &re.sim.frame
	re.beginRun(t, test, re.sessions.players...)
	re.past.AsOf(t - 1)
	for _, p := range re.sessions.players {
		if p.tracing.armed != nil && !test && p.late.Gave(t) {
			re.traces.beginRerun(p, t)
		}
	}
	re.late.EachRequest(func(by foretick.PlayerID, kind uint8, payload []byte) {
		_ = re.requests.handleRequest(re.sessions.player(by), kind, payload)
	})
	re.commands.fillCommands()
	re.around.runAgain(test)
	re.sim.p.Schedule.Execute(re.sim.world, f)
	re.around.runFirst()
	if len(re.traces.recording) > 0 {
		re.traces.end()
	}
	re.sim.writes.end()
	re.sim.roundTick(false)
	re.sim.writes.outside.keep()
}

// Return implements late.Host.
func (re *reruns) Return(now foretick.Tick) {
	f := &re.sim.frame
	f.Tick, f.Replay = now, false
	re.sim.spawnTick = 0
	re.past.AsOf(0)
}

// withholdOwn decides, before the snapshots are made, which players receive their own entities.
func (re *reruns) withholdOwn() {
	for _, p := range re.sessions.players {
		if p.outbox.sender == nil {
			continue
		}
		if hold, decides := re.late.Withholds(&p.late); decides {
			p.outbox.sender.Withhold(hold)
		}
	}
}

// SaveEvents implements late.Host.
func (re *reruns) SaveEvents(slot int) {
	for _, q := range re.sim.frames.Queues {
		q.Save(slot)
	}
}

// RestoreEvents implements late.Host.
func (re *reruns) RestoreEvents(slot int) {
	for _, q := range re.sim.frames.Queues {
		q.Restore(slot)
	}
	re.sim.writes.outside.keep()
}

// Hash implements late.Host. It updates the row of singletons first, since a first run updates that row
// at other times than a repeated one.
func (re *reruns) Hash(running bool) uint64 {
	if running {
		re.sim.row.TakeRow()
	}
	return re.sim.world.Hash(re.sim.order)
}

// Send implements late.Host.
func (re *reruns) Send(to late.Addressee, t foretick.Tick, channel, id uint8, payload []byte) {
	if p := to.(*player); re.sessions.has(p) {
		_ = re.mail.sendAs(p, t, channel, id, payload) // a player that does not receive its messages is disconnected
	}
}

// who returns log attributes of the player whose part runs again. It returns nil if the whole world
// runs.
func (re *reruns) who() []any {
	if by, again := re.late.Again(); again && !re.late.Whole {
		return re.sessions.player(by).who()
	}
	return nil
}

// has reports whether a peer is still a player or an observer of the match.
func (s *sessions) has(p *player) bool {
	if p.observing != nil {
		return slices.Contains(s.observers, p)
	}
	return s.player(p.owner) == p
}

// Undo implements late.Host.
func (re *reruns) Undo(c *late.Change) {
	if c.Entity != ecs.None && !re.sim.world.Alive(c.Entity) { // the tick spawned it, and may do so again
		re.interest.forgetChange(c)
	} else {
		re.interest.undoChange(c)
	}
}
