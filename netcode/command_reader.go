package netcode

// commandReader walks a body of MessageCommands, newest command first. It
// decodes into one Command, since each is coded relative to the one before it.
type commandReader struct {
	fields commandFields
	bits   bitReader
	left   int // commands
	head   commandHead
	whole  bool // the next command's data is written whole
	c      Command
}

// commandHead is the beginning of a body.
type commandHead struct {
	count  int
	newest Tick
	based  bool
	base   Tick // where based
}

// readHead reads the beginning of a body. near is a tick close to those of the body: where
// a body has a base, it holds the low bits of its newest tick alone.
func readHead(r *bitReader, near Tick) (h commandHead, ok bool) {
	h.based = r.read(1) == 1
	if h.count = int(r.read(2)) + 1; h.count == fewCommands+1 {
		h.count += int(r.read(6))
	}
	if !h.based {
		h.newest = Tick(r.read(32))
	} else {
		low := Tick(r.read(tickBits))
		h.newest = near + Tick(int32((low-near)<<(32-tickBits))>>(32-tickBits))
		h.base = h.newest - 1 - Tick(r.read(baseBits))
	}
	return h, !r.bad && h.count <= maxCommands
}

// start begins a body whose commands are len(data) bytes long; it overwrites data. It
// returns false if the form is wrong.
func (r *commandReader) start(body, data []byte, near Tick) bool {
	r.bits = bitReader{b: body}
	var ok bool
	if r.head, ok = readHead(&r.bits, near); !ok {
		return false
	}
	clear(data)
	r.left, r.whole = r.head.count, !r.head.based
	r.c = Command{Tick: r.head.newest + 1, Data: data}
	r.c.setLag(0)
	return true
}

// from makes a command the base of the body.
func (r *commandReader) from(base *baseCommand) {
	copy(r.c.Data, base.data)
	r.c.Offset = base.offset
	r.c.setLag(base.lag)
}

func (r *commandReader) more() bool { return r.left > 0 }

func (r *commandReader) read() bool {
	first := r.left == r.head.count
	r.left--
	lag := r.c.lag()
	r.c.Tick--
	if r.bits.read(1) == 1 && !r.unusual(first) {
		return false
	}
	d, ok := r.lag()
	if !ok {
		return false
	}
	r.c.setLag(lag + d)
	switch {
	case r.whole:
		r.whole = false
		for i := range r.c.Data {
			r.c.Data[i] = byte(r.bits.read(8))
		}
	case r.bits.read(1) == 1 && !r.fields.read(&r.bits, r.c.Data):
		return false
	}
	return !r.bits.bad && (r.left > 0 || r.bits.end())
}

// unusual reads a gap between ticks, or a new offset, or both.
func (r *commandReader) unusual(first bool) bool {
	gap, offset := r.bits.read(1) == 1, r.bits.read(1) == 1
	if !gap && !offset || gap && first {
		return false
	}
	if gap {
		skip, ok := r.varint()
		if !ok || skip == 0 || skip > 1<<31 {
			return false
		}
		if r.c.Tick -= Tick(skip); !Newer(r.head.newest, r.c.Tick) { // round the circle
			return false
		}
	}
	if offset {
		was := r.c.Offset
		if r.c.Offset = byte(r.bits.read(8)); r.c.Offset == was {
			return false
		}
	}
	return !r.bits.bad
}

// lag reads the change of the lag.
func (r *commandReader) lag() (int64, bool) {
	var u uint64
	switch class := r.bits.read(2); class {
	case 0:
		return 0, true
	case 1, 2:
		if u = r.bits.read(lagBits[class]); class == 2 {
			u += lagLimits[1]
		}
	default:
		v, ok := r.varint()
		if u = v + lagLimits[2]; !ok || u > 1<<41 {
			return 0, false
		}
	}
	return unzigzag(u + 1), !r.bits.bad
}

// varint reads groups of seven bits, low group first, in the shortest form.
func (r *commandReader) varint() (v uint64, ok bool) {
	for shift := 0; shift < 64; shift += 7 {
		group := r.bits.read(8)
		v |= group & 0x7f << shift
		if group < 0x80 {
			return v, !r.bits.bad && (group != 0 || shift == 0)
		}
	}
	return 0, false
}
