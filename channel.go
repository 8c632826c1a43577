package foretick

import (
	"fmt"

	"github.com/foretick/foretick/netcode"
)

// MaxChannels is how many channels of its own a game has at most.
const MaxChannels = netcode.MaxChannels - gameChannels

// Channels that every connection has; the game's follow.
const (
	channelMain    = iota // messages that name no channel
	channelSchemas        // schemas, to peers that ask
	gameChannels
)

// channel is a way that messages travel.
type channel struct {
	name string
	netcode.Channel
}

// mainPriority is what the channel of messages that name none has against the
// game's own.
const mainPriority = 4

// Channel declares a way for messages to travel beside the one that they share
// otherwise; name it with [Via]. Channels do not wait for one another: a long
// message, or a lost one, holds up its own channel alone. What all of them owe
// shares what a packet has left by the snapshot, by priority; the channel that
// every protocol has is reliable, with priority 4. A channel that is not
// Reliable carries messages of up to 256 bytes, each of which may be lost, and
// none of which waits for another: effects, say, that are worth nothing later. A
// reliable one queues up to 256 KiB where c.Queue is 0; see [Message.Send] for what
// happens beyond.
// Its name, whether it is reliable, and its priority are part of the hash. A
// protocol has at most MaxChannels.
func (p *Protocol) Channel(name string, c netcode.Channel) {
	switch {
	case p.late("Channel") || !p.named("Channel", name):
		return
	case p.channel(name) >= 0:
		p.faultf("channel %q is declared twice", name)
		return
	case len(p.channels) == MaxChannels:
		p.faultf("channel %q is one too many: a protocol has at most %d", name, MaxChannels)
		return
	}
	if c.Reliable && c.Queue == 0 {
		c.Queue = maxQueued
	}
	p.channels = append(p.channels, channel{name, c})
	if err := (netcode.Config{Channels: p.netChannels()}).Validate(); err != nil {
		p.fault(fmt.Errorf("foretick: channel %q: %w", name, err))
	}
}

// channel is the number of a channel by its name, −1 when there is none.
func (p *Protocol) channel(name string) int {
	for i := range p.channels {
		if p.channels[i].name == name {
			return gameChannels + i
		}
	}
	return -1
}

// reliable tells whether a channel is.
func (p *Protocol) reliable(number uint8) bool {
	return number < gameChannels || p.channels[number-gameChannels].Reliable
}

// netChannels are all channels of a connection.
func (p *Protocol) netChannels() []netcode.Channel {
	all := make([]netcode.Channel, gameChannels, netcode.MaxChannels)
	all[channelMain] = netcode.Channel{Reliable: true, Priority: mainPriority}
	all[channelSchemas] = netcode.Channel{Reliable: true}
	for _, c := range p.channels {
		all = append(all, c.Channel)
	}
	return all
}

// MessageOption says how a message travels.
type MessageOption func(*messageOptions)

type messageOptions struct {
	channel string
	via     bool
}

// Via has a message travel by a channel that was declared with
// [Protocol.Channel], instead of the one that all others share.
func Via(channel string) MessageOption {
	return func(o *messageOptions) { o.channel, o.via = channel, true }
}
