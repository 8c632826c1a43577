package rollback_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// This file is a decoder of docs/STANDARD-rollback.md, written from that document. It shares no code with the
// package.

var errStandard = errors.New("not what the standard allows")

// wire is a cursor. The first fault sticks.
type wire struct {
	b   []byte
	bit int // bit is how many bits of the first byte were read.
	bad bool
}

func (w *wire) take(n int) []byte {
	if n < 0 || n > len(w.b) {
		w.bad = true
		return make([]byte, min(max(n, 0), 1<<16))
	}
	v := w.b[:n]
	w.b = w.b[n:]
	return v
}

func (w *wire) unsigned(bytes int) (v uint64) {
	for i, x := range w.take(bytes) {
		v |= uint64(x) << (8 * i)
	}
	return v
}

// upTo reads a byte that is at most most.
func (w *wire) upTo(most uint64) uint64 {
	v := w.unsigned(1)
	w.bad = w.bad || v > most
	return v
}

func (w *wire) bits(n int) (v uint64) {
	for i := range n {
		if len(w.b) == 0 {
			w.bad = true
			return 0
		}
		v |= uint64(w.b[0]>>w.bit&1) << i
		if w.bit++; w.bit == 8 {
			w.b, w.bit = w.b[1:], 0
		}
	}
	return v
}

// sumOf is a sum of bytes.
func sumOf(b []byte) uint64 {
	h := sha256.Sum256(b)
	return (&wire{b: h[:]}).unsigned(8)
}

// reader reads the messages of a connection. It follows the standing.
type reader struct {
	size     int
	fields   []int // fields has the widths of all fields, those left over included.
	places   int
	tick     uint32
	in       uint64
	standIns uint64
	persons  []uint64
	commands [][]byte
	world    []byte // world has the pieces that came.
	strict   bool   // strict is true for a whole connection. Pieces come in order there.
	settled  func(r *reader)
}

// begin begins with the standing before the first tick.
func (r *reader) begin(places int, tick uint32) {
	*r = reader{size: r.size, fields: r.fields, places: places, tick: tick, persons: make([]uint64, places), strict: r.strict, settled: r.settled}
	for range places {
		r.commands = append(r.commands, make([]byte, r.size))
	}
}

// describe describes a message. of is what it is, as in Vector.
func (r *reader) describe(of string, b []byte) (string, error) {
	var out strings.Builder
	w := &wire{b: b}
	switch of {
	case "declaration":
		r.declaration(&out, w)
	case "kind 1":
		player, places, flags, next := w.upTo(64), w.upTo(64), w.upTo(3), w.unsigned(4)
		w.bad = w.bad || places == 0 || player > places || next == 0
		fmt.Fprintf(&out, "welcome player %d of %d back %d world %d next %d match %x token %x\n", player, places, flags&1, flags>>1, next, w.unsigned(8), w.take(16))
		if !w.bad && (r.places == 0 || flags>>1 == 1) {
			r.begin(int(places), uint32(next)-1)
		}
	case "kind 2":
		fmt.Fprintf(&out, "sum of tick %d: %016x\n", w.unsigned(4), w.unsigned(8))
	case "kind 3":
		tick, agreed, theirs, other, most := w.unsigned(4), w.unsigned(4), w.unsigned(8), w.upTo(64), w.upTo(1)
		w.bad = w.bad || other == 0
		fmt.Fprintf(&out, "differ tick %d agreed %d other %d theirs %016x most %d\n", tick, agreed, other, theirs, most)
	case "kind 4":
		fmt.Fprintf(&out, "ask for tick %d until %d\n", w.unsigned(4), w.unsigned(4))
	case "kind 5":
		tick, offset, total := w.unsigned(4), w.unsigned(4), w.unsigned(4)
		fmt.Fprintf(&out, "piece of tick %d offset %d of %d: %x\n", tick, offset, total, w.b)
		w.bad = w.bad || len(w.b) == 0 || len(w.b) > 1024 || offset+uint64(len(w.b)) > total
		if offset == 0 {
			r.world = nil
		}
		w.bad = w.bad || r.strict && uint64(len(r.world)) != offset
		r.world, w.b = append(r.world, w.b...), nil
	case "kind 6":
		r.verdict(&out, w)
	case "kind 7":
		clue(&out, w)
	case "type 96":
		r.head(&out, w)
	case "type 97":
		settled, none := w.unsigned(4), w.upTo(1)
		w.bad = w.bad || none == 1 && settled != 0
		fmt.Fprintf(&out, "presence settled %d none %d\n", settled, none)
	case "tick":
		r.readTick(&out, w)
	default:
		return "", fmt.Errorf("%w: %s", errStandard, of)
	}
	if w.bad || len(w.b) > 0 {
		return "", errStandard
	}
	return out.String(), nil
}

func clue(out *strings.Builder, w *wire) {
	w.bad = len(w.b) > 1055
	player, tick, level, flags, length, place := w.upTo(64), w.unsigned(4), w.upTo(4), w.upTo(3), w.unsigned(4), w.unsigned(4)
	fmt.Fprintf(out, "clue player %d tick %d level %d length %d", player, tick, level, length)
	if w.bad = w.bad || player == 0; flags&1 == 1 {
		fmt.Fprintf(out, " found %d", place)
	}
	for n := w.upTo(64); n > 0 && !w.bad; n-- {
		fmt.Fprintf(out, " %d: %08x", w.unsigned(4), w.unsigned(4))
	}
	fmt.Fprintf(out, " build %q", w.take(int(w.upTo(100))))
	if flags&2 == 2 {
		fmt.Fprintf(out, " entity %x component %d field %d prefab %d first %d last %d", w.unsigned(8), w.unsigned(2), w.unsigned(2), w.unsigned(2), w.unsigned(4), w.unsigned(4))
		for range 4 {
			fmt.Fprintf(out, " %q", w.take(int(w.upTo(100))))
		}
	}
	fmt.Fprintln(out)
}

func (r *reader) declaration(out *strings.Builder, w *wire) {
	rate, window, size := w.upTo(128), w.upTo(32), w.unsigned(2)
	fmt.Fprintf(out, "declaration rate %d window %d size %d tags %016x match %x holds %d fields", rate, window, size, w.unsigned(8), w.unsigned(8), w.unsigned(4))
	w.bad = w.bad || rate == 0 || size == 0 || size > 1024 || len(w.b) > 200
	r.size, r.fields = int(size), nil
	left := 8 * int(size)
	for len(w.b) > 0 {
		f := w.unsigned(1)
		width := int(f & 127)
		w.bad = w.bad || width == 0 || width > 64
		r.fields, left = append(r.fields, width), left-width
		fmt.Fprintf(out, " %d", width)
		if f&128 != 0 {
			fmt.Fprint(out, " once")
		}
	}
	fmt.Fprintln(out)
	w.bad = w.bad || left < 0
	for ; left > 0 && !w.bad; left -= 8 {
		r.fields = append(r.fields, min(left, 8))
	}
}

func (r *reader) head(out *strings.Builder, w *wire) {
	clock, fraction, has, early, taken := uint32(w.unsigned(4)), w.unsigned(1), w.upTo(1), int16(w.unsigned(2)), w.unsigned(4)
	first := clock - 32768
	for low := uint16(w.unsigned(2)); uint16(first) != low; first++ {
	}
	count := w.upTo(64)
	fmt.Fprintf(out, "settled clock %d+%d/256", clock, fraction)
	if has == 1 {
		fmt.Fprintf(out, " early %d/256", early)
	}
	fmt.Fprintf(out, " taken %d ticks from %d on: %d\n", taken, first, count)
	w.bad = w.bad || has == 0 && early != 0 || uint64(len(w.b)) < count || count == 0 && len(w.b) > 0
	if gap := int32(first - r.tick - 1); gap > 0 || r.places == 0 {
		w.b = nil // the ticks between were lost, and will come again, or the Welcome is on its way
		return
	} else if gap < 0 && int64(-gap) >= int64(count) {
		w.b = nil // all of them are known
		return
	} else if gap < 0 {
		for ; gap < 0 && !w.bad; gap++ {
			r.skip(w)
			count--
		}
	}
	for ; count > 0 && !w.bad; count-- {
		r.readTick(out, w)
	}
}

// mask reads a mask.
func (r *reader) mask(w *wire) (mask uint64) {
	mask = w.unsigned((r.places + 7) / 8)
	w.bad = w.bad || mask == 0 || r.places < 64 && mask>>r.places != 0
	return mask
}

// skip reads over a tick that is known already.
func (r *reader) skip(w *wire) {
	flags := w.upTo(7)
	if flags&1 != 0 {
		for n := w.upTo(uint64(r.places)); n > 0; n-- {
			if w.unsigned(1)&128 == 0 {
				w.take(8)
			}
		}
	}
	if flags&2 != 0 {
		r.mask(w)
	}
	if flags&4 != 0 {
		for n := bits.OnesCount64(r.mask(w)); n > 0; n-- {
			for _, width := range r.fields {
				if w.bits(1) == 1 {
					w.bits(width)
				}
			}
		}
		w.bits((8 - w.bit) % 8)
	}
}

func (r *reader) readTick(out *strings.Builder, w *wire) {
	r.tick++
	fmt.Fprintf(out, "tick %d", r.tick)
	flags := w.upTo(7)
	if flags&1 != 0 {
		n, last := w.upTo(uint64(r.places)), uint64(0)
		w.bad = w.bad || n == 0
		for ; n > 0 && !w.bad; n-- {
			p := w.unsigned(1)
			player, leaves := p&127, p>>7 == 1
			if w.bad = w.bad || player <= last || player > uint64(r.places) || leaves != (r.in>>(player-1)&1 == 1); w.bad {
				return
			}
			last = player
			r.in ^= 1 << (player - 1)
			r.standIns &^= 1 << (player - 1)
			clear(r.commands[player-1])
			if r.persons[player-1] = 0; leaves {
				fmt.Fprintf(out, ", %d leaves", player)
				continue
			}
			r.persons[player-1] = w.unsigned(8)
			fmt.Fprintf(out, ", %d joins as %016x", player, r.persons[player-1])
		}
	}
	if flags&2 != 0 {
		mask := r.mask(w)
		w.bad = w.bad || mask&^r.in != 0
		r.standIns ^= mask
	}
	if flags&4 != 0 {
		r.inputs(w)
	}
	for p := range r.places {
		if r.in>>p&1 == 1 {
			fmt.Fprintf(out, ", %d: %x", p+1, r.commands[p])
			if r.standIns>>p&1 == 1 {
				fmt.Fprint(out, " stands in")
			}
		}
	}
	if fmt.Fprintln(out); r.settled != nil && !w.bad {
		r.settled(r)
	}
}

func (r *reader) inputs(w *wire) {
	mask := r.mask(w)
	w.bad = w.bad || mask&^r.in != 0
	for ; mask != 0 && !w.bad; mask &= mask - 1 {
		before := r.commands[bits.TrailingZeros64(mask)]
		was, now, at, differs := &wire{b: append([]byte(nil), before...)}, make([]byte, r.size), 0, false
		for _, width := range r.fields {
			v := was.bits(width)
			if w.bits(1) == 1 {
				old := v
				v = w.bits(width)
				differs, w.bad = true, w.bad || v == old
			}
			for i := range width {
				now[at/8] |= byte(v>>i&1) << (at % 8)
				at++
			}
		}
		w.bad = w.bad || !differs
		copy(before, now)
	}
	w.bad = w.bad || w.bits((8-w.bit)%8) != 0
}

func (r *reader) verdict(out *strings.Builder, w *wire) {
	tick, total, sum := w.unsigned(4), w.unsigned(4), w.unsigned(8)
	in, standIns := w.unsigned(8), w.unsigned(8)
	fmt.Fprintf(out, "world of tick %d length %d sum %016x", tick, total, sum)
	if w.bad = w.bad || standIns&^in != 0 || r.places < 64 && in>>r.places != 0; w.bad {
		return
	}
	world := r.world
	r.begin(r.places, uint32(tick))
	r.world, r.in, r.standIns = world, in, standIns
	for p := range r.places {
		if in>>p&1 == 1 {
			r.persons[p] = w.unsigned(8)
			copy(r.commands[p], w.take(r.size))
			fmt.Fprintf(out, ", %d as %016x: %x", p+1, r.persons[p], r.commands[p])
			if standIns>>p&1 == 1 {
				fmt.Fprint(out, " stands in")
			}
		}
	}
	fmt.Fprintln(out)
}

// connection reads the packets of one direction of a connection, and gives each whole message to read. It is a reader
// of docs/STANDARD-netcode.md, as far as a match needs one.
type connection struct {
	streams [2]stream
	read    func(of string, b []byte) error
}

// stream is a reliable channel.
type stream struct {
	next    uint16 // next is the number of the entry that comes next.
	waiting map[uint16]entry
	message []byte // message has the fragments that came.
	kind    uint64
}

type entry struct {
	head, kind uint64
	payload    []byte
}

func (w *wire) varint() (v uint64) {
	for i := range 10 {
		x := w.unsigned(1)
		if v |= (x & 127) << (7 * i); x < 128 {
			return v
		}
	}
	w.bad = true
	return 0
}

// packet reads a packet of a transport that does not authenticate.
func (c *connection) packet(b []byte) error {
	w := &wire{b: append([]byte(nil), b...)}
	w.take(4)
	flags := w.unsigned(1)
	w.take(2)
	if flags&16 != 0 {
		w.take(2 + bits.OnesCount64(flags&15) + 1)
	}
	for len(w.b) > 0 && !w.bad {
		kind, body := w.unsigned(1), &wire{}
		body.b = w.take(int(w.varint()))
		if w.bad {
			break
		}
		switch kind {
		case 1:
			w.bad = c.entries(0, body) != nil
		case 3:
			if channel := body.upTo(1); body.bad || c.entries(int(channel), body) != nil {
				w.bad = true
			}
		default:
			if err := c.read(fmt.Sprintf("type %d", kind), body.b); err != nil {
				return err
			}
		}
	}
	if w.bad {
		return errStandard
	}
	return nil
}

// entries reads the entries of a stream.
func (c *connection) entries(channel int, w *wire) error {
	s, number := &c.streams[channel], uint16(w.unsigned(2))
	if s.waiting == nil {
		s.waiting = map[uint16]entry{}
	}
	for len(w.b) > 0 && !w.bad {
		e := entry{head: w.varint()}
		if number += uint16(e.head >> 2); e.head&1 != 0 {
			e.kind = w.unsigned(1)
			w.varint()
		}
		if e.payload = w.take(int(w.varint())); int16(number-s.next) >= 0 {
			s.waiting[number] = e
		}
		number++
	}
	for e, ok := s.waiting[s.next]; ok && !w.bad; e, ok = s.waiting[s.next] {
		delete(s.waiting, s.next)
		s.next++
		if e.head&1 != 0 {
			s.message, s.kind = nil, e.kind
		}
		if s.message = append(s.message, e.payload...); e.head&2 == 0 {
			continue
		}
		on := ""
		if channel == 1 {
			on = " on channel 1"
		}
		if err := c.read(fmt.Sprintf("kind %d%s", s.kind, on), s.message); err != nil {
			return err
		}
	}
	if w.bad {
		return errStandard
	}
	return nil
}

// hello returns the game data of a Hello.
func hello(b []byte) ([]byte, error) {
	w := &wire{b: b}
	version := w.unsigned(1)
	w.take(8 + 16 + 1)
	role := w.upTo(1)
	w.take(int(w.upTo(16)))
	data := w.take(int(w.varint()))
	w.take(4 * int(w.upTo(8)))
	if w.bad || len(w.b) > 0 || version != 4 || role > 1 {
		return nil, errStandard
	}
	return data, nil
}
