package netcode

import "time"

// Packet builds one datagram. Each Conn has a single one, which Begin returns.
type Packet struct {
	c       *Conn
	now     time.Duration
	buf     []byte // buf starts with the checksum and the header.
	limit   int    // limit is the maximum size of buf.
	reserve int    // reserve is the part of limit that is kept for the channels.
	open    bool
}

// Room returns how many bytes the body of a further message may have. It
// returns 0 when not even an empty one is sure to fit. It is less than the MTU
// leaves when the rate is used up, and when channels wait to send. An empty
// packet always has room for 64 bytes.
func (p *Packet) Room() int {
	return messageRoom(p.limit - p.reserve - len(p.buf))
}

// MostRoom is Room without the limit of the rate, for data that must not wait.
// See Press.
func (p *Packet) MostRoom() int {
	return messageRoom(p.c.cfg.MTU - p.reserve - len(p.buf))
}

// Press lifts the limit of the rate from this packet, up to the MTU, for data
// that must not wait, such as a player's own state. Later packets pay for it,
// up to one packet's worth.
func (p *Packet) Press() {
	if p.open {
		p.limit = p.c.cfg.MTU
	}
}

// Message adds a message and copies body. It returns false and writes nothing
// when body does not fit, or when t is an internal type (0 to 15).
func (p *Packet) Message(t MessageType, body []byte) bool {
	if t < firstCaller || !p.open || len(body) > 0x3fff || len(p.buf)+messageSize(len(body)) > p.limit-p.reserve {
		return false
	}
	p.putMessage(t, body)
	return true
}

func (p *Packet) putMessage(t MessageType, body []byte) {
	p.buf = append(p.buf, byte(t))
	p.buf = appendVarint(p.buf, uint64(len(body)))
	p.buf = append(p.buf, body...)
}

// Finish adds what waits on the channels, in the room left, and closes the
// packet. The bytes are valid until the next Begin. A finished packet counts as
// sent. Finishing twice returns nil.
func (p *Packet) Finish() (Seq, []byte) {
	if !p.open {
		return 0, nil
	}
	p.open = false
	return p.c.finishPacket(p)
}
