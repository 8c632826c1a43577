package foretick

import (
	"encoding/binary"
	"errors"
	"reflect"
	"unsafe"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/transport"
)

// kindRefused is the reliable kind that tells a client which of its commands the
// game refused, and why.
const kindRefused = 254

const (
	// maxRefusal bounds the text of a refusal, in bytes.
	maxRefusal = 200
	// maxRefusals is how many reliable messages may wait for a client before
	// refusals are counted and not told any more.
	maxRefusals = 16
)

// CheckCommand has the server ask fn about every command before a tick runs with it:
// a move that the rules forbid, an item that the player does not have. fn sees
// the world as the tick before left it, in which a player who was let in just
// now owns nothing yet, and must not change it. An error refuses the command:
// the tick runs with what stands in for a missing one, the refusal is counted
// (PlayerStats.InputsRejected), and the client is told the error's text, cut to
// 200 bytes (ClientConfig.OnRefused). Ranges need no validator: what is outside
// of a field's tag never gets this far.
func CheckCommand[T any](p *Protocol, c *ecs.Component[T], fn func(f *Frame, player PlayerID, cmd T) error) {
	if !p.able("CheckCommand", fn != nil) {
		return
	}
	if cmd := p.commandOf("CheckCommand", c); cmd != nil {
		if cmd.validate != nil {
			p.faultf("Validate was declared twice: ask everything in one function")
		}
		cmd.validate = func(f *Frame, player PlayerID, at unsafe.Pointer) error { return fn(f, player, *(*T)(at)) }
	}
}

// Decay has the server call fn on the command that stands in for a missing one,
// once a tick, when the last one received was repeated for long enough
// (ServerConfig.RepeatInput) and for as long as ServerConfig.DecayInput says:
// a ship that lets go of the throttle slowly, say. cmd is what the tick before
// ran with, its one-shot fields false; missing counts the ticks since the last
// command, from 1. Without Decay the command is zero at once.
func Decay[T any](p *Protocol, c *ecs.Component[T], fn func(cmd *T, missing int)) {
	if !p.able("Decay", fn != nil) {
		return
	}
	if cmd := p.commandOf("Decay", c); cmd != nil {
		if cmd.decay != nil {
			p.faultf("Decay was declared twice: do everything in one function")
		}
		cmd.decay = func(at unsafe.Pointer, missing int) { fn((*T)(at), missing) }
	}
}

func (p *Protocol) commandOf(caller string, h ecs.Handle) *command {
	if !p.given(caller, h) {
		return nil
	}
	if p.command == nil || !p.types.Has(h) || p.command.id != h.ID() {
		if !p.spoils(h) {
			p.faultf("%s of %s, which is not the protocol's command: call Command first", caller, typeName(h.Type()))
		}
		return nil
	}
	return p.command
}

// takeCommands finds each player's command for this tick, or what stands in
// for it.
func (s *Server) takeCommands() {
	c := s.p.command
	if c == nil {
		return
	}
	t := s.frame.Tick
	for _, p := range s.players {
		if p.state == away {
			p.standsIn(c, t, s, prediction.Repeated)
			continue
		}
		if p.state != playing {
			continue
		}
		p.observe(s)
		cmd, ok := p.buffer.Take(t)
		switch {
		case !ok:
			p.countMissing(s)
			p.standsIn(c, t, s, prediction.Repeated)
		case s.unpack(p, c, cmd.Data) != nil:
			p.conduct.fault("a command out of range")
			p.countMissing(s)
			p.standsIn(c, t, s, prediction.Refused)
		case !s.valid(p, c):
			p.standsIn(c, t, s, prediction.Refused)
		default:
			p.took(c, &cmd, s)
		}
	}
}

// unpack decodes a command. What does not decode is refused.
func (s *Server) unpack(p *player, c *command, data []byte) error {
	err := s.decode(p, data, func() error { return c.schema.Unpack(data, p.command) })
	if p.poisoned {
		s.kick(p, transport.Malformed, poisonedText)
		return netcode.ErrMalformed
	}
	return err
}

// valid asks the game about the command that was just unpacked.
func (s *Server) valid(p *player, c *command) bool {
	if c.validate == nil {
		return true
	}
	err := s.validate(p, c)
	if err == nil {
		return !p.kicked
	}
	p.stats.InputsRejected++
	s.stats.InputsRejected++
	if p.conn.Pending() < maxRefusals {
		why := err.Error()
		s.scratch = binary.LittleEndian.AppendUint32(s.scratch[:0], s.frame.Tick)
		s.scratch = append(s.scratch, why[:min(len(why), maxRefusal)]...)
		_ = s.sendOn(p, channelMain, kindRefused, s.scratch) // a full queue is counted there
	}
	return false
}

func (s *Server) validate(p *player, c *command) error {
	defer s.contain(p.owner, "validate")
	return c.validate(&s.frame, p.owner, p.command)
}

func (s *Server) decay(p *player, c *command) {
	defer s.contain(p.owner, "decay")
	c.decay(p.last, int(p.repeated/s.interval))
}

// countMissing counts a tick whose command did not come, once the player has
// begun to send them.
func (p *player) countMissing(s *Server) {
	if p.heard {
		p.stats.InputsMissing++
		s.stats.InputsMissing++
	}
}

// standsIn makes up a command: the last one for a while, then as the game lets
// it decay, then none. how is why, where the command did come.
func (p *player) standsIn(c *command, t Tick, s *Server, how prediction.StandIn) {
	if p.substituted == 0 || p.substituted != t-1 {
		p.standFrom = t
	}
	p.substituted = t
	p.repeated += s.interval
	switch repeat := max(s.cfg.RepeatInput, 0); {
	case p.repeated <= repeat:
	case c.decay != nil && p.repeated <= repeat+max(s.cfg.DecayInput, 0):
		s.decay(p, c)
		c.schema.ClearOneShots(p.last)
		how = max(how, prediction.Decayed)
	default:
		clear(unsafe.Slice((*byte)(p.last), c.size))
		how = max(how, prediction.Neutral)
	}
	p.standHow = how
	copyBytes(p.command, p.last, c.size)
	p.standIn = c.schema.Pack(p.command, p.standIn[:0])
}

// refused tells the game's client which command was refused.
func (c *Client) refused(payload []byte) error {
	if len(payload) < 4 || len(payload) > 4+maxRefusal {
		return errRefusal
	}
	c.stats.CommandsRefused++
	if c.cfg.OnRefused != nil {
		c.cfg.OnRefused(binary.LittleEndian.Uint32(payload), string(payload[4:]))
	}
	return nil
}

var errRefusal = errors.New("foretick: malformed refusal")

// value is a command as the game's own type, for a report.
func (c *command) value(at unsafe.Pointer) any {
	v := reflect.New(c.handle.Type())
	copyBytes(v.UnsafePointer(), at, c.size)
	return v.Elem().Interface()
}
