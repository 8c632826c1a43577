package layout

import (
	"github.com/foretick/foretick/internal/standard"
	"github.com/foretick/foretick/netcode"
)

// Channel is a way that messages travel.
type Channel struct {
	Name string
	netcode.Channel
}

// ChannelNamed returns the number of a channel by its name, −1 if there is none.
func (l *Layout) ChannelNamed(name string) int {
	for i := range l.Channels {
		if l.Channels[i].Name == name {
			return standard.GameChannels + i
		}
	}
	return -1
}

// Reliable reports whether a channel is reliable.
func (l *Layout) Reliable(number uint8) bool {
	return number < standard.GameChannels || l.Channels[number-standard.GameChannels].Reliable
}

// NetChannels returns all channels of a connection.
func (l *Layout) NetChannels() []netcode.Channel {
	all := make([]netcode.Channel, standard.GameChannels, netcode.MaxChannels)
	all[standard.ChannelMain] = netcode.Channel{Reliable: true, Priority: standard.MainPriority}
	all[standard.ChannelSchemas] = netcode.Channel{Reliable: true}
	for _, c := range l.Channels {
		all = append(all, c.Channel)
	}
	return all
}
