package foretick

import (
	"time"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/lagcomp"
)

// ServerStats counts what a server did since it began.
type ServerStats struct {
	Ticks            uint64 // ticks computed
	Slips            uint64 // times the server skipped time after a stall: one Step computes at most 4 ticks
	BytesOut         uint64 // bytes handed to the transport, this library's headers included
	BytesIn          uint64 // bytes received from the transport
	PacketsOut       uint64 // packets handed to the transport
	PacketsIn        uint64 // packets received from the transport
	PacketsRefused   uint64 // packets that the transport refused to send
	InputsMissing    uint64 // ticks without the command of a connected player
	InputsTaken      uint64 // ticks with the command of a connected player, counted per player
	InputsRejected   uint64 // ticks with a command that the game's validator refused
	InputsRerun      uint64 // ticks of InputsMissing whose command came late, and ran in its own tick after all: see ServerConfig.LateInputs
	InputsOverBudget uint64 // late commands that were refused, because the player had too many
	MessagesSent     uint64 // messages queued, counted per recipient
	MessagesRefused  uint64 // reliable messages that a full queue refused
	MessagesResent   uint64 // times a reliable message was sent again
	Requests         uint64 // requests of players, handled
	ViewsOfNobody    uint64 // calls of Frame.Rewind or RewindBehind for a player that does not play: every query misses, see Frame.Present
	Malformed        uint64 // packets or messages that could not be parsed
	Joined, Left     uint64 // players that joined the match, and players that left it
	Observers        uint64 // observers let in
	Resumed          uint64 // times a player came back to its place
	Panics           uint64 // panics in handlers that run for one player; the player was dropped
	CorePanics       uint64 // panics in decoding a peer's bytes; the peer was dropped: a fault of this library; please report it
	PlacesTaken      uint64 // places of absent players that newcomers took on a full server
	EventsNested     uint64 // events that handlers of the same event raised too deep
	Offenders        uint64 // peers dropped for breaking rules that no honest client breaks
	Refused          uint64 // peers turned away: full, banned, too many of one address, another protocol, no observers, or the match has ended
	Overflowed       uint64 // players dropped because too many messages waited for them
	Displaced        uint64 // players dropped because the world had no room for an entity of theirs: see ServerConfig.MaxClients
	OtherBuilds      uint64 // players of other builds let in
	SchemasAsked     uint64 // requests for the schema
	ValuesCut        uint64 // ticks of entities with a string or slice too long for its tag, or a string that is no UTF-8
	ValuesOutside    uint64 // ticks of components, and messages, with a number that its tag's range does not hold, or NaN: see Server.Losses
	ChangesSwallowed uint64 // changes that rounding to the grid undoes in every tick, checked every 16th tick: see Server.Losses
}

// String returns the counters that are not zero as one line for a log.
func (s ServerStats) String() string { return counts.Line(s) }

// PlayerStats counts one player's share, on the server, since the player joined. Where a
// comment says so, a field counts from the newest connection.
type PlayerStats struct {
	BytesOut, BytesIn     uint64             // bytes sent to the player, and received from it
	PacketsOut, PacketsIn uint64             // packets sent to the player, and received from it
	InputsMissing         uint64             // ticks without a command of the player while it was connected
	InputsTaken           uint64             // ticks with a command of the player
	InputsRejected        uint64             // commands that the game's validator refused
	InputsRerun           uint64             // ticks of InputsMissing whose command came late, and ran in its own tick after all: see ServerConfig.LateInputs
	InputsOverBudget      uint64             // late commands that were refused, because the player had too many
	InputsLate            uint64             // commands that came after their tick, or after the window for late ones
	InputsDuplicate       uint64             // commands received again; normal, because a client sends each command in several packets
	InputsReplaced        uint64             // commands that replaced an earlier one of the same future tick: the client's clock was set back
	InputsFar             uint64             // commands for too far in the future, refused
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
func (s PlayerStats) String() string { return counts.Line(s) }
