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
	// MinMTU is the smallest datagram that the protocol works with, in bytes. A
	// stream fragment still fits next to the messages of a greedy caller.
	MinMTU = 400

	maxRate = 1 << 30        // bytes a second
	maxAge  = 24 * time.Hour // the most that any duration in a config may say
)

// Config configures a [Conn]. The zero value is the default.
type Config struct {
	// MTU is the longest datagram that Finish returns, in bytes. 0 means 1200;
	// negative is an error. It must be at least MinMTU, so that a stream
	// fragment always fits.
	MTU int
	// Timeout is the longest silence allowed to a peer, up to 24 h. 0 means 5
	// s; negative is an error. The Conn does not act on it: compare it with
	// [Conn.Silent].
	Timeout time.Duration
	// Rate is the ceiling on sent datagrams, in bytes a second. 0 means 32 000;
	// negative is an error. At most 2³⁰. Congestion lowers the rate in force
	// and never raises it above Rate. Acknowledgements and 64 bytes of messages
	// a packet are always sent, and are paid for later.
	Rate int
	// MinRate is the lowest rate that congestion may force, in bytes a second.
	// 0 means 4 000, or Rate if that is smaller; negative is an error. At most
	// Rate.
	MinRate int
	// FixedRate switches congestion control off: Rate is always in force.
	FixedRate bool
	// Secure says that the transport authenticates datagrams, so packets carry
	// no checksum. Both ends must agree.
	Secure bool
	// Magic is mixed into the checksum; both ends must agree. 0 is a value like any
	// other. Set it to the secret half of a connection id, if the transport has one.
	// Then an attacker who cannot read the traffic forges a packet only with a chance
	// of 2⁻³² per try. An attacker who can read the traffic can still forge packets,
	// because a checksum is no authentication: use a secure transport against that.
	// Even so, a single forged packet moves neither the window of accepted sequence
	// numbers nor the acknowledgements. Both move far only when a second packet
	// arrives with a number near that of the first.
	Magic uint64
	// Channels configures what SendOn sends on: element i is channel i, and
	// there are at most MaxChannels. The first one, which SendReliable uses,
	// must be Reliable. Both ends must agree. Empty means one reliable channel.
	Channels []Channel
	// Newcomer says that the peer is not trusted yet. Until [Conn.Admit], the
	// peer can make the Conn store only two whole out-of-order messages of up
	// to 256 bytes per reliable channel, and no event. A packet with more is
	// refused with ErrBacklog.
	Newcomer bool
}

// ConfigError lists every fault of a config. The panic of NewConn unwraps to it.
type ConfigError struct{ Err error }

// Error returns a text that names the faults.
func (e *ConfigError) Error() string { return "netcode: config: " + e.Err.Error() }

// Unwrap returns the joined faults.
func (e *ConfigError) Unwrap() error { return e.Err }

// Validate returns nil, or a *ConfigError that lists every fault.
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
		errs = append(errs, fmt.Errorf("Channels has %d entries, must be at most %d", len(c.Channels), MaxChannels))
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
