package netcode_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// This file is a decoder of docs/STANDARD.md, written from that document. It
// shares no code with the package.

var errStandard = errors.New("not what the standard allows")

// wire is a cursor; the first fault sticks.
type wire struct {
	b   []byte
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

// describePacket decodes a packet and tells what it says, a line a fact. Of the
// channels, 1 to 3 are agreed to be reliable, and 4 to 7 are not.
func describePacket(b []byte, magic uint64, commandSize int) (string, error) {
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
		describeMessage(&out, t, body, commandSize)
		if body.bad {
			return "", errStandard
		}
	}
	if w.bad {
		return "", errStandard
	}
	return out.String(), nil
}

func describeMessage(out *strings.Builder, t uint64, w *wire, commandSize int) {
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
		fmt.Fprintf(out, "hello version %d protocol %016x", w.unsigned(1), w.unsigned(8))
		fmt.Fprintf(out, " resume %x rate %d", w.take(16), w.unsigned(1))
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
		server, back, code := w.unsigned(8), w.unsigned(1), w.unsigned(2)
		fmt.Fprintf(out, " server %016x back %d code %d %q\n", server, back, code, w.b)
		w.bad = w.bad || back > 1 || len(w.b) > 120
	case 18:
		fmt.Fprintf(out, "reject %d protocol %016x %q\n", w.unsigned(1), w.unsigned(8), w.b)
		w.bad = w.bad || len(w.b) > 200
	case 19:
		flags, epoch := w.unsigned(1), uint64(0)
		w.bad = w.bad || flags > 7 || flags&6 == 4
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
		fmt.Fprintf(out, " rest %x\n", w.b)
	case 20:
		describeCommands(out, w, commandSize)
	case 21:
		fmt.Fprintf(out, "ready rate %d bytes %d\n", w.unsigned(1), w.unsigned(4))
		w.bad = w.bad || len(w.b) > 0
	case 22:
		fmt.Fprintf(out, "level epoch %d tick %d data %x\n", w.unsigned(1), w.unsigned(4), w.b)
		w.bad = w.bad || len(w.b) > 1024
	default:
		w.bad = w.bad || t < 16
		fmt.Fprintf(out, "message %d %x\n", t, w.b)
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
	last := -1 // of the span
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

// describeSchema tells what a whole reliable message says, if it is of a kind by
// which schemas travel.
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

func describeCommands(out *strings.Builder, w *wire, size int) {
	count, tick := w.unsigned(1), uint32(w.unsigned(4))+1
	if count < 1 || count > 64 {
		w.bad = true
	}
	lag, offset, data := int64(0), uint64(0), make([]byte, size)
	for told := uint64(0); told < count && !w.bad; {
		head := w.unsigned(1)
		times := head>>4 + 1
		if times > 1 && head&15 != 0 || told+times > count {
			w.bad = true
			return
		}
		if head&1 != 0 {
			s := w.varint()
			w.bad = w.bad || s == 0 || s > 1<<31
			tick -= uint32(s)
		}
		if head&2 != 0 {
			d := w.zigzag()
			w.bad = w.bad || d == 0 || d > 1<<40 || d < -1<<40
			lag = (lag + d) & (1<<40 - 1)
			if lag >= 1<<39 {
				lag -= 1 << 40
			}
		}
		if head&4 != 0 {
			offset = w.unsigned(1)
		}
		if head&8 != 0 {
			mask := w.take((size + 7) / 8)
			for i := range 8 * len(mask) {
				if mask[i/8]>>(i%8)&1 == 0 {
					continue
				}
				if i >= size {
					w.bad = true
					return
				}
				data[i] = byte(w.unsigned(1))
			}
		}
		for range times {
			tick--
			view := uint64(int64(tick)*256-lag) & (1<<40 - 1)
			fmt.Fprintf(out, "command %d render %d+%d/256 offset %d data %x\n", tick, view>>8, view&255, offset, data)
		}
		told += times
	}
	w.bad = w.bad || len(w.b) > 0
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}
