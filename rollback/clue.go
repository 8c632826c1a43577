package rollback

import (
	"github.com/foretick/foretick"
	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
)

// clue is what one of two players, whose worlds differ, tells the other one while they search for the cause. The
// relay passes it on. Both have lists of hashes, one for each of the ticks, the steps of a tick and the values
// after a step. A hash covers all of a list up to its place, so two lists differ from one place on.
type clue struct {
	player foretick.PlayerID // player is who gets the clue, and once it is passed on who sent it.
	tick   netcode.Tick      // tick is that of the differ which began the search.
	level  level
	length uint32  // length is that of the sender's list.
	points []point // points are places of the sender's list.
	place  uint32  // place is where the lists begin to differ, if found is true.
	found  bool
	cause  *finding // cause is what the sender has there. It comes with the place of a value, and with outside.
	build  string   // build is the sender's program and machine, at levelTicks and levelOutside.
}

// level is how far a search is.
type level uint8

const (
	levelTicks   level = iota // both compare the ends of ticks
	levelSteps                // both compare the steps of the tick that was found
	levelValues               // both compare the values after the step that was found
	levelOutside              // the sender's world is not what its ticks make of it: see finding
	levels
)

// point is a hash of a list.
type point struct {
	place uint32
	hash  uint32
}

// finding is a value of one side.
type finding struct {
	spot        spot
	field       string // field is a path such as "position.X".
	value       string
	expected    string       // expected is what the ticks make of it, at levelOutside.
	first, last netcode.Tick // first and last are the ticks in which it was written, at levelOutside.
}

const (
	mostPoints = 64
	mostClues  = 64  // mostClues is how many clues the relay passes on for a player and differ.
	mostText   = 100 // mostText is how many bytes a text of a clue may have.
	mostClue   = 1 + 4 + 1 + 1 + 4 + 4 + 1 + 8*mostPoints + 1 + mostText + 8 + 2 + 2 + 4 + 4 + 3*(1+mostText)
)

const (
	clueFound = 1 << iota
	clueCause
	clueFlags
)

func (c *clue) append(dst []byte) []byte {
	flags := byte(0)
	if c.found {
		flags |= clueFound
	}
	if c.cause != nil {
		flags |= clueCause
	}
	dst = append(le.AppendUint32(append(dst, byte(c.player)), c.tick), byte(c.level), flags)
	dst = append(le.AppendUint32(le.AppendUint32(dst, c.length), c.place), byte(len(c.points)))
	for _, p := range c.points {
		dst = le.AppendUint32(le.AppendUint32(dst, p.place), p.hash)
	}
	dst = appendText(dst, c.build)
	if f := c.cause; f != nil {
		dst = le.AppendUint64(dst, uint64(f.spot.entity))
		dst = le.AppendUint16(le.AppendUint16(dst, f.spot.column), f.spot.field)
		dst = le.AppendUint32(le.AppendUint32(dst, f.first), f.last)
		dst = appendText(appendText(appendText(dst, f.field), f.value), f.expected)
	}
	return dst
}

// appendText appends the length and the bytes of a text, of which it cuts off what is too long.
func appendText(dst []byte, text string) []byte {
	text = text[:min(len(text), mostText)]
	return append(append(dst, byte(len(text))), text...)
}

func readClue(b []byte) (cl clue, err error) {
	c := cursor{b: b}
	cl.player, cl.tick, cl.level = foretick.PlayerID(c.u8()), c.u32(), level(c.u8())
	flags := c.u8()
	cl.found = flags&clueFound != 0
	cl.length, cl.place = c.u32(), c.u32()
	n := int(c.u8())
	right := flags < clueFlags && cl.level < levels && n <= mostPoints && cl.player >= 1 && cl.player <= maxPlaces && len(b) <= mostClue
	for range n {
		if c.bad || !right {
			break
		}
		cl.points = append(cl.points, point{c.u32(), c.u32()})
	}
	text := func() (s string) {
		n := int(c.u8())
		if right = right && n <= mostText; right {
			s = string(c.take(n))
		}
		return s
	}
	cl.build = text()
	if flags&clueCause != 0 && !c.bad && right {
		f := &finding{}
		f.spot = spot{ecs.Entity(c.u64()), c.u16(), c.u16()}
		f.first, f.last = c.u32(), c.u32()
		f.field, f.value, f.expected = text(), text(), text()
		cl.cause = f
	}
	return cl, c.err(right)
}
