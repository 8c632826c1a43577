package stats

import "github.com/foretick/foretick/internal/counts"

// Server counts what a server did since it began. Each field is a counter: logs, sums of several
// servers, the inspector's page and Prometheus go over all of them.
type Server struct {
	Ticks            uint64 // ticks computed
	Slips            uint64 // times the server skipped time after a stall: one Step computes at most 4 ticks
	TicksLost        uint64 // ticks that were skipped in slips
	SnapshotsSkipped uint64 // snapshots that were due and not sent, because the same Step computed a newer one: the server was behind
	BytesOut         uint64 // bytes handed to the transport, this library's headers included
	BytesIn          uint64 // bytes received from the transport
	PacketsOut       uint64 // packets handed to the transport
	PacketsIn        uint64 // packets received from the transport
	PacketsRefused   uint64 // packets that the transport refused to send
	InputsMissing    uint64 // ticks without the command of a connected player
	InputsTaken      uint64 // ticks with the command of a connected player, counted per player
	InputsRejected   uint64 // ticks with a command that the game's validator refused
	InputsRerun      uint64 // ticks of InputsMissing whose command came late, and ran in its own tick after all: see server.Config.LateInputs
	InputsHindsight  uint64 // late commands that were refused with LateWorld: their client had the result of their tick
	InputsOverBudget uint64 // late commands that were refused, because the player had too many
	MessagesSent     uint64 // messages queued, counted per recipient
	MessagesRefused  uint64 // reliable messages that a full queue refused
	MessagesResent   uint64 // times a reliable message was sent again
	Requests         uint64 // requests of players, handled
	ViewsOfNobody    uint64 // calls of Frame.Rewind or RewindBehind for a player that does not play: every query misses, see Frame.Present
	SnapshotsUnread  uint64 // reports of clients that could not read a snapshot; the log names each entity at fault
	LongRecords      uint64 // states of entities that were longer than a packet and sent in pieces, counted per player
	RecordsTooLong   uint64 // states of entities of more than 16 KiB, which are not sent, counted per player and try; the log names the entity and component
	NotShown         uint64 // ticks of entities that a player is not shown, because 65 535 others are shown to it: see foretick.Interest
	Malformed        uint64 // packets or messages that could not be parsed
	Joined           uint64 // players that joined the match
	Left             uint64 // players that left the match
	Observers        uint64 // observers let in
	Resumed          uint64 // times a player came back to its place
	Panics           uint64 // panics in handlers that run for one player; the player was dropped
	CorePanics       uint64 // panics in decoding a peer's bytes; the peer was dropped: a fault of this library; please report it
	PlacesTaken      uint64 // places of absent players that newcomers took on a full server
	EventsNested     uint64 // events that handlers of the same event raised too deep
	Offenders        uint64 // peers dropped for breaking rules that no honest client breaks
	Refused          uint64 // peers turned away: full, banned, too many of one address, another protocol, no observers, or the match has ended
	Overflowed       uint64 // players dropped because too many messages waited for them
	Displaced        uint64 // players dropped because the world had no room for an entity of theirs: see server.Config.MaxClients
	OtherBuilds      uint64 // players of other builds let in
	SchemasAsked     uint64 // requests for the schema
	ValuesCut        uint64 // ticks of entities with a string or slice too long for its tag, or a string that is no UTF-8
	ValuesOutside    uint64 // ticks of components, and messages, with a number that its tag's range does not hold, NaN or infinity: see expert.ServerLosses
	ChangesSwallowed uint64 // changes that rounding to the grid undoes in every tick, checked every 16th tick: see expert.ServerLosses
}

// Add adds the counters of another server.
func (s *Server) Add(other *Server) { counts.Add(s, other) }

// String returns the counters that are not zero as one line for a log.
func (s Server) String() string { return counts.Line(s) }
