package late

import (
	"bytes"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// Tick is a simulation step.
type Tick = netcode.Tick

// Config configures a Room.
type Config struct {
	Layout   *layout.Layout
	Systems  []ecs.SystemInfo
	World    *ecs.World
	Entities *ecs.Query // Entities finds all replicated entities.
	// Tick is the server's tick: the present one, or an older one while it runs again.
	Tick    *Tick
	Ticking *bool      // Ticking reports whether Tick is being computed.
	Players *[]*Player // Players has the players in the order in which their parts run again.
	// Life returns the number of an entity's life, and whether the entity is sent to anybody.
	Life func(ecs.Entity) (n uint32, sent bool)

	// Window is for how many ticks a command may be late. 0 means that late commands are lost.
	Window     Tick
	Whole      bool // Whole is true if the whole world runs again.
	Owners     int  // Owners is one more than the highest owner.
	Handlers   int  // Handlers is the first system that handles events.
	Fade       int  // Fade is the ticks in which a correction fades on other players' screens.
	Singletons []Singleton
	// Fixed are components that no client has. They do not change when ticks run again.
	Fixed []ecs.ID
}

// Host is the server for which a Room runs ticks again.
type Host interface {
	// Swap gives a player a command and its offset, and returns those that it had.
	Swap(p *Player, command unsafe.Pointer, offset uint8) (unsafe.Pointer, uint8)
	// RunPart runs the shared systems of a tick again for one player. If test is true, the run's
	// results do not count.
	RunPart(p *Player, t Tick, test bool)
	// HandleEvents runs the handlers of the events that a late command raised.
	HandleEvents()
	// RoundPart rounds the predicted state of a player's part to the simulation grid.
	RoundPart(owner ecs.Owner)
	// ReleaseEvents delivers the held events of a player's tick.
	ReleaseEvents(owner ecs.Owner, t Tick)
	// RunWorld runs all of a tick again.
	RunWorld(t Tick, test bool)
	// Return sets the server's tick back to the present, after RunWorld.
	Return(now Tick)
	// SaveEvents saves the waiting events in a slot, and RestoreEvents restores them. RestoreEvents is
	// called right after the world was restored.
	SaveEvents(slot int)
	RestoreEvents(slot int)
	// Hash returns the hash of the world. running is true between systems; singletons are then brought
	// up to date first.
	Hash(running bool) uint64
	// Send sends a message that was kept.
	Send(to Addressee, t Tick, channel, id uint8, payload []byte)
	// Undo restores a value that a change replaced.
	Undo(*Change)
}

// Room runs late commands in their ticks. A server has one.
type Room struct {
	Config
	host   Host
	shared []bool // shared reports, by system, whether it runs again with a player's part.

	part  part
	world world
	test  syncTest
	fades fades

	// newest is the newest named spawn of the running tick. nil means that the newest spawn has no
	// name.
	newest *Spawn
	before unsafe.Pointer // before is scratch for a command.
	packed []byte         // packed is scratch for a packed command.
}

// New makes a room. Without a window it does nothing.
func New(cfg Config, host Host) Room {
	r := Room{Config: cfg, host: host}
	if cfg.Window == 0 {
		return r
	}
	for _, sys := range cfg.Systems {
		r.shared = append(r.shared, layout.Shared(sys) && (!sys.Once || layout.KeepsMatch(sys)))
	}
	r.before = cfg.Layout.Command.New()
	r.fades = newFades(&cfg)
	if cfg.Whole {
		r.world = newWorld(&cfg)
	} else {
		r.part = newPart(&cfg, r.shared)
	}
	return r
}

// KeepsParts reports whether late commands are taken and run only their player's part again.
func (r *Room) KeepsParts() bool { return r.Window > 0 && !r.Whole }

// Present returns the tick that the server computes, even while older ticks run again.
func (r *Room) Present() Tick {
	switch {
	case r.part.player != nil:
		return r.part.now
	case r.world.running:
		return r.world.now
	}
	return *r.Tick
}

// Slot returns the index of a tick's end in a ring or a history.
func (r *Room) Slot(t Tick) int { return int(t % (r.Window + 2)) }

// scratch returns the slot of a history that belongs to no tick.
func (r *Room) scratch() int { return int(r.Window) + 2 }

// Testing reports whether a sync test runs ticks again. Their results do not count.
func (r *Room) Testing() bool { return r.test.running }

// Again reports whether ticks run again, and for whose command. by is Nobody if the commands of several
// players make them run.
func (r *Room) Again() (by ecs.Owner, again bool) {
	switch {
	case r.part.player != nil:
		return r.part.player.owner, true
	case r.world.running:
		return r.world.by, true
	}
	return ecs.Nobody, false
}

// Verdict says what happens to a command that came late.
type Verdict uint8

const (
	None       Verdict = iota // no late command is left
	Fits                      // the command may run: the caller calls Take or Refuse
	Hindsight                 // refused: the client already had the result of the tick
	OverBudget                // refused: the player, or all players together, sent too many late commands
)

// BeginTick prepares the present tick for a player. If it returns true, the player's late commands are
// taken: call NextCommand until it returns None.
func (r *Room) BeginTick(p *Player) bool {
	if !r.takes(p) {
		return false
	}
	if !p.entered {
		r.enter(p)
	}
	p.tokens = min(p.tokens+1, int(r.Window)*probe.LateDeep*probe.LateShare)
	p.looked = *r.Tick - r.Window
	return true
}

// NextCommand returns the player's next command that came late for an earlier tick. After the last one
// it begins the present tick and returns None.
func (r *Room) NextCommand(p *Player) (cmd netcode.Command, v Verdict) {
	now := *r.Tick
	for ; p.looked != now; p.looked++ {
		at := p.find(p.looked)
		if at == nil || at.state != waits {
			continue
		}
		cmd, ok := p.buffer.TakeLate(at.tick)
		if !ok {
			continue
		}
		p.looked++
		switch {
		case r.Whole && p.knew(at.tick):
			v = Hindsight
		case p.tokens < probe.LateShare || r.Whole && !r.affords(p, at.tick):
			v = OverBudget
		default:
			return cmd, Fits
		}
		r.settleTick(p, at)
		return cmd, v
	}
	if at := p.find(now - r.Window); at != nil && at.state == waits {
		r.settleTick(p, at)
	}
	p.begin(now)
	if !r.Whole {
		p.spawns.forget(r.Slot(now))
	}
	return cmd, None
}

// Take accepts a late command that fits. decoded is the command as a component. shot is the moment that
// it claims to show.
func (r *Room) Take(p *Player, cmd *netcode.Command, decoded unsafe.Pointer, shot rewind.Command) {
	at := p.at(cmd.Tick)
	p.tokens -= probe.LateShare
	at.state, at.shot, at.offset = came, shot, cmd.Offset
	layout.CopyBytes(at.command, decoded, r.Layout.Command.Size)
	if p.from == 0 {
		p.from = at.tick
	}
	if r.Whole {
		r.takeInWorld(p, at)
	}
}

// Refuse refuses a late command that the game does not want. The tick keeps its replacement.
func (r *Room) Refuse(p *Player, t Tick) { r.settleTick(p, p.at(t)) }

// MayWait reports whether the present tick may still get its command after it was computed.
func (r *Room) MayWait(p *Player) bool {
	return r.ready(p) && int32(*r.Tick-p.barrier) > 0
}

// Wait records the command that replaces the present tick's own until that one comes.
func (r *Room) Wait(p *Player, command unsafe.Pointer, how prediction.StandIn) {
	r.note(p, command, 0, waits)
	p.at(*r.Tick).how = how
}

// Ran records the final command of the present tick.
func (r *Room) Ran(p *Player, command unsafe.Pointer, offset uint8) {
	r.note(p, command, offset, decided)
}

func (r *Room) note(p *Player, command unsafe.Pointer, offset uint8, s state) {
	now := *r.Tick
	switch {
	case r.Whole:
		r.makeRing(p)
		if p.at(now).tick != now {
			p.begin(now)
		}
	case !r.ready(p) || p.at(now).tick != now:
		return
	}
	at := p.at(now)
	at.state, at.offset = s, offset
	layout.CopyBytes(at.command, command, r.Layout.Command.Size)
}

// settleTick ends the wait of a tick. The tick keeps its replacement, and the events that it raised are
// delivered.
func (r *Room) settleTick(p *Player, at *playerTick) {
	if at.state == decided {
		return
	}
	at.state = decided
	r.noteStandIn(p, at)
	if !r.Whole {
		r.host.ReleaseEvents(p.owner, at.tick)
	}
}

// settleTicks calls settleTick for every tick up to until.
func (r *Room) settleTicks(p *Player, until Tick) {
	for t := until - Tick(len(p.ticks)) + 1; t != until+1; t++ {
		if at := p.find(t); at != nil {
			r.settleTick(p, at)
		}
	}
}

// noteStandIn records that a tick keeps its replacement. When the server repeats commands in a run of
// ticks, the client takes all of them for the command before the run. That holds only if none of that
// run's own commands came late, after its replacement was made. Otherwise the run is recorded as Other.
func (r *Room) noteStandIn(p *Player, at *playerTick) {
	run := p.replaced
	r.packed = r.Layout.Command.Schema.Pack(at.command, r.packed[:0])
	how := at.how
	switch {
	case run.To != 0 && int32(at.tick-run.To) <= 0: // a later tick was recorded before this one
		run.From, run.How = min(run.From, at.tick), prediction.Other
		return
	case run.To != 0 && run.To == at.tick-1:
		if run.How != how || !bytes.Equal(r.packed, run.Command) {
			how = prediction.Other
		}
	default:
		if before := p.at(at.tick - 1); before.tick != at.tick-1 || !r.repeats(before) {
			how = prediction.Other
		}
		run.Follow(at.tick, p.Told(p.shooter.Acked()))
	}
	run.To, run.How = at.tick, how
	run.Command = append(run.Command[:0], r.packed...)
}

// repeats reports whether r.packed is the command of a tick, without its one-shot fields.
func (r *Room) repeats(tick *playerTick) bool {
	c := r.Layout.Command
	layout.CopyBytes(r.before, tick.command, c.Size)
	c.Schema.ClearMomentary(r.before)
	n := len(r.packed)
	b := c.Schema.Pack(r.before, r.packed)
	r.packed = b[:n]
	return bytes.Equal(b[:n], b[n:])
}

// Save saves the end of the present tick.
func (r *Room) Save() {
	if r.Window == 0 {
		return
	}
	if now := *r.Tick; r.Whole {
		r.saveWorld(now)
	} else {
		r.saveParts(now)
	}
}

// Withholds decides whether a player's next snapshot leaves out the player's own entities. Call it
// ahead of the snapshots. decides is false if late commands of the player are not taken.
func (r *Room) Withholds(p *Player) (hold, decides bool) {
	if !r.ready(p) {
		return false, false
	}
	now := *r.Tick
	hold = p.firstWaiting(now+1) != now+1
	// After a whole history without its own entities, the player starts over from what it receives
	// next.
	if hold && (now-p.withheld >= 2*r.Window || now-p.Told(p.shooter.Acked()) > prediction.DefaultHistory) {
		if r.Whole {
			r.settleTicks(p, now)
		} else {
			r.Block(p)
		}
		hold = false
	}
	if !hold {
		p.withheld = now
	}
	return hold, true
}

// Tells records that a snapshot of the present tick is made for a player.
func (r *Room) Tells(p *Player) {
	if now := *r.Tick; p.entered && p.withheld == now {
		p.told[now%toldTicks] = now
	}
}

// Ack returns the tick up to which all of a player's commands are decided.
func (r *Room) Ack(p *Player) Tick {
	if !p.entered {
		return p.buffer.Ack()
	}
	return p.buffer.AckFrom(p.firstWaiting(*r.Tick+1) - 1)
}

// Block makes the present tick a barrier: no tick up to it runs again, of this player or of the world.
func (r *Room) Block(p *Player) {
	if r.Whole {
		r.BlockWorld()
		return
	}
	if p == nil || !p.entered {
		return
	}
	until := r.Present()
	if !*r.Ticking {
		until++
	}
	r.settleTicks(p, until)
	if int32(until-p.barrier) > 0 {
		p.barrier = until
	}
	if r.part.player == nil {
		p.from = 0
	}
}

// BlockAll calls Block for every player.
func (r *Room) BlockAll() {
	if r.Whole {
		r.BlockWorld()
		return
	}
	for _, p := range *r.Players {
		r.Block(p)
	}
}

// Fate says what happens to an event that is raised on a server.
type Fate uint8

const (
	Happens Fate = iota // the event happens now
	Waits               // the event waits until its tick has the player's command
	Past                // the event happened in the tick's first run: drop it
)

// FateOf returns the fate of an event that a player's entity raises. shared is true in a shared system.
// p may be nil.
func (r *Room) FateOf(p *Player, shared bool) Fate {
	if !r.KeepsParts() || !shared {
		return Happens
	}
	again, at := r.part.player, r.part.at
	if again == nil {
		if !r.ready(p) {
			return Happens
		}
		at = p.at(*r.Tick)
	}
	switch {
	case at.tick != *r.Tick:
	case at.state == waits:
		return Waits
	case again != nil && at.state == decided:
		return Past
	}
	return Happens
}

// IsQuiet reports whether messages of a running system are dropped, because a shared system runs again
// and sent them in its first run.
func (r *Room) IsQuiet(shared bool) bool {
	return shared && r.part.player != nil && (r.part.at.state == decided || r.test.running)
}

// MayRunAgain reports whether what runs for a player may be undone and run again. p may be nil.
// practice is true in a sync test of parts, whose results do not count.
func (r *Room) MayRunAgain(p *Player, shared bool) (again, practice bool) {
	if r.Whole {
		return r.world.runs(), false // a sync test of the world restores the events too
	}
	return shared && r.ready(p), r.test.running
}

// Final returns the newest tick of a player that no late command can change. p may be nil.
func (r *Room) Final(p *Player) Tick {
	switch {
	case r.Whole:
		return r.finalTick()
	case r.ready(p):
		return p.firstOpen(r.Present()+1) - 1
	}
	return r.Present()
}
