// Package gather gathers a player's input between the commands that are made of it. Clients and the peers of
// package rollback use it.
package gather

import (
	"bytes"
	"unsafe"

	"github.com/foretick/foretick/internal/layout"
)

// Input has a player's input since the newest command. Held fields have the value of the newest read. Oneshots
// stay set until a command takes them, and sums add up.
type Input struct {
	cmd     *layout.Command
	input   unsafe.Pointer
	press   unsafe.Pointer // press is the input of the newest read that pressed a oneshot.
	made    unsafe.Pointer // made is the command that is being made.
	over    []int64        // over has, by field, the parts of sums that their Go types cannot hold.
	full    []int          // full is scratch: the fields whose sums lost something.
	compare []byte         // compare is scratch.
}

// New returns an Input that nothing was read into.
func New(cmd *layout.Command) *Input {
	return &Input{cmd: cmd, input: cmd.New(), press: cmd.New(), made: cmd.New(), over: make([]int64, len(cmd.Schema.Fields()))}
}

// Begin returns a zero command for the caller to read the input into. Call End afterwards.
func (g *Input) Begin() unsafe.Pointer {
	layout.CopyBytes(g.made, g.input, g.cmd.Size)
	clear(unsafe.Slice((*byte)(g.input), g.cmd.Size))
	return g.input
}

// End adds what was read to the input. pressed is true if it has a press; then it keeps the input for
// AtPress. full has the indices of the fields whose sums their types cannot hold, until the next call.
func (g *Input) End() (pressed bool, full []int) {
	pressed = g.cmd.Schema.Pressed(g.input)
	g.full = g.cmd.Schema.Gather(g.input, g.made, g.over, g.full[:0])
	if pressed {
		layout.CopyBytes(g.press, g.input, g.cmd.Size)
	}
	return pressed, g.full
}

// Newest returns the input for the next command, as of the newest read.
func (g *Input) Newest() unsafe.Pointer { return g.input }

// AtPress returns the input with the fields tagged press as they were at the newest press. Without such fields
// it returns false if the input has changed since, because its aim is that of the newest read.
func (g *Input) AtPress() (at unsafe.Pointer, ok bool) {
	layout.CopyBytes(g.made, g.input, g.cmd.Size)
	return g.made, g.cmd.Schema.CopyPress(g.made, g.press) || g.unchanged()
}

// unchanged reports whether the input is still what it was at the press.
func (g *Input) unchanged() bool {
	b := g.cmd.Schema.Pack(g.press, g.compare[:0])
	n := len(b)
	g.compare = g.cmd.Schema.Pack(g.input, b)
	return bytes.Equal(g.compare[:n], g.compare[n:])
}

// Make returns a command made from some input, with its sums in their ranges.
func (g *Input) Make(from unsafe.Pointer) unsafe.Pointer {
	if from != g.made {
		layout.CopyBytes(g.made, from, g.cmd.Size)
	}
	g.cmd.Schema.ClampSums(g.made)
	return g.made
}

// Deduct removes a command from the input. What is left of sums is for the commands of the next ticks: see
// schema.Schema.Deduct. It returns the indices of the fields that lost something, until the next call.
func (g *Input) Deduct(sent unsafe.Pointer, ticks int) (full []int) {
	g.full = g.cmd.Schema.Deduct(g.input, sent, g.over, ticks, g.full[:0])
	return g.full
}
