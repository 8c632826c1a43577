package netcode

// The reliable stream consists of entries, numbered without gaps, each a whole
// message or a fragment of one. Entries are processed in order, so fragments
// need no count, offset or reassembly table. A message starts at an entry
// marked first and ends at one marked last; the payloads are joined. No size
// from the wire causes an allocation, and fragments of two messages cannot mix.
const (
	maxFragment  = 256 // payload bytes of an entry
	streamWindow = 256 // entries in flight, and held out of order by the receiver

	newcomerWindow = 2 // entries that a newcomer may have out of order: see Config.Newcomer

	streamQueue    = 256 << 10 // bytes queued at the sender of channel 0
	otherQueue     = 128 << 10 // bytes queued at the sender of any other channel
	minStreamQueue = streamWindow * maxFragment
	maxStreamQueue = 1 << 20

	// maxEntryHead is the most bytes before the payload: head varint 1–3, kind 1, tick 5, length 2.
	maxEntryHead = 3 + 1 + 5 + 2
)

// streamEntry is one entry on the wire:
// varint(gap<<2 | last<<1 | first), first: kind, tick as zigzag difference to
// the previous first of this body (the first of them to 0), varint length, payload.
type streamEntry struct {
	id          uint16
	first, last bool
	kind        uint8
	tick        Tick
	payload     []byte
}

// streamWriter appends entries of rising id to a body.
type streamWriter struct {
	next uint16 // next is the id that gap 0 means.
	tick Tick
}

func (w *streamWriter) append(dst []byte, e *streamEntry) []byte {
	head := uint64(e.id-w.next) << 2
	if e.first {
		head |= 1
	}
	if e.last {
		head |= 2
	}
	dst = appendVarint(dst, head)
	if e.first {
		dst = append(dst, e.kind)
		dst = appendTickDelta(dst, e.tick-w.tick)
		w.tick = e.tick
	}
	w.next = e.id + 1
	dst = appendVarint(dst, uint64(len(e.payload)))
	return append(dst, e.payload...)
}

// streamReader walks a body that streamWriter wrote: id of the first entry, two
// bytes, then entries.
type streamReader struct {
	rest []byte
	next uint16
	tick Tick
	ids  int // ids is the distance covered, to limit the span of one body.
}

func newStreamReader(body []byte) (streamReader, bool) {
	if len(body) < 2 {
		return streamReader{}, false
	}
	return streamReader{rest: body[2:], next: le.Uint16(body)}, true
}

func (r *streamReader) moreEntries() bool { return len(r.rest) > 0 }

func (r *streamReader) readEntry() (e streamEntry, ok bool) {
	head, b, ok := readVarint(r.rest)
	if !ok || head>>2 >= streamWindow {
		return e, false
	}
	gap := uint16(head >> 2)
	if r.ids += int(gap) + 1; r.ids > streamWindow {
		return e, false
	}
	e.id, e.first, e.last = r.next+gap, head&1 != 0, head&2 != 0
	r.next = e.id + 1
	if e.first {
		if len(b) < 1 {
			return e, false
		}
		e.kind = b[0]
		d, rest, ok := readTickDelta(b[1:])
		if !ok {
			return e, false
		}
		r.tick += d
		e.tick, b = r.tick, rest
	}
	n, b, ok := readVarint(b)
	// An empty fragment never ends a message: only a whole message may be
	// empty.
	if !ok || n > maxFragment || n > uint64(len(b)) || n == 0 && !(e.first && e.last) {
		return e, false
	}
	e.payload, r.rest = b[:n], b[n:]
	return e, true
}
