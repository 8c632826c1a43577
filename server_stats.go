package foretick

import (
	"time"

	"github.com/foretick/foretick/internal/counts"
	"github.com/foretick/foretick/lagcomp"
)

// ServerStats counts what a server did since it began.
type ServerStats struct {
	Ticks            uint64 // ticks computed
	Slips            uint64 // times it skipped time after a stall
	BytesOut         uint64 // handed to the transport, this library's headers included
	BytesIn          uint64 // received from it
	PacketsOut       uint64
	PacketsIn        uint64
	PacketsRefused   uint64 // packets that the transport refused
	InputsMissing    uint64 // ticks without the command of a connected player
	InputsTaken      uint64 // ticks with it
	InputsRejected   uint64 // ticks with a command that the game's validator refused
	MessagesSent     uint64 // messages queued, counted per recipient
	MessagesRefused  uint64 // reliable messages that a full queue refused
	MessagesResent   uint64 // times a reliable message was sent again
	Requests         uint64 // requests of players, handled
	ViewsOfNobody    uint64 // calls of Frame.Rewind or RewindBehind for a player that does not play: every query misses, see Frame.Present
	Malformed        uint64 // packets or messages that could not be parsed
	Joined, Left     uint64 // players
	Observers        uint64 // observers let in
	Resumed          uint64 // times a player came back to its place
	Panics           uint64 // panics in handlers for one player, which was dropped
	CorePanics       uint64 // panics in decoding a peer's bytes, which was dropped: a fault of this library; please report it
	PlacesTaken      uint64 // places of absent players that newcomers took on a full server
	EventsNested     uint64 // events that handlers of the same event raised too deep
	Offenders        uint64 // peers dropped for breaking rules that no honest client breaks
	Refused          uint64 // peers turned away: full, banned, too many of one address, another protocol, or the match has ended
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

// PlayerStats counts one player's share, on the server.
type PlayerStats struct {
	BytesOut, BytesIn     uint64
	PacketsOut, PacketsIn uint64
	InputsMissing         uint64
	InputsTaken           uint64
	InputsRejected        uint64             // commands that the game's validator refused
	InputsLate            uint64             // commands that came after their tick
	InputsDuplicate       uint64             // commands received again: redundancy brings them
	InputsReplaced        uint64             // commands received again, changed, for a future tick: the client's clock was set back
	InputsFar             uint64             // commands for too far in the future, refused
	InputsMalformed       uint64             // command messages that did not parse
	Requests              uint64             // requests of the player, handled
	Clamped               uint64             // claims of a render time that were not granted as made
	Claims                lagcomp.JudgeStats // why, and how they were judged
	Queued                int                // bytes of reliable messages that wait for it, each started 256 bytes of a message counted as 256; at 256 KiB it is disconnected, or loses its held place
	RTT                   time.Duration      // round trip as the server measures it; 0 while away
	InputBuffer           time.Duration      // how long its commands waited for their tick: the least since the snapshot before; negative: too late
	RenderDelay           time.Duration      // from the frame that it saw, by its own account, to the tick of the command given there
	PacketsLost           uint64             // packets to it that were lost, on this connection
	PacketsLostIn         uint64             // packets of it that did not come, on this connection: see netcode.Stats.LostIn
	FragmentsLost         uint64             // pieces of reliable messages in the packets lost to it, on this connection
	Connection            uint64             // number of its connection, of all that the server had
	Session               uint64             // number of its session, of all that the server had; it lasts from joining to leaving, across lost connections
}

// String returns the counters that are not zero as one line for a log, with the round
// trip and why claims were clamped.
func (s PlayerStats) String() string { return counts.Line(s) }
