package rollback

import (
	"bytes"
	"math/bits"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/internal/coder"
	"github.com/foretick/foretick/netcode"
)

// standing is who plays and what each one's input was, as of one tick. The next tick is coded relative
// to it: the relay codes each tick once, and every peer that has the ticks before reads the same bytes.
//
// A tick is a byte of flags, then what they say:
//
//	changes:  their number 1, then for each the player 1, with changeLeft if it leaves, else its person 8
//	standIns: a mask of the players whose settledInput.standIn is another one
//	inputs:   a mask of the players whose command is another one, then for each of them, in bits, for
//	          each field: changed 1, and the value if it is 1; the last byte is filled with zeros
//
// A mask has a bit for each place, the lowest bit of the first byte for player 1.
type standing struct {
	places   int
	size     int // size is the length of a command in bytes.
	fields   []field
	tick     netcode.Tick
	in       uint64   // in has a bit for each player in the match.
	standIns uint64   // standIns has a bit for each player for which an input stands in.
	persons  []uint64 // persons has rosterChange.person of each place.
	commands []byte   // commands has size bytes for each place. They are zero for a place without a player.

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
	mostTick    = 1000 // mostTick is how many bytes a tick may have, so that it fits into a packet.
	mostChanges = 8    // mostChanges is how many players may join or leave in one tick.
)

// longestTick returns how many bytes a tick may have. It has checked rules.
func longestTick(r *rules, places int) int {
	masks := 2 * ((places + 7) / 8)
	return 2 + 9*mostChanges + masks + (places*(8*int(r.size)+len(newStanding(r, 1).fields))+7)/8
}

// newStanding returns the standing before the first tick. It has checked rules.
func newStanding(r *rules, places int) *standing {
	s := &standing{places: places, size: int(r.size), fields: append([]field(nil), r.fields...)}
	s.persons, s.commands = make([]uint64, places), make([]byte, places*s.size)
	left := 8 * s.size
	for _, f := range s.fields {
		left -= f.bits()
	}
	for ; left > 0; left -= 8 {
		s.fields = append(s.fields, field(min(left, 8)))
	}
	return s
}

func bitOf(p foretick.PlayerID) uint64 { return 1 << (p - 1) }

// has reports whether a player is in the match.
func (s *standing) has(p foretick.PlayerID) bool { return s.in&bitOf(p) != 0 }

// command returns a player's newest command.
func (s *standing) command(p foretick.PlayerID) []byte {
	return s.commands[int(p-1)*s.size : int(p)*s.size : int(p)*s.size]
}

// change takes in who joins or leaves. It returns false if that player cannot.
func (s *standing) change(c rosterChange) bool {
	if c.joined == s.has(c.player) {
		return false
	}
	s.in ^= bitOf(c.player)
	s.standIns &^= bitOf(c.player)
	s.persons[c.player-1] = c.person
	clear(s.command(c.player))
	return true
}

// append appends the next tick to dst, and makes s the standing of that tick.
func (s *standing) append(dst []byte, t *settledTick) []byte {
	at := len(dst)
	dst = append(dst, 0)
	if len(t.changes) > 0 {
		dst[at] |= tickChanges
		dst = append(dst, byte(len(t.changes)))
		for _, c := range t.changes {
			if s.change(c); c.joined {
				dst = le.AppendUint64(append(dst, byte(c.player)), c.person)
			} else {
				dst = append(dst, byte(c.player)|changeLeft)
			}
		}
	}
	var changed, standIns uint64
	for _, in := range t.inputs {
		if in.standIn {
			standIns |= bitOf(in.player)
		}
		if !bytes.Equal(in.command, s.command(in.player)) {
			changed |= bitOf(in.player)
		}
	}
	if standIns != s.standIns {
		dst[at] |= tickStandIns
		dst = s.appendMask(dst, standIns^s.standIns)
	}
	if s.tick, s.standIns = t.tick, standIns; changed == 0 {
		return dst
	}
	dst[at] |= tickInputs
	s.out.Reset(s.appendMask(dst, changed))
	for _, in := range t.inputs {
		if changed&bitOf(in.player) != 0 {
			s.appendCommand(in.command, s.command(in.player))
		}
	}
	return s.out.Bytes()
}

func (s *standing) appendMask(dst []byte, mask uint64) []byte {
	for n := 0; n < s.places; n += 8 {
		dst = append(dst, byte(mask>>n))
	}
	return dst
}

// appendCommand writes the fields of a command that differ from the one before, and replaces that one.
func (s *standing) appendCommand(command, before []byte) {
	s.before.Reset(before)
	s.now.Reset(command)
	for _, f := range s.fields {
		v := s.now.Read(f.bits())
		if v == s.before.Read(f.bits()) {
			s.out.Bool(false)
			continue
		}
		s.out.Bool(true)
		s.out.Write(v, f.bits())
	}
	copy(before, command)
}

// skip returns what follows a tick, of which it checks only the form.
func (s *standing) skip(b []byte) (rest []byte, ok bool) {
	rest, _, ok = s.walk(b, nil)
	return rest, ok
}

// read reads the next tick into t, and makes s the standing of that tick. What t holds is valid until
// the next read. If it returns false, b is no tick that can follow, and s is of no use any more.
func (s *standing) read(b []byte, t *settledTick) (rest []byte, ok bool) {
	t.tick, t.inputs, t.changes = s.tick+1, t.inputs[:0], t.changes[:0]
	rest, standIns, ok := s.walk(b, t)
	if !ok {
		return nil, false
	}
	s.tick++
	s.standIns ^= standIns
	for in := s.in; in != 0; in &= in - 1 {
		p := foretick.PlayerID(bits.TrailingZeros64(in)) + 1
		t.inputs = append(t.inputs, settledInput{player: p, command: s.command(p), standIn: s.standIns&bitOf(p) != 0})
	}
	return rest, true
}

// walk walks over a tick. If t is not nil, it takes in the changes and the commands.
func (s *standing) walk(b []byte, t *settledTick) (rest []byte, standIns uint64, ok bool) {
	c := cursor{b: b}
	flags := c.u8()
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
	return c.b, standIns, !c.bad
}

func (s *standing) walkChanges(c *cursor, t *settledTick) bool {
	n, last := int(c.u8()), foretick.PlayerID(0)
	if n == 0 || n > s.places {
		return false
	}
	for range n {
		p := c.u8()
		ch := rosterChange{player: foretick.PlayerID(p &^ changeLeft), joined: p&changeLeft == 0}
		if ch.joined {
			ch.person = c.u64()
		}
		if c.bad || ch.player <= last || int(ch.player) > s.places || t != nil && !s.change(ch) {
			return false
		}
		if last = ch.player; t != nil {
			t.changes = append(t.changes, ch)
		}
	}
	return true
}

// readMask reads a mask. If members is true, its bits may only be those of players in the match.
func (s *standing) readMask(c *cursor, members bool) (mask uint64, ok bool) {
	for n := 0; n < s.places; n += 8 {
		mask |= uint64(c.u8()) << n
	}
	wrong := ^uint64(0) << (s.places - 1) << 1
	if members {
		wrong = ^s.in
	}
	return mask, !c.bad && mask != 0 && mask&wrong == 0
}

// walkCommands reads the changed commands, and replaces those before if take is true.
func (s *standing) walkCommands(c *cursor, changed uint64, take bool) bool {
	s.now.Reset(c.b)
	for ; changed != 0; changed &= changed - 1 {
		before := s.command(foretick.PlayerID(bits.TrailingZeros64(changed)) + 1)
		s.before.Reset(before)
		s.scratch.Reset(s.scratch.Buf[:0])
		differs := false
		for _, f := range s.fields {
			v := s.before.Read(f.bits())
			if s.now.Bool() {
				was := v
				if v = s.now.Read(f.bits()); take && v == was {
					return false
				}
				differs = true
			}
			s.scratch.Write(v, f.bits())
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
	c.b = c.b[len(c.b)-left/8:]
	return true
}

// appendWhole appends the standing itself, for a peer that has no tick before.
func (s *standing) appendWhole(dst []byte) []byte {
	dst = le.AppendUint64(le.AppendUint64(dst, s.in), s.standIns)
	for in := s.in; in != 0; in &= in - 1 {
		p := foretick.PlayerID(bits.TrailingZeros64(in)) + 1
		dst = append(le.AppendUint64(dst, s.persons[p-1]), s.command(p)...)
	}
	return dst
}

// readWhole reads the standing of a tick. On an error it changes nothing.
func (s *standing) readWhole(t netcode.Tick, b []byte) error {
	c := cursor{b: b}
	in, standIns := c.u64(), c.u64()
	if c.bad || in&(^uint64(0)<<(s.places-1)<<1) != 0 || standIns&^in != 0 || len(c.b) != bits.OnesCount64(in)*(8+s.size) {
		return netcode.ErrMalformed
	}
	s.tick, s.in, s.standIns = t, in, standIns
	clear(s.persons)
	clear(s.commands)
	for ; in != 0; in &= in - 1 {
		p := foretick.PlayerID(bits.TrailingZeros64(in)) + 1
		s.persons[p-1] = c.u64()
		copy(s.command(p), c.take(s.size))
	}
	return nil
}
