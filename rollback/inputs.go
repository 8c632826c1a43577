package rollback

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/settled"
)

// inputs knows with which commands the ticks ran, and guesses those that are not settled. The own player's are
// known. Others are taken to go on pressing what they pressed, without oneshots and sums, unless the game has a
// guess of its own.
type inputs struct {
	command *layout.Command
	size    int    // size is the length of a command's bytes.
	zero    []byte // zero is a zero command as the schema packs it.
	world   *ecs.World
	rows    *ecs.Query // rows finds the entities with a command.
	guess   func(f *foretick.Frame, avatar ecs.Entity, ahead int, at unsafe.Pointer)

	own     ownCommands
	latest  tickCommands     // latest has the inputs of the newest settled tick.
	repeat  []byte           // repeat has latest as it is repeated: without oneshots and sums.
	ran     []tickCommands   // ran has the inputs that the newest ticks ran with.
	values  []unsafe.Pointer // values are scratch.
	scratch []byte
}

// pack writes a command as it travels and is kept: as the schema packs it, with those bits turned that a zero
// command has. So a command of zero bits is a zero command, which the relay can make without the schema.
func (in *inputs) pack(at unsafe.Pointer, to []byte) {
	in.scratch = in.command.Schema.Pack(at, in.scratch[:0])
	in.turn(in.scratch)
	copy(to, in.scratch)
}

// unpack reads what pack wrote. Bytes that no peer makes are a zero command, for all peers alike.
func (in *inputs) unpack(from []byte, at unsafe.Pointer) {
	in.scratch = append(in.scratch[:0], from...)
	in.turn(in.scratch)
	if in.command.Schema.Unpack(in.scratch, at) != nil {
		clear(unsafe.Slice((*byte)(at), in.command.Size))
	}
}

func (in *inputs) turn(b []byte) {
	for i := range b {
		b[i] ^= in.zero[i]
	}
}

// tickCommands are the commands of a tick's players.
type tickCommands struct {
	tick    foretick.Tick
	players []foretick.PlayerID // players are in ascending order.
	packed  []byte              // packed has a command for each player.
}

// newInputs makes the inputs for a history of so many ticks.
func newInputs(p *compiled, w *ecs.World, slots int) inputs {
	in := inputs{command: p.Command, size: p.CommandSize(), world: w, ran: make([]tickCommands, slots)}
	in.zero = p.Command.Schema.Pack(p.Command.New(), nil)
	in.rows = ecs.NewQuery(p.Types, ecs.With(p.Command.Handle))
	in.own = newOwnCommands(in.size)
	if p.Remote.Predicts {
		in.guess = p.Handlers.Guess
	}
	return in
}

// forget forgets which inputs are known, but for the own player's commands.
func (in *inputs) forget() {
	in.latest.players = in.latest.players[:0]
	in.latest.packed, in.repeat = in.latest.packed[:0], in.repeat[:0]
	for i := range in.ran {
		in.ran[i].tick = 0
	}
}

// slotOf returns the place of a tick's inputs.
func (in *inputs) slotOf(t foretick.Tick) *tickCommands { return &in.ran[t%foretick.Tick(len(in.ran))] }

// ranAs reports whether a settled tick ran with its inputs before.
func (in *inputs) ranAs(s *settled.Tick) bool {
	r := in.slotOf(s.Tick)
	if r.tick != s.Tick || len(s.Changes) > 0 || len(r.players) != len(s.Inputs) {
		return false
	}
	for i := range s.Inputs {
		if r.players[i] != s.Inputs[i].Player || !bytes.Equal(in.packedAt(r.packed, i), s.Inputs[i].Command) {
			return false
		}
	}
	return true
}

func (in *inputs) packedAt(packed []byte, i int) []byte { return packed[i*in.size : (i+1)*in.size] }

// know notes the inputs of a settled tick as the newest that are known.
func (in *inputs) know(s *settled.Tick) {
	in.latest.take(s)
	in.repeat = append(in.repeat[:0], in.latest.packed...)
	for i := range in.latest.players {
		at := in.value(i)
		in.unpack(in.packedAt(in.latest.packed, i), at)
		in.command.Schema.ClearMomentary(at)
		in.pack(at, in.packedAt(in.repeat, i))
	}
}

// take copies the inputs of a settled tick.
func (r *tickCommands) take(s *settled.Tick) {
	r.tick, r.players, r.packed = s.Tick, r.players[:0], r.packed[:0]
	for i := range s.Inputs {
		r.players = append(r.players, s.Inputs[i].Player)
		r.packed = append(r.packed, s.Inputs[i].Command...)
	}
}

// fill writes the commands of the frame's tick into the rows, and remembers them. s is nil for a tick that is not
// settled.
func (in *inputs) fill(f *foretick.Frame, s *settled.Tick) {
	r := in.slotOf(f.Tick)
	if s != nil {
		r.take(s)
	} else {
		in.predict(f, r)
	}
	for i := range r.players {
		in.unpack(in.packedAt(r.packed, i), in.value(i))
	}
	for _, rows := range in.rows.All(in.world) {
		i, plays := slices.BinarySearch(r.players, rows.Owner())
		column := unsafe.Slice((*byte)(rows.Column(in.command.ID)), uintptr(rows.Len())*in.command.Size)
		if !plays {
			clear(column)
			continue
		}
		value := unsafe.Slice((*byte)(in.values[i]), in.command.Size)
		for len(column) > 0 {
			column = column[copy(column, value):]
		}
	}
}

// predict makes the commands of a tick that is not settled.
func (in *inputs) predict(f *foretick.Frame, r *tickCommands) {
	r.tick = f.Tick
	r.players = append(r.players[:0], in.latest.players...)
	r.packed = append(r.packed[:0], in.repeat...)
	for i, player := range r.players {
		to := in.packedAt(r.packed, i)
		if player == in.own.player {
			if made := in.own.find(f.Tick); made != nil {
				copy(to, made)
			}
			continue
		}
		if avatar := in.avatarOf(player); avatar != ecs.None {
			at := in.value(i)
			clear(unsafe.Slice((*byte)(at), in.command.Size))
			in.guess(f, avatar, int(f.Tick-in.latest.tick), at)
			in.pack(at, to)
		}
	}
}

// avatarOf returns the entity for which the game guesses a player's command, or none if it does not guess.
func (in *inputs) avatarOf(player foretick.PlayerID) ecs.Entity {
	if in.guess == nil {
		return ecs.None
	}
	return in.rows.FirstOwned(in.world, player)
}

// value returns memory for the i-th command of a tick.
func (in *inputs) value(i int) unsafe.Pointer {
	for len(in.values) <= i {
		in.values = append(in.values, in.command.New())
	}
	return in.values[i]
}

// ownCommands has the newest commands of the own player, packed.
type ownCommands struct {
	player foretick.PlayerID // player is the own one, or Nobody for a spectator.
	ticks  [commandsKept]foretick.Tick
	size   int
	packed []byte
}

// commandsKept is how many commands are kept. A tick is predicted at most a window and an input delay after its
// command was made.
const commandsKept = 256

func newOwnCommands(size int) ownCommands {
	return ownCommands{size: size, packed: make([]byte, size*commandsKept)}
}

// keep stores the command of a tick.
func (o *ownCommands) keep(t foretick.Tick, packed []byte) {
	i := int(t % commandsKept)
	o.ticks[i] = t
	copy(o.packed[i*o.size:(i+1)*o.size], packed)
}

// find returns the command of a tick, or nil if none was made.
func (o *ownCommands) find(t foretick.Tick) []byte {
	i := int(t % commandsKept)
	if o.ticks[i] != t {
		return nil
	}
	return o.packed[i*o.size : (i+1)*o.size]
}
