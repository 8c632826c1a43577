package foretick

import (
	"time"
	"unsafe"

	"github.com/foretick/foretick/internal/layout"
	"github.com/foretick/foretick/internal/reason"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/stats"
)

// inputs holds a player's commands: those received, and the replacement of a missing one.
type inputs struct {
	buffer   *netcode.CommandBuffer
	command  unsafe.Pointer // the command of the tick being computed, as a component
	last     unsafe.Pointer // the newest command received, one-shots and sums cleared
	heard    bool           // a command was taken before
	tookTick Tick           // the newest tick that ran a command of its own
	early    time.Duration  // how long commands wait in the buffer, as last measured; 0: too late
	buffered time.Duration  // the same, negative where they come too late
	offset   uint8          // that of the tick's command, 0 if it stated none
	render   time.Duration  // how far the frame that the newest command saw is behind its tick

	repeated time.Duration
	replaced reason.Substitution // the ticks whose command was not the client's
}

// addTo adds what the current connection's buffer counted.
func (in *inputs) addTo(st *stats.Player) {
	if in.buffer == nil {
		return
	}
	late, duplicate, far, malformed := in.buffer.Stats()
	st.InputsLate += late
	st.InputsDuplicate += duplicate
	st.InputsFar += far
	st.InputsMalformed += malformed
	st.InputsReplaced += in.buffer.Replaced()
}

// took takes the command that was received for a tick.
func (in *inputs) took(c *layout.Command, t Tick) {
	in.heard, in.repeated, in.tookTick = true, 0, t
	layout.CopyBytes(in.last, in.command, c.Size)
	c.Schema.ClearMomentary(in.last)
}

// missing counts a tick whose command did not arrive, once the player has begun to send
// commands.
func (in *inputs) missing(own *stats.Player, all *stats.Server) {
	if in.heard {
		own.InputsMissing++
		all.InputsMissing++
	}
}

// replace runs a tick with the current value of last, instead of the client's own command.
// acked is the newest snapshot that the client is known to have.
func (in *inputs) replace(c *layout.Command, t, acked Tick, how prediction.StandIn) {
	if r := &in.replaced; r.To == 0 || r.To != t-1 {
		r.Follow(t, acked)
	}
	in.replaced.To = t
	in.offset = 0
	in.replaced.How = how
	layout.CopyBytes(in.command, in.last, c.Size)
	in.replaced.Command = c.Schema.Pack(in.command, in.replaced.Command[:0])
}
