package late

import (
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/probe"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// Player is what a server needs to run a player's late commands in their own ticks. The zero Player has
// no owner: call Join.
type Player struct {
	owner    ecs.Owner
	shooter  *rewind.Shooter
	replaced *cause.Substitution
	buffer   *netcode.CommandBuffer // buffer is nil if the player is not connected.
	// prompt is true if the player's late commands are lost: see server.Server.SetLateInputs.
	prompt bool

	// entered is true if late commands are taken, or were before the connection was lost.
	entered bool
	ticks   []playerTick // ticks is a ring of the newest ticks.
	looked  Tick         // looked is the next tick that NextCommand looks at.
	barrier Tick         // barrier is the tick up to which no tick runs again.
	from    Tick         // from is the first tick to run again. 0 means none.
	// tokens is the budget for late commands. One late command costs probe.LateShare tokens.
	tokens int
	// taken is how many whole ticks ran again for the player in about the last second.
	taken float64

	// history has the player's part at the end of each tick. The last slot is scratch.
	history *ecs.History
	// outside is true if the part may have changed while no system ran.
	outside bool
	shape   uint64 // shape is the structure of the part at the newest save.
	spawns  names  // spawns names the entities that the part spawns.

	told []Tick // told has the ticks whose snapshots held the player's own entities.
	// withheld is the newest tick whose snapshot held the player's own entities. Later ones leave them
	// out.
	withheld Tick

	present struct { // with Late.World: the present's values, while ticks run again
		command unsafe.Pointer
		offset  uint8
		given   rewind.Given
	}
}

// toldTicks is for how many ticks told remembers. It is longer than a packet and its acknowledgement
// can take.
const toldTicks = 512

// state says whether a tick still waits for its command.
type state uint8

const (
	decided state = iota // the tick has its final command
	waits                // the tick ran a replacement, and its own command may still come
	came                 // its own command came late: the tick will run again
)

// playerTick is one tick of a player, for as long as it may run again.
type playerTick struct {
	tick    Tick
	state   state
	command unsafe.Pointer     // command is what the tick ran with, as a component.
	how     prediction.StandIn // how is the way in which the command was replaced.
	offset  uint8              // offset is what the command stated.
	shot    rewind.Command     // shot is the moment that the command claims to show.
	given   rewind.Given       // given is the command's claim, with its verdict.
	// used is the latest moment that the player had looked at by the tick's end.
	used float64

	journal []write // journal has the changes that others made to the player's part, in order.
	bytes   []byte  // bytes has the values of journal.
}

// Join sets the player's number, and the server's records of its commands.
func (p *Player) Join(owner ecs.Owner, shooter *rewind.Shooter, replaced *cause.Substitution) {
	p.owner, p.shooter, p.replaced = owner, shooter, replaced
}

// Owner is the player's number.
func (p *Player) Owner() ecs.Owner { return p.owner }

// Connect begins a connection of the player.
func (r *Room) Connect(p *Player, buffer *netcode.CommandBuffer) {
	buffer.KeepLate(int(r.Window))
	r.Block(p)
	p.buffer = buffer
}

// Lose ends the player's connection. Its place is kept for a reconnect.
func (r *Room) Lose(p *Player) {
	r.Block(p)
	p.buffer = nil
}

// Leave ends the player's place in the match.
func (r *Room) Leave(p *Player) {
	r.Lose(p)
	p.exit()
}

// SetPrompt decides whether a player's late commands are lost (true) or taken. It reports whether they
// were taken before and now no longer are.
func (r *Room) SetPrompt(p *Player, prompt bool) (ends bool) {
	if ends = prompt && p.entered; ends {
		r.Block(p)
		p.exit()
	}
	p.prompt = prompt
	return ends
}

// takes reports whether a player's late commands are taken.
func (r *Room) takes(p *Player) bool { return r.Window > 0 && !p.prompt && p.buffer != nil }

// ready reports whether ticks of a player may run again. p may be nil.
func (r *Room) ready(p *Player) bool { return p != nil && p.entered && r.takes(p) }

// enter begins to take a player's late commands.
func (r *Room) enter(p *Player) {
	r.makeRing(p)
	p.entered, p.barrier, p.from, p.taken, p.outside, p.shape, p.withheld = true, *r.Tick, 0, 0, false, 0, 0
	p.tokens = int(r.Window) * probe.LateDeep * probe.LateShare
	p.told = make([]Tick, toldTicks)
	if !r.Whole {
		p.history = ecs.Engine(r.World).NewOwnerHistory(p.owner, r.scratch()+1)
		p.spawns = newNames(r.Window, r.Window+2, false)
	}
}

// exit ends taking the player's late commands, and frees its history.
func (p *Player) exit() {
	if p.history != nil {
		p.history.Release()
	}
	p.entered, p.history, p.told = false, nil, nil
}

// makeRing allocates the memory for a player's ticks.
func (r *Room) makeRing(p *Player) {
	if p.ticks != nil {
		return
	}
	p.ticks = make([]playerTick, r.Window+2)
	for i := range p.ticks {
		at := &p.ticks[i]
		at.command = r.Layout.Command.New()
		if !r.Whole {
			at.journal, at.bytes = make([]write, 0, 32), make([]byte, 0, 256)
		}
	}
}

// at returns the place of a tick in the ring. It may hold an earlier tick. It returns nil before
// makeRing.
func (p *Player) at(t Tick) *playerTick {
	if len(p.ticks) == 0 {
		return nil
	}
	return &p.ticks[t%Tick(len(p.ticks))]
}

// find returns a tick that can still run again, and nil for any other tick.
func (p *Player) find(t Tick) *playerTick {
	if int32(t-p.barrier) <= 0 {
		return nil
	}
	if at := p.at(t); at.tick == t {
		return at
	}
	return nil
}

// begin clears the place of a tick in the ring.
func (p *Player) begin(t Tick) {
	at := p.at(t)
	at.tick, at.state, at.used = t, decided, -1
	at.journal, at.bytes = at.journal[:0], at.bytes[:0]
}

// Gave reports whether the player played in a tick that runs again.
func (p *Player) Gave(t Tick) bool {
	at := p.at(t)
	return at != nil && at.tick == t
}

// usedBy returns the latest moment that the player had looked at by the end of a tick, or −1 if that is
// not known.
func (p *Player) usedBy(t Tick) float64 {
	if at := p.at(t); at.tick == t {
		return at.used
	}
	return -1
}

// firstWaiting returns the oldest tick before end that still waits for its command, or end.
func (p *Player) firstWaiting(end Tick) Tick {
	for t := end - Tick(len(p.ticks)) + 1; t != end; t++ {
		if at := p.find(t); at != nil && at.state == waits {
			return t
		}
	}
	return end
}

// firstOpen returns the oldest tick before end that is not decided, or end.
func (p *Player) firstOpen(end Tick) Tick {
	for t := end - Tick(len(p.ticks)) + 1; t != end; t++ {
		if at := p.find(t); at != nil && at.state != decided {
			return t
		}
	}
	return end
}

// knew reports whether the client knew the server's result of a tick when it sent the tick's command.
func (p *Player) knew(t Tick) bool {
	known := p.buffer.Knew(t)
	return known != 0 && int32(known-t) >= 0
}

// Told returns the newest tick whose snapshot held the player's own entities and reached the client; 0
// means none. acked is the newest snapshot that the client has.
func (p *Player) Told(acked Tick) Tick {
	if !p.entered {
		return acked
	}
	for t := acked; t != 0 && acked-t < toldTicks; t-- {
		if p.told[t%toldTicks] == t {
			return t
		}
	}
	return 0
}

// TouchPart records that something may have changed the player's part while no system ran.
func (p *Player) TouchPart() { p.outside = true }
