package client

import (
	"reflect"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/gather"
	"github.com/foretick/foretick/internal/rewind"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
)

// input reads the player's input and makes a command from it for each tick.
type input struct {
	*base
	commands *netcode.CommandSender
	history  *prediction.History[tickInput]
	gathered *gather.Input // the input since the newest command; nil: the game has no command
	press    press         // the newest press that no tick has taken yet
	// sampled is the newest tick that has a command. It is the predicted tick, or with input delay a
	// later one.
	sampled foretick.Tick
	// first is the first tick of the session for which a command was made. It is 0 before that.
	first foretick.Tick
	// remade has the ticks whose command was made twice, until the server is known to have run one of
	// the two.
	remade []foretick.Tick
	// late is for how many ticks after its own tick the server still accepts a command.
	late int
	// decided is the newest tick for whose command the server no longer waited at the newest snapshot.
	decided   foretick.Tick
	confirmed foretick.Tick // the newest tick whose command the server has run, or will not run any more
	// sent is the newest packet that was sent. had is the newest one that the server had received at
	// the newest snapshot.
	sent, had netcode.Seq
	hasHad    bool // had is known

	made    unsafe.Pointer // scratch
	packed  []byte         // scratch
	compare []byte         // scratch
}

// tickInput is the command of a tick.
type tickInput struct {
	at      unsafe.Pointer // the command, as a component
	value   []byte         // the command's bytes
	packed  []byte         // the command as it is sent
	sampled time.Duration
	// replaced is true if the tick had another command before, which is first in packed form and which
	// the server may have run.
	replaced  bool
	first     []byte
	firstView uint64
	several   bool   // the command was changed more than once
	view      uint64 // the render time that the command states
	offset    uint8  // how far before the tick its frame showed predicted entities
	// stays is true if the server keeps the first command, because the second one has no newer view.
	stays    bool
	sent     bool        // the newest command was sent
	seq, end netcode.Seq // the first and the last packet with the newest command
	// arrived is the snapshot that first acknowledged a packet with the newest command. It is 0 before
	// that.
	arrived foretick.Tick
	// late is true if the first command ran: a snapshot of the tick, or a later one, did not
	// acknowledge the newest command.
	late   bool
	missed bool // a note said that the server had neither command
	// suspect is true if packets that no snapshot acknowledges may have had the newest command.
	suspect bool
	frame   foretick.Tick // the frame that the player looked at
	ahead   rewind.Keys   // the two ticks between which that frame drew predicted entities
	whole   rewind.Keys   // the time at which that frame drew all others
}

// screenFrame is the frame that the player looks at.
type screenFrame struct {
	number   foretick.Tick // the frame's number; 0: none
	shown    shownTime     // the render time of others
	tick     foretick.Tick // the later of the two ticks between which predicted entities are drawn
	fraction float32       // how far the drawing is from the tick before to tick
	slides   bool          // something was drawn on its way between the past and the present
}

// press is the newest press of a one-shot since the last tick. The gathered input has the command as it was read
// in that frame.
type press struct {
	frame screenFrame // zero: nothing was pressed
	read  time.Duration
}

// pressTicks is for how many ticks a press waits for a tick that takes it. A press that has waited
// longer, because the prediction was stalled, is judged by the newest frame.
const pressTicks = 2

// carriedPart is the part of a second whose ticks take what is left of a sum. The rest of a longer
// movement is lost, because a body that turns on long after the mouse stopped cannot be aimed.
const carriedPart = 4

// newInput makes room for the commands of c.
func newInput(b *base) input {
	ip := input{base: b, history: prediction.NewHistory[tickInput](b.commandsKept())}
	if cmd := b.p.Command; cmd != nil {
		ip.gathered, ip.made = gather.New(cmd), cmd.New()
	}
	return ip
}

// clearInput forgets everything that belonged to a connection.
func (ip *input) clearInput() {
	ip.history.Clear()
	ip.confirmed, ip.commands, ip.remade = 0, nil, ip.remade[:0]
	ip.sent, ip.had, ip.hasHad = 0, 0, false
	ip.late, ip.decided = 0, 0
	ip.newCommands()
}

// newCommands makes the sender of commands for the server's settings.
func (ip *input) newCommands() {
	if ip.p.Command != nil && ip.cfg.Observe == nil {
		ip.commands = netcode.NewCommandSender(ip.p.Command.Schema.PackedSize(), netcode.CommandConfig{Fields: ip.p.Command.Schema.PackedFields(), Late: ip.lateReach()})
	}
}

// readInput reads the player's input, once a frame. Held fields have the value of the last frame.
// One-shots stay set until a tick takes them, so that a press and release between two ticks is not
// lost, and sums add up. The newest press is kept with what its frame showed, and with the sums up to
// that frame.
func (ip *input) readInput(looking screenFrame) {
	if ip.p.Command == nil || ip.cfg.Sample == nil || ip.cfg.Observe != nil {
		return
	}
	ip.cfg.Sample.sample(ip.view, ip.gathered.Begin())
	pressed, full := ip.gathered.End()
	ip.losses.CountFull(ip.p.Command.Name, ip.p.Command.Schema, full)
	if pressed {
		ip.press.frame, ip.press.read = looking, ip.now
	}
}

// commandUpTo makes the commands of all ticks up to t and returns how many it made.
func (ip *input) commandUpTo(t foretick.Tick, looking screenFrame) (n int) {
	for ; int32(t-ip.sampled) > 0; n++ {
		ip.sampled++
		ip.command(ip.sampled, looking, int(t-ip.sampled))
	}
	return n
}

// command makes the command of tick t from the player's input. It rounds the input as sending does, so
// that both ends run the same value. The part of a sum that exceeds its range is left for the next ticks:
// for the further ones of the same frame, and for those of a quarter of a second.
func (ip *input) command(t foretick.Tick, looking screenFrame, further int) {
	cmd := ip.p.Command
	if cmd == nil || ip.cfg.Observe != nil {
		return
	}
	from, looked := ip.commanded(looking)
	from = ip.gathered.Make(from)
	ip.losses.Sent(cmd.Name, cmd.Schema, from)
	packed := cmd.Schema.Pack(from, ip.packed[:0])
	if ip.first == 0 {
		ip.first = t
	}
	again := ip.history.Find(t) != nil
	in := ip.history.Put(t)
	if len(in.value) == 0 {
		in.at = reflect.New(cmd.Handle.Type()).UnsafePointer()
		in.value = unsafe.Slice((*byte)(in.at), cmd.Size)
	}
	if err := cmd.Schema.Unpack(packed, in.at); err != nil {
		clear(in.value)
		packed = cmd.Schema.Pack(in.at, packed[:0])
	}
	view := uint64(looked.shown.tick)<<8 | uint64(looked.shown.fraction)
	if again {
		again = in.replaces(packed, view)
	}
	if in.replaced, in.missed = again, false; again {
		ip.remade = append(ip.remade, t)
	}
	in.packed, in.view, in.offset = append(in.packed[:0], packed...), view, ip.behind(t, looked)
	in.sampled, in.frame = ip.now, looked.number
	in.ahead = rewind.Keys{A: looked.tick - 1, B: looked.tick, F: looked.fraction}
	in.whole = looked.shown.keys()
	ip.losses.CountFull(cmd.Name, cmd.Schema, ip.gathered.Deduct(in.at, further+max(ip.p.TickRate/carriedPart, 1)))
	ip.commands.Push(netcode.Command{
		Tick: t, Render: looked.shown.tick, Fraction: looked.shown.fraction, Offset: in.offset, Data: packed,
	})
	ip.packed = packed
}

// behind returns by how many steps a frame showed predicted entities before tick t. It is 0 if nothing
// of other players is predicted, nothing slides to the past or back, and the player is drawn by whole
// ticks.
func (ip *input) behind(t foretick.Tick, f screenFrame) uint8 {
	if !ip.showsAhead() && !ip.cfg.PartialTicks && !f.slides || f.tick == 0 {
		return 0
	}
	shown := float32(int32(t-f.tick)+1) - f.fraction
	return rewind.PackOffset(shown * rewind.OffsetSteps)
}

// commanded returns the input for the next tick's command, and the frame that the player looked at when
// giving the input.
func (ip *input) commanded(looking screenFrame) (unsafe.Pointer, screenFrame) {
	from, looked := ip.pending(looking)
	ip.press.frame = screenFrame{}
	return from, looked
}

// pending is commanded for a tick that is not due yet.
func (ip *input) pending(looking screenFrame) (unsafe.Pointer, screenFrame) {
	looked := ip.press.frame
	if looked.number == 0 || (ip.now-ip.press.read)*time.Duration(ip.p.TickRate) > pressTicks*time.Second {
		return ip.gathered.Newest(), looking
	}
	if at, ok := ip.gathered.AtPress(); ok {
		return at, looked
	}
	return ip.gathered.Newest(), looking // its aim is that of the last frame
}

// lateReach returns for how many ticks a command may be of use, counted from the newest one, which is
// ahead of the server's tick when it arrives. 0 means that it is of use only in its own tick.
func (ip *input) lateReach() int {
	if ip.late == 0 {
		return 0
	}
	return ip.late + 2
}

// answered returns the newest tick up to t whose command the server has run, or will not run any more.
func (ip *input) answered(t foretick.Tick) foretick.Tick {
	if ip.late > 0 && int32(t-ip.decided) > 0 {
		return ip.decided
	}
	return t
}

// confirm measures how long the server took to run the commands up to t, as far back as they are kept:
// after an outage these are many at once.
func (ip *input) confirm(t foretick.Tick) {
	if ip.confirmed == 0 {
		ip.confirmed = t - 1
	}
	if int32(t-ip.confirmed) <= 0 {
		return
	}
	missed := min(t-ip.confirmed, foretick.Tick(ip.commandsKept()))
	for k := t - missed + 1; int32(k-t) <= 0; k++ {
		in := ip.history.Find(k)
		if in == nil {
			continue
		}
		ip.stats.CountConfirmed(ip.now - in.sampled)
	}
	ip.confirmed = t
}

// played returns the packed command that the client ran a tick with, or a zero one if it made none. It
// is valid until the next call.
func (ip *input) played(t foretick.Tick) []byte {
	if in := ip.history.Find(t); in != nil {
		return in.packed
	}
	cmd := ip.p.Command
	ip.packed = cmd.Schema.Pack(reflect.New(cmd.Handle.Type()).UnsafePointer(), ip.packed[:0])
	return ip.packed
}

// unpressed returns the packed command of a tick without its one-shots, as the server repeats it. It
// returns nil if no command was made. It is valid until the next call.
func (ip *input) unpressed(t foretick.Tick) []byte {
	in := ip.history.Find(t)
	if in == nil {
		return nil
	}
	cmd := ip.p.Command
	if cmd.Schema.Unpack(in.packed, ip.made) != nil {
		return nil // impossible: it was packed here
	}
	cmd.Schema.ClearMomentary(ip.made)
	ip.compare = cmd.Schema.Pack(ip.made, ip.compare[:0])
	return ip.compare
}

// shownTime is the render time of the last frame.
type shownTime struct {
	tick     foretick.Tick
	fraction uint8 // in 1/256 of a tick
	at       time.Duration
}

// keys returns the time as the moment at which a view is made.
func (s shownTime) keys() rewind.Keys {
	return rewind.Keys{A: s.tick, F: float32(s.fraction) / 256}
}

// knownSince reports whether the server knew, at the newest snapshot, what this client knew when it
// sent the packet next: whether it had received that packet or a later one. An acknowledgement of a
// later command says less, since the command's time may have passed without it.
func (ip *input) knownSince(next netcode.Seq) bool {
	return ip.hasHad && !precedes(ip.had, next)
}
