package netcode

// bitWriter appends bits to bytes, the lowest bit of a byte first.
type bitWriter struct {
	dst []byte
	// used is how many bits of the last byte are written. 0 means that the next bit begins a new byte.
	used int
}

// writeBits appends the low n bits of v, at most 64.
func (w *bitWriter) writeBits(v uint64, n int) {
	for n > 0 {
		if w.used == 0 {
			w.dst = append(w.dst, 0)
		}
		k := min(8-w.used, n)
		w.dst[len(w.dst)-1] |= byte(v&(1<<k-1)) << w.used
		v, n, w.used = v>>k, n-k, (w.used+k)&7
	}
}

// bitReader reads what a bitWriter wrote. Beyond the end it reads zeros and is bad.
type bitReader struct {
	b   []byte
	at  int // at is the index of the next bit.
	bad bool
}

// peekBits is how many bits [bitReader.peek] shows at least.
const peekBits = 57

// peek returns the next bits, at least peekBits of them, the next one lowest. Beyond the
// end they are zeros.
func (r *bitReader) peek() uint64 {
	if i := r.at >> 3; i+8 <= len(r.b) {
		return le.Uint64(r.b[i:]) >> (r.at & 7)
	}
	return r.peekEnd()
}

// peekEnd is peek within the last eight bytes.
func (r *bitReader) peekEnd() (v uint64) {
	if last := len(r.b) - 8; last >= 0 {
		return le.Uint64(r.b[last:]) >> (r.at - 8*last)
	}
	for i, b := range r.b[r.at>>3:] {
		v |= uint64(b) << (8 * i)
	}
	return v >> (r.at & 7)
}

func (r *bitReader) skip(n int) {
	if r.at += n; r.at > 8*len(r.b) {
		r.at, r.bad = 8*len(r.b), true
	}
}

// readBits returns the next n bits, at most 64.
func (r *bitReader) readBits(n int) uint64 {
	if n > peekBits {
		low := r.readBits(32)
		return low | r.readBits(n-32)<<32
	}
	v := r.peek() & (1<<n - 1)
	r.skip(n)
	return v
}

// endsClean reports whether everything was read, except for zero bits that fill the last byte.
func (r *bitReader) endsClean() bool {
	rest := 8*len(r.b) - r.at
	return !r.bad && rest < 8 && r.readBits(rest) == 0
}

// bitsAt returns the n bits of packed data from bit at on, at most 64.
func bitsAt(data []byte, at, n int) uint64 {
	r := bitReader{b: data, at: at}
	return r.readBits(n)
}

// setBitsAt replaces the n bits of packed data from bit at on, at most 64.
func setBitsAt(data []byte, at, n int, v uint64) {
	for n > 0 {
		k := min(8-at&7, n)
		mask := byte(1<<k-1) << (at & 7)
		data[at>>3] = data[at>>3]&^mask | byte(v)<<(at&7)&mask
		v, n, at = v>>k, n-k, at+k
	}
}
