package netcode

// bitWriter appends bits to bytes, the lowest bit of a byte first.
type bitWriter struct {
	dst  []byte
	used int // bits of the last byte; 0: none is begun
}

// write appends the low n bits of v, at most 64.
func (w *bitWriter) write(v uint64, n int) {
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
	at  int // bit
	bad bool
}

// read returns the next n bits, at most 64.
func (r *bitReader) read(n int) (v uint64) {
	if n > 8*len(r.b)-r.at {
		r.bad, r.at = true, 8*len(r.b)
		return 0
	}
	for got := 0; got < n; {
		k := min(8-r.at&7, n-got)
		v |= uint64(r.b[r.at>>3]>>(r.at&7)&(1<<k-1)) << got
		got, r.at = got+k, r.at+k
	}
	return v
}

// end reports whether all was read but zero bits that fill the last byte.
func (r *bitReader) end() bool {
	rest := 8*len(r.b) - r.at
	return !r.bad && rest < 8 && r.read(rest) == 0
}

// bitsAt returns n bits of packed data, at most 64.
func bitsAt(data []byte, at, n int) uint64 {
	r := bitReader{b: data, at: at}
	return r.read(n)
}

// setBitsAt replaces n bits of packed data, at most 64.
func setBitsAt(data []byte, at, n int, v uint64) {
	for n > 0 {
		k := min(8-at&7, n)
		mask := byte(1<<k-1) << (at & 7)
		data[at>>3] = data[at>>3]&^mask | byte(v)<<(at&7)&mask
		v, n, at = v>>k, n-k, at+k
	}
}
