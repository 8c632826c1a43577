package netcode

// commandReader walks a body of MessageCommands, newest command first. It reads
// into one Command, since each is coded against the one before it.
type commandReader struct {
	rest []byte
	left int // commands
	run  int // further commands that the last head stands for
	c    Command
}

// start begins a body whose commands are len(data) bytes; data is overwritten.
func (r *commandReader) start(body, data []byte) bool {
	if len(body) < 6 || body[0] == 0 || body[0] > maxCommands {
		return false
	}
	clear(data)
	*r = commandReader{rest: body[5:], left: int(body[0]), c: Command{Tick: le.Uint32(body[1:]) + 1, Data: data}}
	r.c.setLag(0)
	return true
}

func (r *commandReader) more() bool { return r.left > 0 }

func (r *commandReader) read() bool {
	r.left--
	lag := r.c.lag()
	r.c.Tick--
	if r.run > 0 {
		r.run--
		r.c.setLag(lag)
		return r.left > 0 || r.done()
	}
	if len(r.rest) == 0 {
		return false
	}
	head := r.rest[0]
	r.rest = r.rest[1:]
	what := head & headWhat
	r.run = int(head >> 4)
	if what != 0 && r.run != 0 || r.run > r.left {
		return false
	}
	if !r.numbers(what, &lag) {
		return false
	}
	r.c.setLag(lag)
	if what&headData != 0 && !r.data() {
		return false
	}
	return r.left > 0 || r.done()
}

func (r *commandReader) done() bool { return len(r.rest) == 0 && r.run == 0 }

func (r *commandReader) numbers(what byte, lag *int64) bool {
	if what&headTick != 0 {
		skip, rest, ok := readVarint(r.rest)
		if !ok || skip == 0 || skip > 1<<31 {
			return false
		}
		r.c.Tick -= Tick(skip)
		r.rest = rest
	}
	if what&headView != 0 {
		u, rest, ok := readVarint(r.rest)
		if !ok || u == 0 || u > 1<<41 {
			return false
		}
		*lag += unzigzag(u)
		r.rest = rest
	}
	if what&headOffset != 0 {
		if len(r.rest) == 0 {
			return false
		}
		r.c.Offset, r.rest = r.rest[0], r.rest[1:]
	}
	return true
}

func (r *commandReader) data() bool {
	n := len(r.c.Data)
	if len(r.rest) < (n+7)/8 {
		return false
	}
	mask, rest := r.rest[:(n+7)/8], r.rest[(n+7)/8:]
	if n%8 != 0 && mask[len(mask)-1]>>(n%8) != 0 {
		return false
	}
	for i := range r.c.Data {
		if mask[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		if len(rest) == 0 {
			return false
		}
		r.c.Data[i], rest = rest[0], rest[1:]
	}
	r.rest = rest
	return true
}
