package settled

import (
	"bytes"
	"math/bits"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/netcode"
)

// Standing is who plays, with the input of each player, as of one tick. The next tick is coded relative
// to it: the relay codes each tick once, and every peer that has the ticks before reads the same bytes.
//
// A tick is a byte of flags, then the parts that are set in it:
//
//	changes:  their number 1, then for each the player 1, with changeLeft if it leaves, else its person 8
//	standIns: a mask of the players whose Input.StandIn is another one
//	inputs:   a mask of the players whose command is another one, then for each of them, in bits, for
//	          each field: changed 1, and the value if it is 1; the last byte is filled with zeros
//
// A mask has a bit for each place, the lowest bit of the first byte for player 1.
type Standing struct {
	Places   int
	Size     int // Size is the length of a command in bytes.
	Fields   []Field
	Tick     netcode.Tick
	In       uint64   // In has a bit for each player in the match.
	standIns uint64   // standIns has a bit for each player for which an input stands in.
	Persons  []uint64 // persons has RosterChange.person of each place.
	Commands []byte   // Commands has size bytes for each place. They are zero for a place without a player.

	before, now coder.BitReader
	out         coder.BitWriter // out ends in the bytes that append returned last.
	scratch     coder.BitWriter // scratch has the command that is read.
}

const (
	tickChanges = 1 << iota
	tickStandIns
	tickInputs
	tickFlags

	changeLeft = 0x80
)

const (
	MostTick    = 1000 // MostTick is how many bytes a tick may have, so that it fits into a packet.
	MostChanges = 8    // MostChanges is how many players may join or leave in one tick.
)

// LongestTick returns how many bytes a tick may have. It has checked rules.
func LongestTick(r *Rules, places int) int {
	masks := 2 * ((places + 7) / 8)
	return 2 + 9*MostChanges + masks + (places*(8*int(r.Size)+len(NewStanding(r, 1).Fields))+7)/8
}

// NewStanding returns the standing before the first tick. It has checked rules.
func NewStanding(r *Rules, places int) *Standing {
	s := &Standing{Places: places, Size: int(r.Size), Fields: append([]Field(nil), r.Fields...)}
	s.Persons, s.Commands = make([]uint64, places), make([]byte, places*s.Size)
	left := 8 * s.Size
	for _, f := range s.Fields {
		left -= f.Bits()
	}
	for ; left > 0; left -= 8 {
		s.Fields = append(s.Fields, Field(min(left, 8)))
	}
	return s
}

// BitOf returns the bit of a player in a mask.
func BitOf(p ecs.Owner) uint64 { return 1 << (p - 1) }

// Has reports whether a player is in the match.
func (s *Standing) Has(p ecs.Owner) bool { return s.In&BitOf(p) != 0 }

// Command returns a player's newest command.
func (s *Standing) Command(p ecs.Owner) []byte {
	return s.Commands[int(p-1)*s.Size : int(p)*s.Size : int(p)*s.Size]
}

// Change takes in who joins or leaves. It returns false if that player cannot.
func (s *Standing) Change(c RosterChange) bool {
	if c.Joined == s.Has(c.Player) {
		return false
	}
	s.In ^= BitOf(c.Player)
	s.standIns &^= BitOf(c.Player)
	s.Persons[c.Player-1] = c.Person
	clear(s.Command(c.Player))
	return true
}

// Append appends the next tick to dst, and makes s the standing of that tick.
func (s *Standing) Append(dst []byte, t *Tick) []byte {
	at := len(dst)
	dst = append(dst, 0)
	if len(t.Changes) > 0 {
		dst[at] |= tickChanges
		dst = append(dst, byte(len(t.Changes)))
		for _, c := range t.Changes {
			if s.Change(c); c.Joined {
				dst = LE.AppendUint64(append(dst, byte(c.Player)), c.Person)
			} else {
				dst = append(dst, byte(c.Player)|changeLeft)
			}
		}
	}
	var changed, standIns uint64
	for _, in := range t.Inputs {
		if in.StandIn {
			standIns |= BitOf(in.Player)
		}
		if !bytes.Equal(in.Command, s.Command(in.Player)) {
			changed |= BitOf(in.Player)
		}
	}
	if standIns != s.standIns {
		dst[at] |= tickStandIns
		dst = s.appendMask(dst, standIns^s.standIns)
	}
	if s.Tick, s.standIns = t.Tick, standIns; changed == 0 {
		return dst
	}
	dst[at] |= tickInputs
	s.out.Reset(s.appendMask(dst, changed))
	for _, in := range t.Inputs {
		if changed&BitOf(in.Player) != 0 {
			s.appendCommand(in.Command, s.Command(in.Player))
		}
	}
	return s.out.Bytes()
}

func (s *Standing) appendMask(dst []byte, mask uint64) []byte {
	for n := 0; n < s.Places; n += 8 {
		dst = append(dst, byte(mask>>n))
	}
	return dst
}

// appendCommand writes the fields of a command that differ from the one before, and replaces that one.
func (s *Standing) appendCommand(command, before []byte) {
	s.before.Reset(before)
	s.now.Reset(command)
	for _, f := range s.Fields {
		v := s.now.Read(f.Bits())
		if v == s.before.Read(f.Bits()) {
			s.out.Bool(false)
			continue
		}
		s.out.Bool(true)
		s.out.Write(v, f.Bits())
	}
	copy(before, command)
}

// Release takes from a command what a stand-in does not repeat: presses, and sums of movements.
func (s *Standing) Release(command []byte) {
	s.now.Reset(command)
	s.scratch.Reset(s.scratch.Buf[:0])
	for _, f := range s.Fields {
		v := s.now.Read(f.Bits())
		if f.Once() {
			v = 0
		}
		s.scratch.Write(v, f.Bits())
	}
	copy(command, s.scratch.Bytes())
}

// Skip returns what follows a tick, of which it checks only the form.
func (s *Standing) Skip(b []byte) (rest []byte, ok bool) {
	rest, _, ok = s.walk(b, nil)
	return rest, ok
}

// Read reads the next tick into t, and makes s the standing of that tick. What t holds is valid until
// the next read. If it returns false, b is no tick that can follow, and s is of no use any more.
func (s *Standing) Read(b []byte, t *Tick) (rest []byte, ok bool) {
	t.Tick, t.Inputs, t.Changes = s.Tick+1, t.Inputs[:0], t.Changes[:0]
	rest, standIns, ok := s.walk(b, t)
	if !ok {
		return nil, false
	}
	s.Tick++
	s.standIns ^= standIns
	for in := s.In; in != 0; in &= in - 1 {
		p := ecs.Owner(bits.TrailingZeros64(in)) + 1
		t.Inputs = append(t.Inputs, Input{Player: p, Command: s.Command(p), StandIn: s.standIns&BitOf(p) != 0})
	}
	return rest, true
}

// walk walks over a tick. If t is not nil, it takes in the changes and the commands.
func (s *Standing) walk(b []byte, t *Tick) (rest []byte, standIns uint64, ok bool) {
	c := Cursor{B: b}
	flags := c.U8()
	if flags >= tickFlags || flags&tickChanges != 0 && !s.walkChanges(&c, t) {
		return nil, 0, false
	}
	if flags&tickStandIns != 0 {
		if standIns, ok = s.readMask(&c, t != nil); !ok {
			return nil, 0, false
		}
	}
	if flags&tickInputs != 0 {
		changed, ok := s.readMask(&c, t != nil)
		if !ok || !s.walkCommands(&c, changed, t != nil) {
			return nil, 0, false
		}
	}
	return c.B, standIns, !c.Bad
}

func (s *Standing) walkChanges(c *Cursor, t *Tick) bool {
	n, last := int(c.U8()), ecs.Owner(0)
	if n == 0 || n > s.Places {
		return false
	}
	for range n {
		p := c.U8()
		ch := RosterChange{Player: ecs.Owner(p &^ changeLeft), Joined: p&changeLeft == 0}
		if ch.Joined {
			ch.Person = c.U64()
		}
		if c.Bad || ch.Player <= last || int(ch.Player) > s.Places || t != nil && !s.Change(ch) {
			return false
		}
		if last = ch.Player; t != nil {
			t.Changes = append(t.Changes, ch)
		}
	}
	return true
}

// readMask reads a mask. If members is true, its bits may only be those of players in the match.
func (s *Standing) readMask(c *Cursor, members bool) (mask uint64, ok bool) {
	for n := 0; n < s.Places; n += 8 {
		mask |= uint64(c.U8()) << n
	}
	wrong := ^uint64(0) << (s.Places - 1) << 1
	if members {
		wrong = ^s.In
	}
	return mask, !c.Bad && mask != 0 && mask&wrong == 0
}

// walkCommands reads the changed commands, and replaces those before if take is true.
func (s *Standing) walkCommands(c *Cursor, changed uint64, take bool) bool {
	s.now.Reset(c.B)
	for ; changed != 0; changed &= changed - 1 {
		before := s.Command(ecs.Owner(bits.TrailingZeros64(changed)) + 1)
		s.before.Reset(before)
		s.scratch.Reset(s.scratch.Buf[:0])
		differs := false
		for _, f := range s.Fields {
			v := s.before.Read(f.Bits())
			if s.now.Bool() {
				was := v
				if v = s.now.Read(f.Bits()); take && v == was {
					return false
				}
				differs = true
			}
			s.scratch.Write(v, f.Bits())
		}
		if s.now.Bad || !differs {
			return false
		}
		if command := s.scratch.Bytes(); take {
			copy(before, command)
		}
	}
	left := s.now.Left()
	if s.now.Read(left&7) != 0 { // the bits that fill the last byte
		return false
	}
	c.B = c.B[len(c.B)-left/8:]
	return true
}

// AppendWhole appends the standing itself, for a peer that has no tick before.
func (s *Standing) AppendWhole(dst []byte) []byte {
	dst = LE.AppendUint64(LE.AppendUint64(dst, s.In), s.standIns)
	for in := s.In; in != 0; in &= in - 1 {
		p := ecs.Owner(bits.TrailingZeros64(in)) + 1
		dst = append(LE.AppendUint64(dst, s.Persons[p-1]), s.Command(p)...)
	}
	return dst
}

// ReadWhole reads the standing of a tick. On an error it changes nothing.
func (s *Standing) ReadWhole(t netcode.Tick, b []byte) error {
	c := Cursor{B: b}
	in, standIns := c.U64(), c.U64()
	if c.Bad || in&(^uint64(0)<<(s.Places-1)<<1) != 0 || standIns&^in != 0 || len(c.B) != bits.OnesCount64(in)*(8+s.Size) {
		return netcode.ErrMalformed
	}
	s.Tick, s.In, s.standIns = t, in, standIns
	clear(s.Persons)
	clear(s.Commands)
	for ; in != 0; in &= in - 1 {
		p := ecs.Owner(bits.TrailingZeros64(in)) + 1
		s.Persons[p-1] = c.U64()
		copy(s.Command(p), c.Take(s.Size))
	}
	return nil
}
