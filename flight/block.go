package flight

import (
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"sync"
)

const (
	magic      = "FORETAPE"
	version    = 1
	headSize   = len(magic) + 1
	blockHead  = 12        // bytes before a block: its length, its length unpacked, the checksum
	blockSize  = 32 << 10  // bytes of records at which a block ends
	maxBlock   = 256 << 10 // most bytes of a block that a reader accepts, unpacked
	maxPacked  = 256 << 10 // most bytes of a block that a reader accepts, packed
	slabSize   = 64 << 10  // bytes of a piece of slabs
	maxRecords = 1 << 20   // most records in a block, at two bytes each
)

// packers are shared by all recorders, because each takes 800 kB of memory.
var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // BestSpeed is a valid level
	}
	return w
}}

// appender is a writer into memory.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// pack appends a block of records to a.
func (a *appender) pack(raw []byte) {
	at := len(a.b)
	a.b = append(a.b, make([]byte, blockHead)...)
	w := packers.Get().(*flate.Writer)
	w.Reset(a)
	_, _ = w.Write(raw) // an appender returns no errors
	_ = w.Close()
	packers.Put(w)
	a.head(at, len(raw))
}

// head fills in the head of the block that begins at byte at.
func (a *appender) head(at, unpacked int) {
	h, packed := a.b[at:], a.b[at+blockHead:]
	binary.LittleEndian.PutUint32(h, uint32(len(packed)))
	binary.LittleEndian.PutUint32(h[4:], uint32(unpacked))
	binary.LittleEndian.PutUint32(h[8:], crc32.ChecksumIEEE(packed))
}

// mostStored is how much one stored block of DEFLATE holds (RFC 1951, section 3.2.4).
const mostStored = 1<<16 - 1

// store appends a block of records to a, as DEFLATE without compression: compressing a second of
// a match takes ten times as long as writing it to a file.
func (a *appender) store(raw []byte) {
	at, size := len(a.b), len(raw)
	a.b = append(a.b, make([]byte, blockHead)...)
	for last := byte(0); last == 0; {
		n := min(len(raw), mostStored)
		if n == len(raw) {
			last = 1
		}
		a.b = append(a.b, last)
		a.b = binary.LittleEndian.AppendUint16(a.b, uint16(n))
		a.b = binary.LittleEndian.AppendUint16(a.b, ^uint16(n))
		a.b = append(a.b, raw[:n]...)
		raw = raw[n:]
	}
	a.head(at, size)
}

// slabs are bytes in pieces of equal size, so that none is copied as they grow.
type slabs struct {
	list [][]byte
	size int
}

func (s *slabs) addBytes(p []byte) {
	s.size += len(p)
	for len(p) > 0 {
		if n := len(s.list); n == 0 || len(s.list[n-1]) == slabSize {
			s.list = append(s.list, make([]byte, 0, slabSize))
		}
		last := &s.list[len(s.list)-1]
		n := min(len(p), slabSize-len(*last))
		*last = append(*last, p[:n]...)
		p = p[n:]
	}
}

// takeCopy removes and returns everything. It copies the last piece, and keeps its memory for
// later bytes.
func (s *slabs) takeCopy() (list [][]byte) {
	if n := len(s.list); n > 0 {
		last := s.list[n-1]
		list = append(list, s.list[:n-1]...)
		list = append(list, append([]byte(nil), last...))
		s.list = append([][]byte(nil), last[:0])
	}
	s.size = 0
	return list
}

// takePieces removes and returns all full pieces, with all also the last one.
func (s *slabs) takePieces(all bool) (list [][]byte) {
	n := len(s.list)
	if !all && n > 0 && len(s.list[n-1]) < slabSize {
		n--
	}
	list, s.list = s.list[:n:n], append([][]byte(nil), s.list[n:]...)
	for _, b := range list {
		s.size -= len(b)
	}
	return list
}
