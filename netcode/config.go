package netcode

import (
	"errors"
	"fmt"
	"time"
)

// Limits of the protocol.
const (
	// MaxReliable is the longest payload of a reliable message, in bytes.
	MaxReliable = 64 << 10
	// MinMTU is the smallest datagram the protocol works with, in bytes: a
	// fragment of the stream fits beside what a greedy caller leaves of it.
	MinMTU = 400

	maxRate = 1 << 30        // bytes a second
	maxAge  = 24 * time.Hour // of anything that a config may say
)

// Config is what a [Conn] may be told. The zero value is the default.
type Config struct {
	// MTU is the longest datagram that Finish returns, in bytes. 0 means 1200;
	// negative is an error. At least MinMTU, so that a fragment of the stream always
	// fits.
	MTU int
	// Timeout is how long a peer may be silent, up to 24 h. 0 means 5 s; negative is
	// an error. The Conn does not act on it: compare with [Conn.Silent].
	Timeout time.Duration
	// Rate is the ceiling of what is sent, in bytes a second of datagrams.
	// 0 means 32 000; negative is an error. At most 2³⁰. Congestion lowers the rate in force, never raises it above
	// this. Acknowledgements and 64 bytes of messages a packet always go, and
	// are paid for later.
	Rate int
	// MinRate is the floor that congestion may lower the rate to, in bytes a
	// second. 0 means 4 000, or Rate where that is smaller; negative is an error. At
	// most Rate.
	MinRate int
	// FixedRate switches congestion control off: Rate is always in force.
	FixedRate bool
	// Secure says that the transport authenticates datagrams, so the checksum is
	// left out of packets. Both ends must agree.
	Secure bool
	// Magic is mixed into the checksum; both ends must agree. 0 is a value like
	// any other. Give it the secret half of a connection id, where the transport
	// has one, and somebody who cannot read the traffic cannot forge a packet
	// either, but for a chance of 2⁻³² each. Somebody who can read it can: a
	// checksum is no authentication. Against that, use a secure transport. What
	// the Conn does meanwhile: one forged packet moves neither the window of
	// acceptable sequence numbers nor the acknowledgements, which follow where
	// two packets in a row have been.
	Magic uint64
	// Channels are what SendOn sends on: the i-th is channel i, of at most
	// MaxChannels. The first one, which SendReliable uses, must be Reliable.
	// Both ends must agree. Empty means that one alone.
	Channels []Channel
	// Newcomer says that nothing is known of the peer yet. Until [Conn.Admit] it can
	// make the Conn keep very little: of each reliable channel two whole messages of
	// up to 256 bytes that wait for their turn, and no event. A packet with more is
	// refused with ErrBacklog.
	Newcomer bool
}

// ConfigError lists every fault of a Config. NewConn panics with it.
type ConfigError struct{ Err error }

// Error names the faults.
func (e *ConfigError) Error() string { return "netcode: config: " + e.Err.Error() }

// Unwrap gives the joined faults.
func (e *ConfigError) Unwrap() error { return e.Err }

// Validate reports every fault at once, as a *ConfigError, or nil.
func (c Config) Validate() error {
	c = c.defaults()
	var errs []error
	if c.MTU < MinMTU || c.MTU > 65507 {
		errs = append(errs, fmt.Errorf("MTU is %d bytes, must be %d to 65507", c.MTU, MinMTU))
	}
	if c.Timeout < 0 || c.Timeout > maxAge {
		errs = append(errs, fmt.Errorf("Timeout is %v, must be positive and at most %v", c.Timeout, maxAge))
	}
	if c.Rate < 0 || c.Rate > maxRate {
		errs = append(errs, fmt.Errorf("Rate is %d bytes/s, must be positive and at most %d", c.Rate, maxRate))
	}
	if c.MinRate < 0 || c.MinRate > c.Rate {
		errs = append(errs, fmt.Errorf("MinRate is %d bytes/s, must be positive and at most Rate (%d)", c.MinRate, c.Rate))
	}
	if len(c.Channels) > MaxChannels {
		errs = append(errs, fmt.Errorf("Channels are %d, must be at most %d", len(c.Channels), MaxChannels))
	}
	for i, ch := range c.Channels {
		errs = append(errs, ch.faults(i)...)
	}
	if len(errs) > 0 {
		return &ConfigError{errors.Join(errs...)}
	}
	return nil
}

func (c Config) defaults() Config {
	if c.MTU == 0 {
		c.MTU = 1200
	}
	if c.Timeout == 0 {
		c.Timeout = 5 * time.Second
	}
	if c.Rate == 0 {
		c.Rate = 32000
	}
	if c.MinRate == 0 {
		c.MinRate = min(4000, c.Rate)
	}
	given := c.Channels
	if len(given) == 0 {
		given = []Channel{{Reliable: true}}
	}
	c.Channels = make([]Channel, len(given))
	for i, ch := range given {
		c.Channels[i] = ch.defaults(i)
	}
	return c
}
