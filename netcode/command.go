package netcode

import (
	"errors"
	"fmt"
)

// Command is the input of one player for one tick.
type Command struct {
	Tick     Tick   // the tick that the input is for
	Render   Tick   // whole ticks of the render time of remote entities when the command was made
	Fraction uint8  // fraction of that render time, in 1/256 tick after Render
	Offset   uint8  // time from the frame's moment of client-computed state to Tick, in steps that both ends agree on; 0: not stated
	Data     []byte // the packed input, of the size that both ends agreed on

	// Early is set only by [CommandBuffer.Take]: the time from the first
	// arrival of this command until its tick ran, in 1/256 tick, clamped to
	// ±32767. The server measured it as the wait in its own buffer, so a limit
	// on rewinding can rely on it. It is not sent.
	Early int16
}

// CommandConfig configures a [CommandSender]. The zero value is the default.
type CommandConfig struct {
	// Redundancy is the number of packets that each command travels in, unless it is
	// acknowledged earlier. While packets are lost in longer runs, commands travel in more:
	// see [CommandSender.Fate]. 0 means 3; negative means one packet, always. At most 64.
	Redundancy int
	// Late is the number of ticks for which a command is still of use after its own tick. An
	// unacknowledged command is sent in every packet until the newest command is this many
	// ticks later. 0 means that only Redundancy counts. At most 64. Negative is an error.
	Late int
	// Fields are the widths in bits of the fields that Data is packed of, in their order,
	// lowest bit of the first byte first. Differences between commands are coded by field.
	// The receiver's Fields must be the same. nil means that each byte is a field. A field
	// has 1 to 64 bits. Bits of Data after the last field count as fields of eight bits.
	Fields []uint8
}

// Validate returns nil, or a *ConfigError that lists every fault. [NewCommandSender] checks
// Fields against the size of a command.
func (c CommandConfig) Validate() error {
	var errs []error
	if c.Redundancy > maxCommands {
		errs = append(errs, fmt.Errorf("CommandConfig.Redundancy is %d packets: use up to %d, 0 for 3, or a negative number for one", c.Redundancy, maxCommands))
	}
	if c.Late < 0 || c.Late > maxCommands {
		errs = append(errs, fmt.Errorf("CommandConfig.Late is %d ticks: use up to %d, or 0 for none", c.Late, maxCommands))
	}
	if err := checkFields(maxCommandSize, c.Fields); err != nil {
		errs = append(errs, fmt.Errorf("CommandConfig.Fields: %w", err))
	}
	if len(errs) > 0 {
		return &ConfigError{errors.Join(errs...)}
	}
	return nil
}

// Commands on the wire are bits, newest command first. Each is coded relative to the one
// before it, and the newest to the base, a command that the server has:
//
//	based 1, count 2 (1 to 3, or 6 bits more), with a base: the newest tick 12, how far the
//	        base is before it 6; else: the newest tick 32. Then per command
//	unusual 1; if set: a gap 1 and its varint, an offset 1 and its 8 bits
//	lag     2: class of the change in how far the view trails the tick; then its bits
//	data    whole for the newest without a base; else 1, and if set, per field:
//	        changed 1, then a small change or the value
//
// Zero bits fill the last byte.
const (
	maxCommands    = 64   // commands in one body
	maxCommandSize = 1024 // bytes of Data
	viewCircle     = 1<<40 - 1

	fewCommands = 3  // up to this many commands are counted in two bits
	tickBits    = 12 // bits of the newest tick, if there is a base
	baseBits    = 6
	baseReach   = 1 << baseBits // ticks from the newest to the base, at most
)

// lagBits has the bits of a change of the lag for each class. lagLimits has the number of changes that the
// classes up to each one can hold. Class 0 is no change; class 3 is a varint.
var (
	lagBits   = [3]int{0, 4, 8}
	lagLimits = [3]uint64{0, 1 << 4, 1<<4 + 1<<8}
)

// view returns the render time in 1/256 tick.
func (c *Command) view() uint64 { return uint64(c.Render)<<8 | uint64(c.Fraction) }

// lag returns how far the view trails the tick, in 1/256 tick, signed, on a
// circle of 2⁴⁰.
func (c *Command) lag() int64 {
	d := (uint64(c.Tick)<<8 - c.view()) & viewCircle
	return int64(d<<24) >> 24
}

func (c *Command) setLag(lag int64) {
	v := (uint64(c.Tick)<<8 - uint64(lag)) & viewCircle
	c.Render, c.Fraction = Tick(v>>8), uint8(v)
}
