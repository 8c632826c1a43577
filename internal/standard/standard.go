// Package standard holds numbers of docs/STANDARD.md that several packages need.
package standard

// Tick rates that a protocol may have, in ticks a second.
const (
	MinTickRate     = 10
	MaxTickRate     = 128
	DefaultTickRate = 30
)

// Channels that every connection has. The game's channels follow.
const (
	ChannelMain    = iota // messages that name no channel
	ChannelSchemas        // schemas, to peers that ask
	GameChannels          // the first of the game's
)

const (
	// MainPriority is the priority of ChannelMain.
	MainPriority = 4
	// MaxGameChannels is the largest number of channels that a game can declare.
	MaxGameChannels = 6
	// MaxPlayers is the largest number of players, and of owners' numbers.
	MaxPlayers = 4096
	// MaxMessages is the largest number of kinds of messages, and of requests.
	MaxMessages = 253
	// MaxMessageFields bounds the fields of all messages and requests, every element of a
	// slice counted: few bytes claim many.
	MaxMessageFields = 1 << 15
	// MaxText is the longest name in a schema, in bytes.
	MaxText = 255
	// MaxNames is the largest number of names in one list of a schema.
	MaxNames = 4096
	// MaxTags is the largest number of tags of shared systems: a Welcome has a bit for each.
	MaxTags = 64
)
