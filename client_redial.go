package foretick

import (
	"encoding/binary"
	"io"
	"time"

	"github.com/foretick/foretick/transport"
)

const (
	redialFirst = 250 * time.Millisecond // from an attempt that failed to the next …
	redialMost  = time.Second            // … twice as long each time, up to this …
	redialPlay  = 4                      // … give or take a part in so many
	dialSilent  = time.Second            // that a dial may be unanswered at first, and six round trips
	resumeTime  = 30 * time.Second
)

// redialling is how a client that lost its connection goes about another.
type redialling struct {
	begun    time.Duration // when the last attempt was
	next     time.Duration // when the next one is due
	wait     time.Duration // for it, where an attempt fails
	patience time.Duration // with one that is not answered
}

// comesBack tells whether a connection ended so that another may be tried.
func (c *Client) comesBack(code transport.Code) bool {
	switch code {
	case transport.Timeout, transport.Unreachable, transport.Gone, transport.Restart:
		return true
	case transport.Closed: // of a dial: the endpoint of a server that shuts down, with its port still open
		return c.view.State == Resuming && !c.up
	case transport.Full: // by what is left of the lost connection, perhaps
		return c.view.State == Resuming
	}
	return false
}

// lose ends the connection; unless somebody wanted that, another is tried.
func (c *Client) lose(why *DisconnectError) {
	if !c.comesBack(why.Code) || c.cfg.Redial == nil || c.token == [16]byte{} || c.stats.Connections == 0 {
		c.end(why)
		return
	}
	if c.view.State == Resuming {
		if why.Code == transport.Full {
			c.lostBy = why
		}
		c.up = false
		c.retry.next = max(c.now, c.retry.begun+c.redialWait())
		return
	}
	c.lost, c.lostBy, c.kept = c.now, why, c.conn
	c.view.State, c.up = Resuming, false
	c.retry = redialling{next: c.now, wait: redialFirst, patience: dialSilent + 6*c.conn.RTT()}
}

// redialWait is how long to wait from one attempt to the next. Not all who lost the
// same server come back at once.
func (c *Client) redialWait() time.Duration {
	wait := c.retry.wait
	c.retry.wait = min(2*wait, redialMost)
	var b [8]byte
	if _, err := io.ReadFull(c.cfg.Random, b[:]); err != nil {
		return wait
	}
	share := float64(binary.LittleEndian.Uint64(b[:])>>11) / (1 << 53) // 0 to 1
	return wait + time.Duration((2*share-1)*float64(wait/redialPlay))
}

// redial makes new connections until one is up or the time is over. A dial that is not
// answered is given up sooner than a connection: the transport may ask ever more
// rarely, and the server be back meanwhile. Each is waited for longer than the last,
// so that a path that became longer has its time.
func (c *Client) redial() {
	if c.up {
		return
	}
	if c.now-c.lost > resumeTime {
		c.end(c.lostBy)
		return
	}
	if c.now < c.retry.next {
		return
	}
	_ = c.endpoint.Close(transport.Timeout, "")
	e, err := c.cfg.Redial()
	c.retry.begun = c.now
	if err != nil {
		c.retry.next = c.now + c.redialWait()
		return
	}
	c.endpoint = e
	c.retry.next = c.now + c.retry.patience
	c.retry.patience = max(c.retry.patience, min(2*c.retry.patience, c.cfg.Timeout))
}
