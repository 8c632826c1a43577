package server

import (
	"encoding/binary"
	"time"
	"unsafe"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/cause"
	"github.com/foretick/foretick/internal/game"
	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/internal/late"
	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// commands provides each player's command for a tick, checks it, and replaces one that is missing or
// refused.
type commands struct {
	sim      *simulation
	sessions *sessions
	panics   *panics
	mail     *mail
	late     *late.Room
	clock    *matchClock
	// traffic counts the bytes of commands. It is nil without Config.Profile.
	traffic *traffic
	// repeat and decay are Config.RepeatInput and DecayInput.
	repeat, decay time.Duration
	scratch       []byte
}

// readCommands reads a message with commands, which arrived at t in packet b.
func (k *commands) readCommands(t time.Duration, p *player, body, b []byte) error {
	if p.observing != nil {
		return netcode.ErrMalformed
	}
	if p.session.state != playing || p.inputs.buffer == nil {
		return nil
	}
	if k.traffic != nil {
		k.traffic.up += uint64(len(body))
	}
	return k.panics.decodePeer(p, b, func() error {
		if newest, ok := netcode.NewestCommand(body, k.sim.frame.Tick); ok && int64(newest)-int64(k.sim.frame.Tick) > int64(distant/k.clock.interval) && k.clock.rested(guard.DefaultTimeout) {
			p.faults.fault("a command for a distant future")
		}
		if k.late.Whole {
			p.fates(t) // reads the acknowledgements of this packet
			p.inputs.buffer.Knows(p.shooter.Acked())
		}
		return p.inputs.buffer.Read(body, k.clock.ticks(t, k.sim.frame.Tick))
	})
}

// takeCommands gets each player's command for this tick, or replaces it.
func (k *commands) takeCommands() {
	c := k.sim.p.Command
	if c == nil {
		return
	}
	for _, p := range k.sessions.players {
		switch p.session.state {
		case away:
			k.standIn(p, c, prediction.Repeated)
		case playing:
			k.takeCommand(p, c)
		case local:
			k.takeLocal(p, c)
		}
	}
}

func (k *commands) takeCommand(p *player, c *layout.Command) {
	k.observeLatency(p)
	k.takeLate(p, c)
	cmd, ok := p.inputs.buffer.Take(k.sim.frame.Tick)
	switch {
	case !ok:
		p.inputs.missing(&p.stats, k.sim.stats)
		k.miss(p, c)
	case !k.acceptCommand(p, c, k.sim.frame.Tick, cmd.Data):
		k.standIn(p, c, prediction.Refused)
	default:
		p.inputs.took(c, k.sim.frame.Tick)
		p.inputs.offset = cmd.Offset
		p.inputs.render = time.Duration(int32(cmd.Tick-cmd.Render))*k.clock.interval - time.Duration(cmd.Fraction)*k.clock.interval/256
		p.shooter.Take(shot(&cmd), k.sim.frame.Tick, p.session.conn.Jitter())
		p.stats.InputsTaken++
		k.sim.stats.InputsTaken++
		k.late.Ran(&p.late, p.inputs.command, p.inputs.offset)
	}
}

// takeLate handles the commands that have arrived for earlier ticks.
func (k *commands) takeLate(p *player, c *layout.Command) {
	if !k.late.BeginTick(&p.late) {
		return
	}
	in := &p.inputs
	for {
		cmd, verdict := k.late.NextCommand(&p.late)
		switch {
		case verdict == late.None:
			return
		case verdict == late.Hindsight:
			p.stats.InputsHindsight++
			k.sim.stats.InputsHindsight++
		case verdict == late.OverBudget:
			p.stats.InputsOverBudget++
			k.sim.stats.InputsOverBudget++
		case !k.acceptCommand(p, c, cmd.Tick, cmd.Data):
			k.late.Refuse(&p.late, cmd.Tick)
		default:
			k.late.Take(&p.late, &cmd, in.command, shot(&cmd))
			if int32(cmd.Tick-in.tookTick) > 0 {
				in.took(c, cmd.Tick)
				in.repeated += time.Duration(k.sim.frame.Tick-1-cmd.Tick) * k.clock.interval
			}
			p.stats.InputsRerun++
			k.sim.stats.InputsRerun++
		}
	}
}

// miss replaces the missing command of the present tick. If that command may still arrive, the tick
// waits for it.
func (k *commands) miss(p *player, c *layout.Command) {
	if !p.inputs.heard || !k.late.MayWait(&p.late) {
		k.standIn(p, c, prediction.Repeated)
		return
	}
	in := &p.inputs
	in.offset = 0
	how := k.replaceCommand(p, c, prediction.Repeated)
	layout.CopyBytes(in.command, in.last, c.Size)
	k.late.Wait(&p.late, in.command, how)
}

// observeLatency measures the latencies that limit a player's claims in this tick.
func (k *commands) observeLatency(p *player) {
	p.shooter.Observe(k.sim.frame.Tick, p.session.conn.MeasuredRTT(), p.inputs.early)
}

// fillCommands writes each player's command into the player's rows.
func (k *commands) fillCommands() {
	c := k.sim.p.Command
	if c == nil {
		return
	}
	for _, rows := range k.sim.commands.All(k.sim.world) {
		k.fillRows(rows, k.sessions.player(rows.Owner()))
	}
}

// fillRows writes a player's command into rows that the player owns. If p is nil it writes a zero
// command.
func (k *commands) fillRows(rows ecs.Rows, p *player) {
	c := k.sim.p.Command
	base := rows.Column(c.ID)
	for i := range rows.Len() {
		dst := unsafe.Add(base, uintptr(i)*c.Size)
		if p == nil {
			clear(unsafe.Slice((*byte)(dst), c.Size))
			continue
		}
		layout.CopyBytes(dst, p.inputs.command, c.Size)
	}
}

// acceptCommand decodes the command of a tick, which may be before the present one, and lets the game
// check it.
func (k *commands) acceptCommand(p *player, c *layout.Command, t foretick.Tick, data []byte) bool {
	if k.unpackCommand(p, c, data) != nil {
		p.faults.fault("a command out of range")
		if t == k.sim.frame.Tick {
			p.inputs.missing(&p.stats, k.sim.stats)
		}
		return false
	}
	now := k.sim.frame.Tick
	k.sim.frame.Tick = t // the game sees this tick, and a refusal names it
	ok := k.checkCommand(p, c)
	k.sim.frame.Tick = now
	return ok
}

// unpackCommand decodes a command. The error means that it cannot be decoded.
func (k *commands) unpackCommand(p *player, c *layout.Command, data []byte) error {
	err := k.panics.decodePeer(p, data, func() error { return c.Schema.Unpack(data, p.inputs.command) })
	if p.session.poisoned {
		k.sessions.kick(p, transport.Malformed, poisonedText)
		return netcode.ErrMalformed
	}
	return err
}

// checkCommand lets the game check the command that was just unpacked.
func (k *commands) checkCommand(p *player, c *layout.Command) bool {
	if k.sim.p.Handlers.Check == nil {
		return true
	}
	err := k.askGame(p, c)
	if err == nil {
		return !p.session.kicked
	}
	p.stats.InputsRejected++
	k.sim.stats.InputsRejected++
	if p.local == nil && p.session.conn.Pending() >= maxRefusals {
		return false
	}
	why := err.Error()
	k.scratch = binary.LittleEndian.AppendUint32(k.scratch[:0], k.sim.frame.Tick)
	k.scratch = append(k.scratch, why[:min(len(why), game.MaxRefusal)]...)
	_ = k.mail.sendOn(p, standard.ChannelMain, game.KindRefused, k.scratch) // a full queue is counted there
	return false
}

func (k *commands) askGame(p *player, c *layout.Command) error {
	defer k.panics.Contain(p.owner, "CheckCommand")
	return k.sim.p.Handlers.Check(&k.sim.frame, p.owner, p.inputs.command)
}

// takeLocal gets a local player's command for this tick.
func (k *commands) takeLocal(p *player, c *layout.Command) {
	in, seat := &p.inputs, p.local
	if seat.Command == nil {
		clear(unsafe.Slice((*byte)(in.command), c.Size))
	} else {
		layout.CopyBytes(in.command, unsafe.Pointer(unsafe.SliceData(seat.Command)), c.Size)
	}
	p.shooter.Local(k.sim.frame.Tick, seat.Claim)
	if !k.checkCommand(p, c) {
		k.standIn(p, c, prediction.Refused)
		return
	}
	in.took(c, k.sim.frame.Tick)
	in.offset = 0
	p.stats.InputsTaken++
	k.sim.stats.InputsTaken++
	k.late.Ran(&p.late, in.command, 0)
}

// standIn replaces a player's command: by the last one for a while, then by the game's decay of it,
// then by zero. how is the reason if a command did arrive.
func (k *commands) standIn(p *player, c *layout.Command, how prediction.StandIn) {
	how = k.replaceCommand(p, c, how)
	p.inputs.replace(c, k.sim.frame.Tick, p.told(), how)
	k.late.Ran(&p.late, p.inputs.command, 0)
}

// replaceCommand puts the replacement of a missing command into last, and returns its kind.
func (k *commands) replaceCommand(p *player, c *layout.Command, how prediction.StandIn) prediction.StandIn {
	in := &p.inputs
	in.repeated += k.clock.interval
	switch repeat := max(k.repeat, 0); {
	case in.repeated <= repeat:
	case k.sim.p.Decay != nil && in.repeated <= repeat+max(k.decay, 0):
		k.decayCommand(p, c)
		c.Schema.ClearMomentary(in.last)
		k.sim.losses.SentBy("(Decay)", c.Name, c.Schema, in.last)
		how = max(how, prediction.Decayed)
	default:
		clear(unsafe.Slice((*byte)(in.last), c.Size))
		how = max(how, prediction.Neutral)
	}
	return how
}

func (k *commands) decayCommand(p *player, c *layout.Command) {
	defer k.panics.Contain(p.owner, "Decay")
	k.sim.p.Decay(p.inputs.last, int(p.inputs.repeated/k.clock.interval))
}

// maxRefusals is how many reliable messages may wait for a client before refusals are only counted, and
// no longer sent.
const maxRefusals = 16

// inputs has a player's commands: those that were received, and the replacement of a missing one.
type inputs struct {
	buffer   *netcode.CommandBuffer
	command  unsafe.Pointer // the command of the tick that is computed, as a component
	last     unsafe.Pointer // the newest command that was received, with one-shots and sums cleared
	heard    bool           // a command was received
	tookTick foretick.Tick  // the newest tick that ran a command of its own
	// early is for how long commands wait in the buffer, as last measured. It is 0 if they arrive too
	// late.
	early time.Duration
	// buffered is the measured wait in the buffer. It is negative if commands arrive too late.
	buffered time.Duration
	// offset is the offset that the tick's command states. It is 0 if the command states none.
	offset uint8
	// render is how far the frame that the newest command saw is behind the command's tick.
	render time.Duration

	repeated time.Duration
	replaced cause.Substitution // the newest ticks whose command was not the client's
}

// beginConnection makes the buffer of a new connection, the first one or a later one. It adds the
// counts of the connection before to own.
func (in *inputs) beginConnection(own *stats.Player, c *layout.Command, rate int) {
	in.heard, in.early, in.buffered, in.render = false, 0, 0, 0
	if c != nil {
		in.addTo(own)
		in.buffer = netcode.NewCommandBuffer(c.Schema.PackedSize(), rate*2, c.Schema.PackedFields()...)
	}
}

// addTo adds the counts of the current connection's buffer.
func (in *inputs) addTo(st *stats.Player) {
	if in.buffer == nil {
		return
	}
	late, duplicate, far, malformed := in.buffer.Stats()
	st.InputsLate += late
	st.InputsDuplicate += duplicate
	st.InputsFar += far
	st.InputsMalformed += malformed
	st.InputsReplaced += in.buffer.Replaced()
}

// took keeps the command that was received for a tick, and ends the repetition of an earlier one.
func (in *inputs) took(c *layout.Command, t foretick.Tick) {
	in.heard, in.repeated, in.tookTick = true, 0, t
	layout.CopyBytes(in.last, in.command, c.Size)
	c.Schema.ClearMomentary(in.last)
}

// missing counts a tick whose command did not arrive, if the player has sent commands already.
func (in *inputs) missing(own *stats.Player, all *stats.Counters) {
	if in.heard {
		own.InputsMissing++
		all.InputsMissing++
	}
}

// replace runs a tick with the current value of last, instead of the client's own command. acked is the
// newest snapshot that the client is known to have.
func (in *inputs) replace(c *layout.Command, t, acked foretick.Tick, how prediction.StandIn) {
	if r := &in.replaced; r.To == 0 || r.To != t-1 {
		r.Follow(t, acked)
	}
	in.replaced.To = t
	in.offset = 0
	in.replaced.How = how
	layout.CopyBytes(in.command, in.last, c.Size)
	in.replaced.Command = c.Schema.Pack(in.command, in.replaced.Command[:0])
}
