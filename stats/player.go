package stats

import (
	"time"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/lagcomp"
)

// Player counts one player's share, on the server, since the player joined. A field whose comment says
// "on this connection" counts from the newest connection.
type Player struct {
	BytesOut, BytesIn     uint64 // bytes sent to the player, and received from it
	PacketsOut, PacketsIn uint64 // packets sent to the player, and received from it
	InputsMissing         uint64 // ticks without a command of the player while it was connected
	InputsTaken           uint64 // ticks with a command of the player
	InputsRejected        uint64 // commands that the game's validator refused
	// InputsRerun counts the ticks of InputsMissing whose command came late and then ran in its own
	// tick after all: see server.Config.Late.Window.
	InputsRerun uint64
	// InputsHindsight counts late commands that were refused with Late.World, because their client
	// already had the result of their tick.
	InputsHindsight  uint64
	InputsOverBudget uint64 // late commands that were refused, because the player had too many
	InputsLate       uint64 // commands that came after their tick, or after the window for late ones
	// InputsDuplicate counts commands received again. That is normal, because a client sends each
	// command in several packets.
	InputsDuplicate uint64
	// InputsReplaced counts commands that replaced an earlier one of the same future tick, because the
	// client's clock was set back.
	InputsReplaced  uint64
	InputsFar       uint64 // commands for too far in the future, refused
	SnapshotsUnread uint64 // reports of snapshots that the player's client could not read
	InputsMalformed uint64 // command messages that did not parse
	Requests        uint64 // requests of the player, handled
	// Clamped counts commands whose claimed render time was replaced by the nearest allowed one; Claims
	// has the reasons.
	Clamped uint64
	// Claims counts, by reason, how the player's claims of a render time were judged.
	Claims lagcomp.JudgeStats
	// Queued is the bytes of reliable messages that wait for the player. Each message counts as a
	// multiple of 256 bytes, rounded up. At 256 KiB the player is disconnected, or loses its held
	// place.
	Queued int
	RTT    time.Duration // round trip to the player as the server measures it; 0 while the player is away
	// InputBuffer is the shortest time from the arrival of a command to its tick, of the player's
	// commands since the snapshot before. It is negative if a command came too late.
	InputBuffer time.Duration
	// RenderDelay is the age of the frame that the player acted on: from the frame's render time, as
	// the client reports it, to the tick of the newest command.
	RenderDelay   time.Duration
	PacketsLost   uint64 // packets to the player that were lost, on this connection
	PacketsLostIn uint64 // packets of the player that did not arrive, on this connection: see netcode.Stats.LostIn
	FragmentsLost uint64 // pieces of reliable messages in lost packets to the player, on this connection
	// ConnectionNumber is the ordinal of the player's connection among all connections that the server
	// had. A reconnect gets a new one.
	ConnectionNumber uint64
	// SessionNumber is the ordinal of the player's session among all sessions that the server had. A
	// session lasts from joining to leaving, across lost connections.
	SessionNumber uint64
}

// String returns the counters that are not zero as one line for a log, with the round
// trip and why claims were clamped.
func (s Player) String() string { return counts.Line(s) }
