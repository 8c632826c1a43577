package foretick

import (
	"bytes"
	"time"
	"unsafe"
)

// frame is what the player looks at: a rendered frame's times.
type frame struct {
	picture  Tick      // its number; 0: none
	shown    shownTime // the render time of others
	tick     Tick      // what is predicted was shown between the tick before this one …
	fraction float32   // … and this one
}

// looking is the frame that is on the screen.
func (c *Client) looking() frame {
	return frame{picture: c.picture, shown: c.shown, tick: c.view.Tick, fraction: c.view.Fraction}
}

// press is the newest one since the last tick: the command as it was read in its frame.
type press struct {
	at    unsafe.Pointer // the command
	frame frame          // zero: nothing was pressed
	read  time.Duration
}

// pressTicks is for how many ticks a press waits for one that takes it. One that has
// waited longer, while the prediction stood still, is judged by the newest frame.
const pressTicks = 2

// stale reports whether there is no press, or it waited too long.
func (p *press) stale(c *Client) bool {
	return p.frame.picture == 0 || (c.now-p.read)*time.Duration(c.p.tickRate) > pressTicks*time.Second
}

// commanded returns the command that the next tick takes, and the frame that the player
// looked at when giving it.
func (c *Client) commanded(cmd *command) (unsafe.Pointer, frame) {
	p := &c.press
	if p.stale(c) {
		p.frame = frame{}
		return c.sample, c.looking()
	}
	looked := p.frame
	p.frame = frame{}
	copyBytes(c.pressed, c.sample, cmd.size)
	if !cmd.schema.CopyPress(c.pressed, p.at) && !c.unchanged(cmd) {
		return c.sample, c.looking() // its aim is the last frame's
	}
	return c.pressed, looked
}

// unchanged reports whether the command is still what it was at the press, but for
// one-shots.
func (c *Client) unchanged(cmd *command) bool {
	cmd.schema.MergeOneShots(c.press.at, c.sample)
	c.scratch = cmd.schema.Pack(c.press.at, c.scratch[:0])
	n := len(c.scratch)
	c.scratch = cmd.schema.Pack(c.sample, c.scratch)
	return bytes.Equal(c.scratch[:n], c.scratch[n:])
}
