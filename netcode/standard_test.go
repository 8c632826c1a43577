package netcode_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
)

// This file is a decoder of docs/STANDARD.md, written from that document. It
// shares no code with the package.

var errStandard = errors.New("not what the standard allows")

// wire is a cursor; the first fault sticks.
type wire struct {
	b   []byte
	bit int // bits of the first byte that were read
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

func (w *wire) varint() (v uint64) {
	for i := range 10 {
		x := w.unsigned(1)
		if i == 9 && x > 1 {
			w.bad = true
		}
		v |= (x & 127) << (7 * i)
		if x < 128 {
			if x == 0 && i > 0 {
				w.bad = true
			}
			return v
		}
	}
	w.bad = true
	return 0
}

func (w *wire) zigzag() int64 {
	u := w.varint()
	if u%2 == 0 {
		return int64(u / 2)
	}
	return -int64(u/2) - 1
}

func (w *wire) tickDifference() uint32 {
	v := w.zigzag()
	if v < -1<<31 || v >= 1<<31 {
		w.bad = true
	}
	return uint32(v)
}

// crc32c computes the checksum bit by bit.
func crc32c(b []byte) uint32 {
	r := ^uint32(0)
	for _, x := range b {
		r ^= uint32(x)
		for range 8 {
			if r&1 != 0 {
				r = r>>1 ^ 0x82F63B78
			} else {
				r >>= 1
			}
		}
	}
	return ^r
}

// describePacket decodes a packet and describes its contents, one fact a line.
// By agreement channels 1 to 3 are reliable, and 4 to 7 are not.
func describePacket(b []byte, magic uint64, commandSize int, bases ...commandBase) (string, error) {
	var out strings.Builder
	w := &wire{b: b}
	sum := uint32(w.unsigned(4))
	var m [8]byte
	for i := range m {
		m[i] = byte(magic >> (8 * i))
	}
	if w.bad || sum != crc32c(append(m[:], w.b...)) {
		return "", errStandard
	}
	flags := w.unsigned(1)
	fmt.Fprintf(&out, "sequence %d\n", w.unsigned(2))
	if flags > 31 || flags < 16 && flags != 0 {
		return "", errStandard
	}
	if flags >= 16 {
		ack := w.unsigned(2)
		bits := uint64(0)
		for k := range 4 {
			v := uint64(255)
			if flags>>k&1 == 1 {
				if v = w.unsigned(1); v == 255 {
					return "", errStandard
				}
			}
			bits |= v << (8 * k)
		}
		d := w.unsigned(1)
		delay := fmt.Sprintf("%.1f ms", float64(d)*0.5)
		if d >= 128 {
			delay = fmt.Sprintf("%d ms", 64+(d-128)*8)
		}
		if d == 255 {
			delay = "unknown"
		}
		fmt.Fprintf(&out, "ack %d bits %08x delay %s\n", ack, bits, delay)
	}
	for len(w.b) > 0 && !w.bad {
		t, n := w.unsigned(1), w.varint()
		if n > uint64(len(w.b)) || w.bad {
			return "", errStandard
		}
		body := &wire{b: w.take(int(n))}
		describeMessage(&out, t, body, commandSize, append(bases, commandBase{})[0])
		if body.bad {
			return "", errStandard
		}
	}
	if w.bad {
		return "", errStandard
	}
	return out.String(), nil
}

func describeMessage(out *strings.Builder, t uint64, w *wire, commandSize int, base commandBase) {
	switch t {
	case 1:
		describeStream(out, w)
	case 3:
		channel := w.unsigned(1)
		w.bad = w.bad || channel == 0 || channel > 3
		fmt.Fprintf(out, "channel %d\n", channel)
		describeStream(out, w)
	case 4:
		describeEvents(out, w)
	case 2:
		fmt.Fprintf(out, "close %d %q\n", w.unsigned(2), w.b)
		w.bad = w.bad || len(w.b) > 200
	case 16:
		version := w.unsigned(1)
		if version != 4 {
			fmt.Fprintf(out, "hello version %d\n", version)
			return
		}
		fmt.Fprintf(out, "hello version %d protocol %016x", version, w.unsigned(8))
		fmt.Fprintf(out, " resume %x rate %d", w.take(16), w.unsigned(1))
		fmt.Fprintf(out, " role %d on %q", w.unsigned(1), w.architecture())
		n := w.varint()
		w.bad = w.bad || n > 256 || n > uint64(len(w.b))
		fmt.Fprintf(out, " data %x taken", w.take(int(min(n, 256))))
		channels := w.unsigned(1)
		w.bad = w.bad || channels > 8
		for range min(channels, 8) {
			fmt.Fprintf(out, " %d", w.unsigned(4))
		}
		fmt.Fprintln(out)
		w.bad = w.bad || len(w.b) > 0
	case 17:
		owner, rate, interval := w.unsigned(2), w.unsigned(1), w.unsigned(1)
		w.bad = w.bad || rate == 0 || interval == 0
		fmt.Fprintf(out, "welcome owner %d rate %d interval %d tick %d epoch %d resume %x command %d taken %d",
			owner, rate, interval, w.unsigned(4), w.unsigned(1), w.take(16), w.unsigned(2), w.unsigned(4))
		server, back, code, late := w.unsigned(8), w.unsigned(1), w.unsigned(2), ""
		if back&2 != 0 {
			n := w.unsigned(1)
			w.bad, late = w.bad || n == 0, fmt.Sprintf(" late %d", n)
		}
		if back&4 != 0 {
			n := w.unsigned(1)
			w.bad, late = w.bad || n == 0 || back&2 == 0, late+fmt.Sprintf(" share %d/256", n)
		}
		if back&8 != 0 {
			n := w.unsigned(8)
			w.bad, late = w.bad || n == 0, late+fmt.Sprintf(" tags %x", n)
		}
		if back&16 != 0 {
			n := w.unsigned(4)
			w.bad, late = w.bad || n <= 30, late+fmt.Sprintf(" hold %d", n)
		}
		fmt.Fprintf(out, " server %016x back %d on %q code %d%s %q\n", server, back&1, w.architecture(), code, late, w.b)
		w.bad = w.bad || back > 31 || len(w.b) > 120
	case 18:
		fmt.Fprintf(out, "reject %d protocol %016x %q\n", w.unsigned(1), w.unsigned(8), w.b)
		w.bad = w.bad || len(w.b) > 200
	case 19:
		flags, epoch := w.unsigned(1), uint64(0)
		w.bad = w.bad || flags > 15 || flags&6 == 4
		if flags&2 == 0 || flags&4 != 0 {
			epoch = w.unsigned(1)
			w.bad = w.bad || flags&4 != 0 && epoch == 0
		}
		if flags&2 == 0 {
			tick := uint32(w.unsigned(4))
			fmt.Fprintf(out, "snapshot epoch %d tick %d command ack %d", epoch, tick, tick+w.tickDifference())
		} else {
			fmt.Fprintf(out, "bare snapshot epoch %d command ack its tick + %d", epoch, int32(w.tickDifference()))
		}
		if flags&1 == 1 {
			fmt.Fprintf(out, " early %d/256", int16(w.unsigned(2)))
		}
		if flags&8 != 0 {
			lost := w.varint()
			w.bad = w.bad || lost == 0 || lost >= 1<<32
			fmt.Fprintf(out, " lost %d/4", lost)
		}
		fmt.Fprintf(out, " rest %x\n", w.b)
	case 20:
		describeCommands(out, w, commandSize, base)
	case 21:
		fmt.Fprintf(out, "ready rate %d bytes %d\n", w.unsigned(1), w.unsigned(4))
		w.bad = w.bad || len(w.b) > 0
	case 22:
		fmt.Fprintf(out, "level epoch %d tick %d data %x\n", w.unsigned(1), w.unsigned(4), w.b)
		w.bad = w.bad || len(w.b) > 1024
	case 23:
		describeEye(out, w)
	case 24:
		fmt.Fprintf(out, "unread snapshot of epoch %d entity %d\n", w.unsigned(1), w.unsigned(2))
		w.bad = w.bad || len(w.b) > 0
	default:
		w.bad = w.bad || t < 16
		fmt.Fprintf(out, "message %d %x\n", t, w.b)
	}
}

// architecture reads the name of one.
func (w *wire) architecture() string {
	n := w.unsigned(1)
	w.bad = w.bad || n > 16
	name := string(w.take(int(min(n, 16))))
	w.bad = w.bad || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != ""
	return name
}

func describeEye(out *strings.Builder, w *wire) {
	switch len(w.b) {
	case 0:
		fmt.Fprintln(out, "no eye")
	case 2:
		player := w.unsigned(2)
		w.bad = w.bad || player == 0
		fmt.Fprintf(out, "eye of player %d\n", player)
	case 12:
		fmt.Fprint(out, "eye at")
		for range 3 {
			bits := uint32(w.unsigned(4))
			w.bad = w.bad || bits>>23&255 == 255
			fmt.Fprintf(out, " %v", math.Float32frombits(bits))
		}
		fmt.Fprintln(out)
	default:
		w.bad = true
	}
}

func describeStream(out *strings.Builder, w *wire) {
	id, tick := uint16(w.unsigned(2)), uint32(0)
	first, n, kind := id, 0, uint64(0)
	for ; len(w.b) > 0 && !w.bad; n++ {
		head := w.varint()
		skip := head >> 2
		if skip > 255 {
			w.bad = true
			return
		}
		id += uint16(skip)
		if id-first > 255 {
			w.bad = true
		}
		fmt.Fprintf(out, "entry %d", id)
		if head&1 != 0 {
			kind = w.unsigned(1)
			tick += w.tickDifference()
			fmt.Fprintf(out, " first kind %d tick %d", kind, tick)
		}
		if head&2 != 0 {
			fmt.Fprint(out, " last")
		}
		size := w.varint()
		if size > 256 || size == 0 && head&3 != 3 {
			w.bad = true
			return
		}
		payload := w.take(int(size))
		fmt.Fprintf(out, " payload %x\n", payload)
		if s, ok := describeSchema(kind, payload); ok && head&3 == 3 {
			fmt.Fprintln(out, s)
		}
		id++
	}
	w.bad = w.bad || n == 0
}

func describeEvents(out *strings.Builder, w *wire) {
	channel, id, tick := w.unsigned(1), uint16(w.unsigned(2)), uint32(0)
	w.bad = w.bad || channel < 4 || channel > 7
	last := -1 // last is the number of the last event, counted from the first
	for len(w.b) > 0 && !w.bad {
		skip := w.varint()
		if skip > 255 || last < 0 && skip != 0 || last+1+int(skip) > 255 {
			w.bad = true
			return
		}
		last += 1 + int(skip)
		kind := w.unsigned(1)
		tick += w.tickDifference()
		size := w.varint()
		if size > 256 {
			w.bad = true
			return
		}
		fmt.Fprintf(out, "channel %d event %d kind %d tick %d payload %x\n", channel, id+uint16(last), kind, tick, w.take(int(size)))
	}
	w.bad = w.bad || last < 0
}

// describeSchema describes a whole reliable message if it is of a kind that
// carries schemas.
func describeSchema(kind uint64, payload []byte) (string, bool) {
	w := &wire{b: payload}
	switch kind {
	case 254:
		hash := w.unsigned(8)
		said := fmt.Sprintf("schema request hash %016x name %q", hash, w.b)
		return said, !w.bad && len(w.b) <= 64 && (hash != 0 || len(w.b) > 0)
	case 253:
		known, hash, size := w.unsigned(1), w.unsigned(8), w.unsigned(1)
		name := w.take(int(size))
		said := fmt.Sprintf("schema reply known %d hash %016x name %q data %x", known, hash, name, w.b)
		if w.bad || known > 1 || size > 64 || len(w.b) > 65462 {
			return "", false
		}
		if known == 0 {
			return said, len(w.b) == 0
		}
		sum := uint64(0xcbf29ce484222325)
		for _, x := range w.b {
			sum = (sum ^ uint64(x)) * 0x100000001b3
		}
		return said, sum == hash
	}
	return "", false
}

// commandBase is a command that the receiver has, and the fields of commands.
type commandBase struct {
	fields []int
	tick   uint32
	lag    int64
	offset uint64
	data   []byte
}

// bits returns the next n bits of a message.
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

// bitVarint is a varint of groups of eight bits.
func (w *wire) bitVarint() (v uint64) {
	for i := range 10 {
		x := w.bits(8)
		v |= x & 127 << (7 * i)
		if x < 128 {
			w.bad = w.bad || x == 0 && i > 0
			return v
		}
	}
	w.bad = true
	return 0
}

// describeCommands reads a body of commands. If the body has a base other than the given one, only that is
// written.
func describeCommands(out *strings.Builder, w *wire, size int, base commandBase) {
	based, count := w.bits(1) == 1, w.bits(2)+1
	if count == 4 {
		count += w.bits(6)
	}
	var tick uint32
	lag, offset, data := int64(0), uint64(0), make([]byte, size)
	if based {
		low, back := w.bits(12), w.bits(6)+1
		for tick = base.tick - 2048; uint64(tick&4095) != low; tick++ {
		}
		fmt.Fprintf(out, "on the base %d ticks before %d\n", back, tick)
		if w.bad = w.bad || count > 64; w.bad || tick-uint32(back) != base.tick || base.data == nil {
			w.b = nil
			return
		}
		lag, offset = base.lag, base.offset
		copy(data, base.data)
	} else {
		tick = uint32(w.bits(32))
	}
	newest := tick
	w.bad = w.bad || count > 64
	for i := uint64(0); i < count && !w.bad; i++ {
		if w.bits(1) == 1 {
			gap, moved := w.bits(1) == 1, w.bits(1) == 1
			w.bad = w.bad || !gap && !moved || gap && i == 0
			if gap {
				n := w.bitVarint()
				w.bad = w.bad || n < 1 || n > 1<<31
				tick -= uint32(n)
				w.bad = w.bad || newest-tick-1 >= 1<<31-1
			}
			if moved {
				now := w.bits(8)
				w.bad = w.bad || now == offset
				offset = now
			}
		}
		u := uint64(0)
		switch w.bits(2) {
		case 1:
			u = 1 + w.bits(4)
		case 2:
			u = 17 + w.bits(8)
		case 3:
			u = w.bitVarint()
			w.bad = w.bad || u > 1<<41
			u += 273
		}
		lag += int64(u>>1) ^ -int64(u&1)
		if lag = lag & (1<<40 - 1); lag >= 1<<39 {
			lag -= 1 << 40
		}
		if i == 0 && !based {
			for k := range data {
				data[k] = byte(w.bits(8))
			}
		} else if w.bits(1) == 1 {
			describeChanges(w, base.fields, data)
		}
		if !w.bad {
			view := (uint64(tick)<<8 - uint64(lag)) & (1<<40 - 1)
			fmt.Fprintf(out, "command %d render %d+%d/256 offset %d data %x\n", tick, view>>8, view&255, offset, data)
		}
		tick--
	}
	w.bad = w.bad || len(w.b) > 1 || len(w.b) == 1 && (w.bit == 0 || w.b[0]>>w.bit != 0)
	w.b = nil
}

// describeChanges applies the fields that differ.
func describeChanges(w *wire, fields []int, data []byte) {
	at, left, any := 0, 8*len(data), false
	for i := 0; left > 0 && !w.bad; i++ {
		n := min(8, left)
		if i < len(fields) {
			n = fields[i]
		}
		was := uint64(0)
		for k := range n {
			was |= uint64(data[(at+k)/8]>>((at+k)%8)&1) << k
		}
		now := was
		if w.bits(1) == 1 {
			any = true
			near, mask := n/2+1, ^uint64(0)>>(64-n)
			small := func(u uint64) uint64 { // the value that a small change leads to
				d := u/2 + 1
				if u%2 == 1 {
					d = -d
				}
				return (was + d) & mask
			}
			switch {
			case n == 1:
				now = 1 - was
			case n >= 5 && w.bits(1) == 1:
				now = small(w.bits(near))
			default:
				now = w.bits(n)
				up, down := (now-was)&mask, (was-now)&mask
				w.bad = w.bad || now == was || n >= 5 && min(up, down) <= 1<<(near-1)
			}
		}
		for k := range n {
			data[(at+k)/8] &^= 1 << ((at + k) % 8)
			data[(at+k)/8] |= byte(now>>k&1) << ((at + k) % 8)
		}
		at, left = at+n, left-n
	}
	w.bad = w.bad || !any
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}
