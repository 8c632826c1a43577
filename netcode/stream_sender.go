package netcode

import "time"

// outEntry is an entry that is being sent to the peer.
type outEntry struct {
	payload     []byte // payload is memory that the slot's next owner reuses.
	tick        Tick
	kind        uint8
	first, last bool
	due         bool // due is true if the entry is to be sent in the next packet that has room.
	acked       bool
	sends       uint8
	sentAt      time.Duration
	firstAt     time.Duration // firstAt is when the entry was first sent.
}

type streamSender struct {
	ring       []outEntry // ring has a power of two as its length, which grows to most.
	most       int
	head, next uint16 // head is the oldest entry that is not acknowledged, and next the one to queue next.
	base       uint16 // base is the first entry of the message that contains head.
	messages   int    // messages counts the messages whose last entry is not before head.
	// passed counts the messages before those in messages, over all connections: see TakeOver.
	passed uint32
	// resent is true if an entry before head, of the message at head, was sent more than once.
	resent bool
}

func newStreamSender(queue int) streamSender {
	n := streamWindow
	for n < queue/maxFragment {
		n <<= 1
	}
	return streamSender{most: n}
}

// growEntries makes room for n entries from the base on.
func (s *streamSender) growEntries(n int) {
	ring := make([]outEntry, ringFor(n, len(s.ring)))
	for i := range s.ring {
		id := s.base + uint16(i)
		ring[int(id)&(len(ring)-1)] = *s.entryAt(id)
	}
	s.ring = ring
}

func (s *streamSender) entryAt(id uint16) *outEntry { return &s.ring[int(id)&(len(s.ring)-1)] }
func (s *streamSender) queued() int                 { return int(s.next - s.head) }

// kept returns the number of entries kept. A message is kept until all of it is
// acknowledged, so that another connection can send it again from the start.
func (s *streamSender) kept() int { return int(s.next - s.base) }

// inFlight returns the end of the entries that may be sent: they must fit in the receiver's window.
func (s *streamSender) inFlight() uint16 {
	return s.head + uint16(min(s.queued(), streamWindow))
}

func (s *streamSender) pushMessage(tick Tick, kind uint8, payload []byte) error {
	if len(payload) > MaxReliable {
		return ErrTooBig
	}
	n := max(1, (len(payload)+maxFragment-1)/maxFragment)
	kept := s.kept()
	if n > s.most-kept {
		return ErrStreamFull
	}
	if kept+n > len(s.ring) {
		s.growEntries(kept + n)
	}
	for i := range n {
		e := s.entryAt(s.next)
		part := payload[i*maxFragment : min(len(payload), (i+1)*maxFragment)]
		*e = outEntry{
			payload: append(e.payload[:0], part...), tick: tick, kind: kind,
			first: i == 0, last: i == n-1, due: true,
		}
		s.next++
	}
	s.messages++
	return nil
}

// ownsEntry reports whether id is among the entries that are queued and not passed.
func (s *streamSender) ownsEntry(id uint16) bool { return id-s.head < s.next-s.head }

// ageEntries makes entries due again that have waited longer than rto for their ack.
func (s *streamSender) ageEntries(now, rto time.Duration) {
	for id := s.head; id != s.inFlight(); id++ {
		e := s.entryAt(id)
		if e.acked || e.due {
			continue
		}
		if now-e.sentAt >= rto<<min(e.sends-1, 2) {
			e.due = true
		}
	}
}

// owed returns how many bytes the due entries need, up to limit.
func (s *streamSender) owed(limit int) (n int) {
	for id := s.head; id != s.inFlight() && n < limit; id++ {
		if e := s.entryAt(id); e.due {
			n += maxEntryHead + len(e.payload)
		}
	}
	return min(n, limit)
}

// entryLost makes an entry due again, unless a later packet already carries it.
func (s *streamSender) entryLost(id uint16, sentAt time.Duration) {
	if !s.ownsEntry(id) {
		return
	}
	if e := s.entryAt(id); !e.acked && e.sentAt <= sentAt {
		e.due = true
	}
}

// delivered records that the peer holds an entry, and moves head past the entries that are acknowledged.
func (s *streamSender) delivered(id uint16, st *Stats) {
	if !s.ownsEntry(id) {
		return
	}
	s.entryAt(id).acked = true
	for s.head != s.next && s.entryAt(s.head).acked {
		e := s.entryAt(s.head)
		s.resent = s.resent || e.sends > 1
		if e.last {
			s.messages--
			s.passed++
			s.base = s.head + 1
			st.ReliableDelivered++
			if s.resent {
				st.ReliableResent++
			}
			s.resent = false
		}
		s.head++
	}
}

// writeEntries appends due entries, oldest first, to dst while they fit in room bytes,
// and a reference to each to carried. It returns dst unchanged when none fits.
func (s *streamSender) writeEntries(dst []byte, room int, channel uint8, now time.Duration, carried []entryRef, st *Stats) ([]byte, []entryRef) {
	base := len(dst)
	var w streamWriter
	for id := s.head; id != s.inFlight(); id++ {
		e := s.entryAt(id)
		if !e.due {
			continue
		}
		entry := streamEntry{id: id, first: e.first, last: e.last, kind: e.kind, tick: e.tick, payload: e.payload}
		mark, was := len(dst), w
		if mark == base {
			dst = le.AppendUint16(dst, id)
			w = streamWriter{next: id}
		}
		dst = w.append(dst, &entry)
		if len(dst)-base > room {
			dst, w = dst[:mark], was
			break
		}
		s.entrySent(e, now, st)
		carried = append(carried, entryRef{channel, id})
	}
	return dst, carried
}

func (s *streamSender) entrySent(e *outEntry, now time.Duration, st *Stats) {
	if e.sends == 0 {
		st.EntriesSent++
		e.firstAt = now
	} else {
		st.EntriesResent++
	}
	e.due, e.sentAt = false, now
	if e.sends < 255 {
		e.sends++
	}
}
