package netcode

// commandReader walks a body of MessageCommands, newest command first. It
// decodes into one Command, since each is coded relative to the one before it.
type commandReader struct {
	fields commandFields
	bits   bitReader
	left   int // left counts the commands that are not read yet.
	head   commandHead
	whole  bool    // whole is true if the next command's data is written whole.
	lag    int64   // lag is how far the last command's view trails its tick, in 1/256 tick.
	c      Command // c is the last command that was read, without its render time: see command.
}

// commandHead is the beginning of a body.
type commandHead struct {
	count  int
	newest Tick
	based  bool
	base   Tick // base is the tick of the base, if based is true.
}

// readHead reads the beginning of a body. near is a tick close to those of the body, because a body with a base
// holds only the low bits of its newest tick.
func readHead(r *bitReader, near Tick) (h commandHead, ok bool) {
	h.based = r.readBits(1) == 1
	if h.count = int(r.readBits(2)) + 1; h.count == fewCommands+1 {
		h.count += int(r.readBits(6))
	}
	if !h.based {
		h.newest = Tick(r.readBits(32))
	} else {
		low := Tick(r.readBits(tickBits))
		h.newest = near + Tick(int32((low-near)<<(32-tickBits))>>(32-tickBits))
		h.base = h.newest - 1 - Tick(r.readBits(baseBits))
	}
	return h, !r.bad && h.count <= maxCommands
}

// startBody begins a body whose commands are len(data) bytes long; it overwrites data. It
// returns false if the form is wrong.
func (r *commandReader) startBody(body, data []byte, near Tick) bool {
	r.bits = bitReader{b: body}
	var ok bool
	if r.head, ok = readHead(&r.bits, near); !ok {
		return false
	}
	clear(data)
	r.left, r.whole = r.head.count, !r.head.based
	r.c, r.lag = Command{Tick: r.head.newest + 1, Data: data}, 0
	return true
}

// from makes a command the base of the body.
func (r *commandReader) from(base *baseCommand) {
	copy(r.c.Data, base.data)
	r.c.Offset = base.offset
	r.lag = base.lag
}

func (r *commandReader) moreCommands() bool { return r.left > 0 }

// command returns the command that was read last.
func (r *commandReader) command() *Command {
	r.c.setLag(r.lag)
	return &r.c
}

// readCommand reads the next command. One peek shows everything of a usual command except its data, so a flood
// of commands costs little.
func (r *commandReader) readCommand() bool {
	first := r.left == r.head.count
	r.left--
	r.c.Tick--
	bits := r.bits.peek()
	r.bits.skip(1)
	if bits&1 == 1 {
		if !r.unusual(first) {
			return false
		}
		bits = r.bits.peek()
	} else {
		bits >>= 1
	}
	d, n := lagOf(bits)
	if n == 0 {
		return false
	}
	r.lag += d
	r.bits.skip(n)
	if r.whole {
		r.whole = false
		for i := range r.c.Data {
			r.c.Data[i] = byte(r.bits.readBits(8))
		}
		return !r.bits.bad && (r.left > 0 || r.bits.endsClean())
	}
	r.bits.skip(1)
	if bits>>n&1 == 1 && !r.fields.readFields(&r.bits, r.c.Data) {
		return false
	}
	return !r.bits.bad && (r.left > 0 || r.bits.endsClean())
}

// unusual reads a gap between ticks, or a new offset, or both.
func (r *commandReader) unusual(first bool) bool {
	gap, offset := r.bits.readBits(1) == 1, r.bits.readBits(1) == 1
	if !gap && !offset || gap && first {
		return false
	}
	if gap {
		skip, n := varintOf(r.bits.peek())
		if n == 0 || skip == 0 || skip > 1<<31 {
			return false
		}
		r.bits.skip(n)
		// refuse a gap that goes half around the circle of ticks, or farther
		if r.c.Tick -= Tick(skip); !Newer(r.head.newest, r.c.Tick) {
			return false
		}
	}
	if offset {
		was := r.c.Offset
		if r.c.Offset = byte(r.bits.readBits(8)); r.c.Offset == was {
			return false
		}
	}
	return !r.bits.bad
}

// lagOf returns the change of the lag that bits begin with, and its width: at most 50, and 0
// if the form is wrong.
func lagOf(bits uint64) (d int64, n int) {
	var u uint64
	switch class := bits & 3; class {
	case 0:
		return 0, 2
	case 1, 2:
		n = 2 + lagBits[class]
		u = bits>>2&(1<<lagBits[class]-1) + lagLimits[class-1]
	default:
		v, width := varintOf(bits >> 2)
		if u, n = v+lagLimits[2], 2+width; width == 0 || u > 1<<41 {
			return 0, 0
		}
	}
	return unzigzag(u + 1), n
}

// varintOf returns the number in groups of seven bits, low group first, that bits begin
// with, and its width. The width is 0 if the form is not the shortest, or has more than six
// groups: no allowed number needs more.
func varintOf(bits uint64) (v uint64, n int) {
	for shift := 0; shift < 6*7; shift += 7 {
		group := bits >> n & 0xff
		n += 8
		v |= group & 0x7f << shift
		if group < 0x80 {
			if group == 0 && shift > 0 {
				return 0, 0
			}
			return v, n
		}
	}
	return 0, 0
}
