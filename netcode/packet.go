package netcode

import "time"

// Packet builds one datagram. There is one per Conn, handed out by Begin.
type Packet struct {
	c       *Conn
	now     time.Duration
	buf     []byte // checksum and header are in front from the start
	limit   int    // what buf may grow to
	reserve int    // of which kept for the channels
	open    bool
}

// Room is how many bytes the body of a further message may have; 0 when not even
// an empty one is sure to fit. It shrinks below what the MTU leaves when the
// rate is used up, and by a share kept for what is due on channels, but
// an empty packet always has room for 64 bytes.
func (p *Packet) Room() int {
	return messageRoom(p.limit - p.reserve - len(p.buf))
}

// MostRoom is Room as if the rate left all that the MTU does: for what must not
// wait. See Press.
func (p *Packet) MostRoom() int {
	return messageRoom(p.c.cfg.MTU - p.reserve - len(p.buf))
}

// Press lifts the rate's bound from this packet, up to the MTU, for what must not
// wait, such as a player's own state. The rate makes up for it afterwards, as far
// as one packet goes.
func (p *Packet) Press() {
	if p.open {
		p.limit = p.c.cfg.MTU
	}
}

// Message adds a message, copying body. It reports false, and writes nothing,
// when body does not fit, or t is one of the protocol's own types (0 to 15).
func (p *Packet) Message(t MessageType, body []byte) bool {
	if t < firstCaller || !p.open || len(body) > 0x3fff || len(p.buf)+messageSize(len(body)) > p.limit-p.reserve {
		return false
	}
	p.put(t, body)
	return true
}

func (p *Packet) put(t MessageType, body []byte) {
	p.buf = append(p.buf, byte(t))
	p.buf = appendVarint(p.buf, uint64(len(body)))
	p.buf = append(p.buf, body...)
}

// Finish adds what the channels owe in the room left and closes the
// packet. The bytes are valid until the next Begin. A packet that was finished
// counts as sent. Finishing twice returns nil.
func (p *Packet) Finish() (Seq, []byte) {
	if !p.open {
		return 0, nil
	}
	p.open = false
	return p.c.finish(p)
}
