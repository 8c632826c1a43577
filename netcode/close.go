package netcode

// maxCloseText is the longest text of a close, in bytes.
const maxCloseText = 200

// closing holds the outgoing close and the received one.
type closing struct {
	sending  bool
	code     uint16
	text     string
	received bool
	gotCode  uint16
	gotText  string
}

// Close makes every later packet tell the peer that the session has ended, with
// a code and a reason (cut to 200 bytes) for its user. Send a few packets: a
// close is not acknowledged.
func (c *Conn) Close(code uint16, reason string) {
	if len(reason) > maxCloseText {
		reason = reason[:maxCloseText]
	}
	c.closing.sending, c.closing.code, c.closing.text = true, code, reason
}

// Closed reports whether the peer has closed, with its code and text. The text
// is the peer's own: display these bytes with care.
func (c *Conn) Closed() (code uint16, text string, ok bool) {
	return c.closing.gotCode, c.closing.gotText, c.closing.received
}

func (c *closing) writeClose(p *Packet) {
	if !c.sending || len(p.buf)+messageSize(2+len(c.text)) > p.c.cfg.MTU {
		return
	}
	p.buf = append(p.buf, byte(messageClose))
	p.buf = appendVarint(p.buf, uint64(2+len(c.text)))
	p.buf = le.AppendUint16(p.buf, c.code)
	p.buf = append(p.buf, c.text...)
}

func validClose(body []byte) bool { return len(body) >= 2 && len(body) <= 2+maxCloseText }

func (c *closing) takeClose(body []byte) {
	if c.received {
		return // the first one counts
	}
	c.received, c.gotCode, c.gotText = true, le.Uint16(body), string(body[2:])
}
