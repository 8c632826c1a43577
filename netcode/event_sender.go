package netcode

import "time"

// outEvent is an event that further packets carry.
type outEvent struct {
	payload []byte // payload is memory that the slot's next owner reuses.
	tick    Tick
	kind    uint8
	left    uint8 // left counts the packets that will still carry the event.
	fresh   bool  // fresh is true if the event is not in any packet so far.
	aging   bool  // aging is true once the age counts: from since, the start of a packet.
	since   time.Duration
	round   uint32 // round is the sender's round of the last packet that carried the event.
}

// eventSender queues the events of an unreliable channel. Its memory is
// bounded: a full queue drops the oldest event.
type eventSender struct {
	ring       []outEvent // ring has a power of two as its length, which grows to eventQueue.
	head, next uint16
	repeat     uint8
	maxAge     time.Duration
	round      uint32 // round counts packets, so that none carries an event twice.
}

func newEventSender(repeat int, maxAge time.Duration) eventSender {
	return eventSender{repeat: uint8(repeat), maxAge: maxAge}
}

func (s *eventSender) eventAt(id uint16) *outEvent { return &s.ring[int(id)&(len(s.ring)-1)] }

func (s *eventSender) growEvents() {
	ring := make([]outEvent, ringFor(len(s.ring)+1, len(s.ring)))
	for i := range s.ring {
		id := s.head + uint16(i)
		ring[int(id)&(len(ring)-1)] = *s.eventAt(id)
	}
	s.ring = ring
}

func (s *eventSender) pushEvent(tick Tick, kind uint8, payload []byte, st *Stats) error {
	if len(payload) > MaxEvent {
		return ErrEventTooBig
	}
	if s.next-s.head == eventQueue {
		if s.eventAt(s.head).fresh {
			st.EventsOverflow++
		}
		s.head++
	} else if int(s.next-s.head) == len(s.ring) {
		s.growEvents()
	}
	e := s.eventAt(s.next)
	*e = outEvent{payload: append(e.payload[:0], payload...), tick: tick, kind: kind, left: s.repeat, fresh: true}
	s.next++
	return nil
}

// isDue reports whether an event goes into the packet being written.
func (s *eventSender) isDue(e *outEvent) bool { return e.left > 0 && e.round != s.round }

// ageEvents starts a packet: it drops events that are too old or done.
func (s *eventSender) ageEvents(now time.Duration, st *Stats) {
	s.round++
	for id := s.head; id != s.next; id++ {
		e := s.eventAt(id)
		if !e.aging {
			e.aging, e.since = true, now
		}
		if e.left > 0 && now-e.since > s.maxAge {
			e.left = 0
			if e.fresh {
				st.EventsStale++
			}
		}
		if e.left == 0 && id == s.head {
			s.head++
		}
	}
}

func (s *eventSender) owed(limit int) (n int) {
	for id := s.head; id != s.next && n < limit; id++ {
		if e := s.eventAt(id); s.isDue(e) {
			n += maxEventHead + len(e.payload)
		}
	}
	return min(n, limit)
}

// delivered stops repeating an event.
func (s *eventSender) delivered(id uint16) {
	if id-s.head < s.next-s.head {
		s.eventAt(id).left = 0
	}
}

// writeEvents appends the number of the first event, then events, oldest first, to
// dst while they fit in room bytes.
func (s *eventSender) writeEvents(dst []byte, room int, channel uint8, carried []entryRef, st *Stats) ([]byte, []entryRef) {
	base := len(dst)
	var next uint16
	var tick Tick
	for id := s.head; id != s.next; id++ {
		e := s.eventAt(id)
		if !s.isDue(e) {
			continue
		}
		mark := len(dst)
		if mark == base {
			dst = le.AppendUint16(dst, id)
			next = id
		}
		dst = append(appendVarint(dst, uint64(id-next)), e.kind)
		dst = appendTickDelta(dst, e.tick-tick)
		dst = appendVarint(dst, uint64(len(e.payload)))
		dst = append(dst, e.payload...)
		if len(dst)-base > room {
			dst = dst[:mark]
			break
		}
		next, tick = id+1, e.tick
		if e.fresh {
			st.EventsCarried++
		} else {
			st.EventsRepeated++
		}
		e.fresh, e.round = false, s.round
		e.left--
		carried = append(carried, entryRef{channel, id})
	}
	return dst, carried
}
