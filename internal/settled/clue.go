package settled

import (
	"cmp"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
)

// Clue is what one of two players, whose worlds differ, tells the other one while they search for the cause. The
// relay passes it on. Both have lists of hashes, one for each of the ticks, the steps of a tick and the values
// after a step. A hash covers all of a list up to its place, so two lists differ from one place on.
type Clue struct {
	Player ecs.Owner    // Player is who gets the clue, and once it is passed on who sent it.
	Tick   netcode.Tick // Tick is that of the differ which began the search.
	Level  Level
	Length uint32  // Length is that of the sender's list.
	Points []Point // Points are places of the sender's list.
	Place  uint32  // Place is where the lists begin to differ, if found is true.
	Found  bool
	Cause  *Finding // Cause is what the sender has there. It comes with the place of a value, and with outside.
	Build  string   // Build is the sender's program and machine, at LevelTicks and LevelOutside.
}

// Level is how far a search is.
type Level uint8

const (
	LevelTicks    Level = iota // both compare the ends of ticks
	LevelSteps                 // both compare the steps of the tick that was found
	LevelValues                // both compare the values after the step that was found
	LevelOutside               // the sender's world is not what its ticks make of it: see Finding
	LevelUnsteady              // the sender's ticks make another world in each run
	levels
)

// Point is a hash of a list.
type Point struct {
	Place uint32
	Hash  uint32
}

// Finding is a value of one side.
type Finding struct {
	Spot        Spot
	Prefab      uint16 // Prefab is 1 + the number of the entity's prefab as declared. It is 0 for none.
	Field       string // Field is a path such as "position.X".
	Value       string
	Expected    string       // Expected is what the ticks make of it, from LevelOutside on.
	System      string       // System is the one that wrote the value, or those that may have, from LevelOutside on.
	First, Last netcode.Tick // First and last are the ticks in which it was written, at LevelOutside.
}

// Spot is where a value is: in a field of a component, of a singleton, or of an entity.
type Spot struct {
	Entity ecs.Entity // Entity is None for a singleton.
	Column uint16     // Column is the number of the component or singleton, or parentColumn.
	Field  uint16     // Field is a number in ecs.TypeInfo.Fields.
}

// Compare returns −1, 0 or 1 as a spot comes before another one, is it, or comes after it.
func (s Spot) Compare(o Spot) int {
	return cmp.Or(cmp.Compare(s.Entity, o.Entity), cmp.Compare(s.Column, o.Column), cmp.Compare(s.Field, o.Field))
}

const (
	MostPoints = 64
	MostClues  = 64  // MostClues is how many clues the relay passes on for a player and differ.
	mostText   = 100 // mostText is how many bytes a text of a clue may have.
	mostClue   = 1 + 4 + 1 + 1 + 4 + 4 + 1 + 8*MostPoints + 1 + mostText + 8 + 2 + 2 + 2 + 4 + 4 + 4*(1+mostText)
)

const (
	clueFound = 1 << iota
	clueCause
	clueFlags
)

// Append appends the message to dst. Texts that are too long are cut off.
func (c *Clue) Append(dst []byte) []byte {
	flags := byte(0)
	if c.Found {
		flags |= clueFound
	}
	if c.Cause != nil {
		flags |= clueCause
	}
	dst = append(LE.AppendUint32(append(dst, byte(c.Player)), c.Tick), byte(c.Level), flags)
	dst = append(LE.AppendUint32(LE.AppendUint32(dst, c.Length), c.Place), byte(len(c.Points)))
	for _, p := range c.Points {
		dst = LE.AppendUint32(LE.AppendUint32(dst, p.Place), p.Hash)
	}
	dst = appendText(dst, c.Build)
	if f := c.Cause; f != nil {
		dst = LE.AppendUint64(dst, uint64(f.Spot.Entity))
		dst = LE.AppendUint16(LE.AppendUint16(LE.AppendUint16(dst, f.Spot.Column), f.Spot.Field), f.Prefab)
		dst = LE.AppendUint32(LE.AppendUint32(dst, f.First), f.Last)
		dst = appendText(appendText(appendText(appendText(dst, f.Field), f.Value), f.Expected), f.System)
	}
	return dst
}

// appendText appends the length and the bytes of a text, of which it cuts off what is too long.
func appendText(dst []byte, text string) []byte {
	text = text[:min(len(text), mostText)]
	return append(append(dst, byte(len(text))), text...)
}

// ReadClue reads what Append wrote. Anything else is netcode.ErrMalformed.
func ReadClue(b []byte) (cl Clue, err error) {
	c := Cursor{B: b}
	cl.Player, cl.Tick, cl.Level = ecs.Owner(c.U8()), c.U32(), Level(c.U8())
	flags := c.U8()
	cl.Found = flags&clueFound != 0
	cl.Length, cl.Place = c.U32(), c.U32()
	n := int(c.U8())
	right := flags < clueFlags && cl.Level < levels && n <= MostPoints && cl.Player >= 1 && cl.Player <= MaxPlaces && len(b) <= mostClue
	for range n {
		if c.Bad || !right {
			break
		}
		cl.Points = append(cl.Points, Point{c.U32(), c.U32()})
	}
	text := func() (s string) {
		n := int(c.U8())
		if right = right && n <= mostText; right {
			s = string(c.Take(n))
		}
		return s
	}
	cl.Build = text()
	if flags&clueCause != 0 && !c.Bad && right {
		f := &Finding{}
		f.Spot = Spot{ecs.Entity(c.U64()), c.U16(), c.U16()}
		f.Prefab, f.First, f.Last = c.U16(), c.U32(), c.U32()
		f.Field, f.Value, f.Expected, f.System = text(), text(), text(), text()
		cl.Cause = f
	}
	return cl, c.Err(right)
}
