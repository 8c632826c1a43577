package foretick

import (
	"sync"
	"time"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/stats"
	"github.com/foretick/foretick/transport"
)

// Client plays one player's part. Step does the work; it is not safe for
// concurrent use. Stats may be called by any goroutine.
type Client struct {
	clientBase
	link      link
	input     input
	ghosts    ghosts
	timeline  timeline
	screen    screen
	reasons   reasons
	board     clientBoard // what other goroutines may read
	inspected clientInspected

	stepping bool // Step runs
	closing  bool // Close was called in it
	closed   bool
	begun    bool
	start    time.Time
	read     time.Time    // of the newest Step
	time     netcode.Time // of the Step that runs
}

// NewClient makes a client that greets the server with its first Steps. The error lists
// every fault of the configuration and the protocol. On an error the Transport stays the
// caller's: close it.
func NewClient(cfg ClientConfig) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p := &cfg.Protocol.compiled
	if cfg.Verify != nil {
		if err := p.Registry.Verify(false, cfg.Verify); err != nil {
			return nil, err
		}
	}
	c := &Client{clientBase: newClientBase(cfg)}
	c.frame.client = c
	c.losses = newLosses(p, cfg.Logger, &c.frame.Tick, &c.stats.ValuesOutside, &c.stats.ChangesSwallowed)
	c.link = newLink(&c.clientBase)
	c.input = newInput(&c.clientBase)
	c.ghosts = newGhosts(&c.clientBase)
	c.reasons = newReasons(cfg.History)
	c.timeline.init(&c.clientBase, &c.input, &c.ghosts, &c.reasons)
	var err error
	if c.screen, err = newScreen(&c.clientBase, &c.input, &c.ghosts, &c.timeline); err != nil {
		return nil, err
	}
	if err := c.fresh(); err != nil {
		return nil, err
	}
	if debugBuild {
		p.watch(true)
	}
	return c, nil
}

// fresh forgets everything that belonged to a connection.
func (c *Client) fresh() error {
	c.input.clear()
	c.link.clock, c.link.newest = nil, 0
	c.link.level.entered, c.link.wish.asked, c.link.wish.granted = false, false, false
	return c.clearLevel()
}

// clearLevel forgets everything that belonged to a level.
func (c *Client) clearLevel() error {
	if c.ghosts.receiver != nil {
		c.world.Lock()
		for _, g := range c.ghosts.receiver.Ghosts() {
			if g.Data != 0 {
				c.world.Manager().Destroy(ecs.Entity(g.Data))
			}
		}
		c.world.Unlock()
		for _, g := range c.ghosts.receiver.Ghosts() {
			if g.Data != 0 {
				c.world.Unreserve(ecs.Entity(g.Data)) // no save of before is restored any more
			}
		}
	}
	c.timeline.clearSpawns()
	c.tracer.forget()
	c.reports.forget()
	c.ghosts.newReceiver(c.link.newest)
	c.ghosts.ours = c.ghosts.ours[:0]
	c.reasons.Clear()
	c.screen.clear()
	return c.timeline.clear()
}

// View returns the result of the last Step.
func (c *Client) View() View { return c.view }

// Close leaves the match and closes the transport. It sends requests again until the server
// has acknowledged them, which takes a round trip, and at most a second. Without any, with a
// WebSocket and in a browser it does not wait. In a function that Step calls, such as a
// handler or a render system, it returns nil and takes effect at the end of the Step.
func (c *Client) Close() error {
	if c.stepping {
		c.closing = true
		return nil
	}
	return c.close()
}

func (c *Client) close() error {
	if c.closed {
		return transport.ErrClosed
	}
	c.closed = true
	defer c.post()
	last := partings{endpoint: c.link.endpoint, from: c.now, most: lastWords}
	if c.link.up && c.view.State != Closed && c.link.conn.Pending() > 0 {
		last.all = append(last.all, parting{c.link.peer, c.link.conn, transport.Closed, ""})
	} else if c.link.up {
		c.link.endpoint.Disconnect(c.link.peer, transport.Closed, "")
	}
	c.link.end(&transport.DisconnectError{Code: transport.Closed})
	return last.close(transport.Closed, "")
}

// clientBoard is what a client shows to other goroutines.
type clientBoard struct {
	mu    sync.Mutex
	stats stats.Client
}
