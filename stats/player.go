package stats

import (
	"time"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/lagcomp"
)

// Player counts one player's share, on the server, since the player joined. Where a
// comment says so, a field counts from the newest connection.
type Player struct {
	BytesOut, BytesIn     uint64             // bytes sent to the player, and received from it
	PacketsOut, PacketsIn uint64             // packets sent to the player, and received from it
	InputsMissing         uint64             // ticks without a command of the player while it was connected
	InputsTaken           uint64             // ticks with a command of the player
	InputsRejected        uint64             // commands that the game's validator refused
	InputsRerun           uint64             // ticks of InputsMissing whose command came late, and ran in its own tick after all: see server.Config.LateInputs
	InputsHindsight       uint64             // late commands that were refused with LateWorld: their client had the result of their tick
	InputsOverBudget      uint64             // late commands that were refused, because the player had too many
	InputsLate            uint64             // commands that came after their tick, or after the window for late ones
	InputsDuplicate       uint64             // commands received again; normal, because a client sends each command in several packets
	InputsReplaced        uint64             // commands that replaced an earlier one of the same future tick: the client's clock was set back
	InputsFar             uint64             // commands for too far in the future, refused
	SnapshotsUnread       uint64             // reports of snapshots that it could not read
	InputsMalformed       uint64             // command messages that did not parse
	Requests              uint64             // requests of the player, handled
	Clamped               uint64             // commands whose claimed render time was replaced by the nearest allowed one; Claims says why
	Claims                lagcomp.JudgeStats // how the player's claims of a render time were judged, by reason
	Queued                int                // bytes of reliable messages that wait for the player, each started 256 bytes of a message counted as 256; at 256 KiB it is disconnected, or loses its held place
	RTT                   time.Duration      // round trip to the player as the server measures it; 0 while the player is away
	InputBuffer           time.Duration      // shortest time from the arrival of a command to its tick, of the player's commands since the snapshot before; negative: one came too late
	RenderDelay           time.Duration      // age of the frame that the player acted on: from its render time, as the client says, to the tick of the newest command
	PacketsLost           uint64             // packets to the player that were lost, on this connection
	PacketsLostIn         uint64             // packets of the player that did not come, on this connection: see netcode.Stats.LostIn
	FragmentsLost         uint64             // pieces of reliable messages in lost packets to the player, on this connection
	ConnectionNumber      uint64             // ordinal of the player's connection among all that the server had; a reconnect gets a new one
	SessionNumber         uint64             // ordinal of the player's session among all that the server had; it lasts from joining to leaving, across lost connections
}

// String returns the counters that are not zero as one line for a log, with the round
// trip and why claims were clamped.
func (s Player) String() string { return counts.Line(s) }
