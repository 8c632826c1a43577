package netcode

import (
	"errors"
	"fmt"
)

// Command is one tick's input of one player.
type Command struct {
	Tick     Tick   // the tick it is meant for
	Render   Tick   // what the player saw of others when it was made: a tick …
	Fraction uint8  // … and 1/256 ticks beyond it
	Offset   uint8  // how far behind Tick the picture lay of what the client computes itself, in steps that both ends agree on; 0: not said
	Data     []byte // the packed input, of the size both ends agreed on

	// Early is set by [CommandBuffer.Take] alone: how long before its tick's
	// execution the command, as it is, first arrived, in 1/256 tick, cut to
	// ±32767. It is how long the command waited in the server's buffer, as the
	// server itself measured it, so a bound on rewinding may rely on it. It does
	// not travel.
	Early int16
}

// CommandConfig is what a CommandSender may be told. The zero value is the default.
type CommandConfig struct {
	// Redundancy is how many of the newest unacknowledged commands go with every
	// packet whatever the budget says: these, or all that no packet had yet, where
	// those are more. 0 means 3; negative means only those that no packet had yet. At
	// most 64.
	Redundancy int
	// Budget is how many bytes commands may take in a packet, in which all
	// unacknowledged ones go as far as they fit. 0 means 256; negative means that
	// none goes but those that Redundancy says. At most 2²⁰.
	Budget int
}

// Validate reports every fault at once, as a *ConfigError, or nil.
func (c CommandConfig) Validate() error {
	var errs []error
	if c.Redundancy > maxCommands {
		errs = append(errs, fmt.Errorf("CommandConfig.Redundancy is %d commands: use up to %d, 0 for 3, or less for none", c.Redundancy, maxCommands))
	}
	if c.Budget > maxCommandBudget {
		errs = append(errs, fmt.Errorf("CommandConfig.Budget is %d bytes: use up to %d, 0 for 256, or less for none", c.Budget, maxCommandBudget))
	}
	if len(errs) > 0 {
		return &ConfigError{errors.Join(errs...)}
	}
	return nil
}

// Commands on the wire, newest first, each coded against the one before it:
//
//	count 1, newest tick 4, then per command
//	head 1: low four bits say what follows; when none does, the high four say
//	        how many further commands are as predictable as this one
//	  headTick:   varint of the ticks skipped       else the tick before
//	  headView:   zigzag varint of the change in how far the view lies behind
//	              its tick, in 1/256 tick            else as far behind
//	  headOffset: 1                                  else the same
//	  headData:   a mask of the bytes that differ, and their new values
//
// The command before the newest is tick+1, view 0 behind, offset 0, data zero.
const (
	headTick   = 1
	headView   = 2
	headOffset = 4
	headData   = 8
	headWhat   = 15
	headRun    = 16 // of the high four bits: 0 to 15 more

	maxCommands    = 64   // in one body
	maxCommandSize = 1024 // bytes of Data
	viewCircle     = 1<<40 - 1

	maxCommandBudget = 1 << 20
)

// view is the render time in 1/256 tick.
func (c *Command) view() uint64 { return uint64(c.Render)<<8 | uint64(c.Fraction) }

// lag is how far the view lies behind the tick, in 1/256 tick, signed, on the
// circle of 2⁴⁰.
func (c *Command) lag() int64 {
	d := (uint64(c.Tick)<<8 - c.view()) & viewCircle
	return int64(d<<24) >> 24
}

func (c *Command) setLag(lag int64) {
	v := (uint64(c.Tick)<<8 - uint64(lag)) & viewCircle
	c.Render, c.Fraction = Tick(v>>8), uint8(v)
}
