package bots

import (
	"time"

	"github.com/foretick/foretick/client"
)

// Client is a full client as a Player: a client.Client that predicts and draws, with the
// game's own bot as its Sample.
type Client struct {
	*client.Client
	interval time.Duration
	next     time.Time
	state    client.State
}

// NewClient makes a full client. frame is the time of a rendered frame; 0 means a sixtieth of a
// second.
func NewClient(cfg client.Config, frame time.Duration) (*Client, error) {
	if frame <= 0 {
		frame = time.Second / 60
	}
	c, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Client{Client: c, interval: frame}, nil
}

// Step renders a frame if one is due.
func (c *Client) Step(now time.Time) error {
	if now.Before(c.next) {
		return nil
	}
	if c.next = c.next.Add(c.interval); c.next.Before(now) {
		c.next = now.Add(c.interval)
	}
	v := c.Client.Step(now)
	c.state = v.State
	if v.State == client.Closed {
		return v.Err
	}
	return nil
}

// Next returns when the next frame is due.
func (c *Client) Next() time.Time { return c.next }

// Playing reports whether the client plays.
func (c *Client) Playing() bool { return c.state == client.Playing }
