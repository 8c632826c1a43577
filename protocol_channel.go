package foretick

import (
	"fmt"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
)

// A connection has room for what the standard says.
const _ = uint(netcode.MaxChannels - standard.GameChannels - standard.MaxGameChannels)

// Channel declares a channel for messages, in addition to the one that every protocol has.
// A message names it in [Message].Channel. Channels do not wait for each other: a long or a lost
// message delays its own channel only. Channels share the bytes that a packet has left
// after the snapshot, by priority. The default channel is reliable and has priority 4.
//
// A channel that is not Reliable carries messages of up to 256 bytes. Each may be lost, and
// none waits for another. Use it for effects that are worth nothing later. A reliable
// channel queues up to 256 KiB if c.Queue is 0. See [Message.Send] for a full queue.
//
// The name, the priority, and whether the channel is reliable are part of the hash. A
// protocol has at most six.
func (p *Protocol) Channel(name string, c netcode.Channel) {
	switch {
	case p.late("Channel") || !p.named("Channel", name):
		return
	case p.compiled.ChannelNamed(name) >= 0:
		p.faultf("channel %q is declared twice", name)
		return
	case len(p.compiled.Channels) == standard.MaxGameChannels:
		p.faultf("channel %q is one too many: a protocol has at most %d", name, standard.MaxGameChannels)
		return
	}
	if c.Reliable && c.Queue == 0 {
		c.Queue = maxQueued
	}
	p.compiled.Channels = append(p.compiled.Channels, layout.Channel{Name: name, Channel: c})
	if err := (netcode.Config{Channels: p.compiled.NetChannels()}).Validate(); err != nil {
		p.fault(fmt.Errorf("foretick: channel %q: %w", name, err))
	}
}

// maxQueued limits the bytes of reliable messages that wait for one client. Each started
// 256 bytes of a message count as 256.
const maxQueued = 256 << 10
