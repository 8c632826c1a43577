package netcode

// Event is a message of an unreliable channel, as the peer passed it to SendOn.
// Payload aliases the datagram: it is valid until the next Receive, or until
// the caller reuses the datagram's memory.
type Event struct {
	Channel uint8
	Tick    Tick
	Kind    uint8
	Payload []byte
}

// Events on the wire: channel 1, number of the first event 2, then per event
//
//	varint of the numbers skipped, kind 1, tick as zigzag difference to the event
//	before (the first to 0), varint length, payload
const (
	eventQueue   = 64   // events that may wait at the sender
	eventsSeen   = 1024 // numbers that the receiver remembers
	eventsSpan   = 256  // numbers that one body spans
	maxRepeat    = 16
	maxEventHead = 2 + 1 + 5 + 2 // most bytes before the payload
)

// eventReader walks a body of events.
type eventReader struct {
	channel uint8
	rest    []byte
	next    uint16
	tick    Tick
	ids     int
}

func newEventReader(body []byte) (eventReader, bool) {
	if len(body) < 4 {
		return eventReader{}, false
	}
	return eventReader{channel: body[0], next: le.Uint16(body[1:]), rest: body[3:]}, true
}

func (r *eventReader) moreEvents() bool { return len(r.rest) > 0 }

func (r *eventReader) readEvent() (id uint16, e Event, ok bool) {
	gap, b, ok := readVarint(r.rest)
	if !ok || gap >= eventsSpan || len(b) < 1 {
		return 0, e, false
	}
	if r.ids == 0 && gap != 0 { // next names the first event: a gap would be a second encoding
		return 0, e, false
	}
	if r.ids += int(gap) + 1; r.ids > eventsSpan {
		return 0, e, false
	}
	id = r.next + uint16(gap)
	e.Channel, e.Kind = r.channel, b[0]
	d, b, ok := readTickDelta(b[1:])
	if !ok {
		return 0, e, false
	}
	n, b, ok := readVarint(b)
	if !ok || n > MaxEvent || n > uint64(len(b)) {
		return 0, e, false
	}
	r.tick += d
	e.Tick, e.Payload = r.tick, b[:n:n]
	r.next, r.rest = id+1, b[n:]
	return id, e, true
}

// validEvents validates the form of a body.
func validEvents(body []byte) bool {
	r, ok := newEventReader(body)
	for ok && r.moreEvents() {
		_, _, ok = r.readEvent()
	}
	return ok
}

// eventCursor is the position of NextEvent in the datagram just received.
type eventCursor struct {
	messages []byte
	reader   eventReader
}

// NextEvent returns the events of unreliable channels in the datagram just
// received, each once however often it arrives. Drain it after every Receive:
// events left over are lost, unless the peer repeats them. Events come in the
// order of the network; Tick says when each happened.
func (c *Conn) NextEvent() (Event, bool) {
	for {
		for c.events.reader.moreEvents() {
			id, e, ok := c.events.reader.readEvent()
			if !ok {
				c.events = eventCursor{} // the caller changed the datagram after Receive
				break
			}
			seen := c.channels[e.Channel].seen
			if seen.Find(id) != nil {
				c.stats.EventsDuplicate++
				continue
			}
			seen.Insert(id)
			c.stats.EventsReceived++
			return e, true
		}
		if !c.events.advance(c) {
			return Event{}, false
		}
	}
}

// forgetEvents forgets which events came, after a silence in which their numbers may have gone
// round the circle.
func (c *Conn) forgetEvents() {
	for i := range c.channels {
		if ch := &c.channels[i]; ch.seen != nil {
			ch.seen = NewSequenceBuffer[struct{}](eventsSeen)
		}
	}
}

// advance moves to the next message of events.
func (e *eventCursor) advance(c *Conn) bool {
	for len(e.messages) > 0 {
		t, body, rest, ok := readMessage(e.messages)
		e.messages = rest
		if !ok || t != messageEvents {
			continue
		}
		if r, ok := newEventReader(body); ok && c.hasEvents(r.channel) {
			e.reader = r
			return true
		}
	}
	return false
}

func (c *Conn) hasEvents(channel uint8) bool {
	return int(channel) < len(c.channels) && !c.channels[channel].reliable
}
