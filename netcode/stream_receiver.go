package netcode

// Reliable is a message of a reliable channel, as the peer passed it to
// SendReliable or SendOn. Payload is valid until the next call of NextReliable
// or Receive.
type Reliable struct {
	Tick    Tick
	Kind    uint8
	Payload []byte
	Channel uint8 // channel that carried the message; 0 for SendReliable
}

// inEntry is a received entry that waits for the entries before it.
type inEntry struct {
	payload     []byte // payload is memory that the slot's next owner reuses.
	tick        Tick
	kind        uint8
	first, last bool
	held        bool
}

type streamReceiver struct {
	ring   []inEntry // ring has a power of two as its length, which grows to streamWindow.
	next   uint16    // next is the next entry to process.
	open   bool      // open is true if a message has started and not ended.
	tick   Tick
	kind   uint8
	joined []byte // joined has the fragments of the open message.
	broken bool
}

func (s *streamReceiver) entryAt(id uint16) *inEntry { return &s.ring[int(id)&(len(s.ring)-1)] }

// growEntries makes room for n entries from the next one on.
func (s *streamReceiver) growEntries(n int) {
	ring := make([]inEntry, ringFor(n, len(s.ring)))
	for i := range s.ring {
		id := s.next + uint16(i)
		ring[int(id)&(len(ring)-1)] = *s.entryAt(id)
	}
	s.ring = ring
}

// ringFor returns the power of two that a ring of this many slots grows to for
// n.
func ringFor(n, slots int) int {
	slots = max(slots, leastRing)
	for slots < n {
		slots <<= 1
	}
	return slots
}

// checkBody validates a body and stores nothing.
func (s *streamReceiver) checkBody(body []byte, newcomer bool) error {
	span := streamWindow
	if newcomer {
		span = newcomerWindow
	}
	r, ok := newStreamReader(body)
	if !ok || !r.moreEntries() {
		return errStream
	}
	for r.moreEntries() {
		e, ok := r.readEntry()
		if !ok {
			return errStream
		}
		if d := Distance(e.id, s.next); d >= span || newcomer && !(e.first && e.last) {
			return ErrBacklog
		}
	}
	return nil
}

// takeBody stores the entries of a checked body. It skips entries that are held or
// were processed: the first arrival counts.
func (s *streamReceiver) takeBody(body []byte) {
	r, _ := newStreamReader(body)
	for r.moreEntries() {
		e, _ := r.readEntry()
		if e.id-s.next >= streamWindow {
			continue
		}
		if n := int(e.id-s.next) + 1; n > len(s.ring) {
			s.growEntries(n)
		}
		in := s.entryAt(e.id)
		if in.held {
			continue
		}
		*in = inEntry{payload: append(in.payload[:0], e.payload...), tick: e.tick, kind: e.kind,
			first: e.first, last: e.last, held: true}
	}
}

// pop returns the next whole message in order. A peer whose fragments do not
// follow one another, or never end, breaks its stream permanently.
func (s *streamReceiver) pop() (Reliable, bool) {
	for !s.broken && len(s.ring) > 0 {
		in := s.entryAt(s.next)
		if !in.held {
			break
		}
		if in.first == s.open || len(s.joined)+len(in.payload) > MaxReliable {
			s.broken = true
			break
		}
		in.held = false
		s.next++
		if in.first && in.last {
			return Reliable{Tick: in.tick, Kind: in.kind, Payload: in.payload}, true
		}
		if in.first {
			s.open, s.tick, s.kind, s.joined = true, in.tick, in.kind, s.joined[:0]
		}
		s.joined = append(s.joined, in.payload...)
		if in.last {
			s.open = false
			r := Reliable{Tick: s.tick, Kind: s.kind, Payload: s.joined}
			s.joined = s.joined[:0]
			return r, true
		}
	}
	return Reliable{}, false
}
