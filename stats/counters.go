package stats

import "github.com/foretick/foretick/internal/counts"

// Counters has what a server did since it began: server.Server.Stats returns them alone, and [Server] has
// them too. Each field is a counter. Logs, sums of several servers, the inspector's page and Prometheus
// include them all.
type Counters struct {
	Ticks     uint64 // ticks computed
	Slips     uint64 // times the server skipped time after a stall: one Step computes at most 4 ticks
	TicksLost uint64 // ticks that were skipped in slips
	// SnapshotsSkipped counts snapshots that were due and not sent, because the same Step computed a
	// newer one: the server was behind.
	SnapshotsSkipped uint64
	BytesOut         uint64 // bytes handed to the transport, this library's headers included
	BytesIn          uint64 // bytes received from the transport
	PacketsOut       uint64 // packets handed to the transport
	PacketsIn        uint64 // packets received from the transport
	PacketsRefused   uint64 // packets that the transport refused to send
	InputsMissing    uint64 // ticks without the command of a connected player
	InputsTaken      uint64 // ticks with the command of a connected player, counted per player
	InputsRejected   uint64 // ticks with a command that the game's validator refused
	// InputsRerun counts the ticks of InputsMissing whose command came late and then ran in its own
	// tick after all: see server.Config.Late.Window.
	InputsRerun uint64
	// InputsHindsight counts late commands that were refused with Late.World, because their client
	// already had the result of their tick.
	InputsHindsight  uint64
	InputsOverBudget uint64 // late commands that were refused, because the player had too many
	MessagesSent     uint64 // messages queued, counted per recipient
	MessagesRefused  uint64 // reliable messages that a full queue refused
	MessagesResent   uint64 // times a reliable message was sent again
	Requests         uint64 // requests of players, handled
	// ViewsOfNobody counts calls of Frame.Rewind or RewindBehind for a player that does not play. Every
	// query of such a view misses: see Frame.Present.
	ViewsOfNobody   uint64
	SnapshotsUnread uint64 // reports of clients that could not read a snapshot; the log names each entity at fault
	LongRecords     uint64 // states of entities that were longer than a packet and sent in pieces, counted per player
	// RecordsTooLong counts states of entities of more than 16 KiB, which are not sent, once for each
	// player and try. The log names the entity and the component.
	RecordsTooLong uint64
	// NotShown counts the ticks of entities that a player does not receive because it already has 65
	// 535 others: see foretick.Interest.
	NotShown  uint64
	Malformed uint64 // packets or messages that could not be parsed
	Joined    uint64 // players that joined the match
	Left      uint64 // players that left the match
	Observers uint64 // observers let in
	Resumed   uint64 // times a player came back to its place
	Panics    uint64 // panics in handlers that run for one player; the player was dropped
	// CorePanics counts panics in decoding a peer's bytes; the peer was dropped. They are a fault of
	// this library: please report them.
	CorePanics  uint64
	PlacesTaken uint64 // places of absent players that newcomers took on a full server
	// EventsNested counts events that handlers of the same event raised at too great a depth, which
	// were dropped.
	EventsNested uint64
	Offenders    uint64 // peers dropped for breaking rules that no honest client breaks
	// Refused counts refused peers: full, banned, too many of one address, another protocol, no
	// observers, or the match has ended.
	Refused    uint64
	Overflowed uint64 // players dropped because too many messages waited for them
	// Stranded counts players dropped because the world had no room for an entity of theirs: see
	// server.Config.MaxClients.
	Stranded     uint64
	OtherBuilds  uint64 // players of other builds let in
	SchemasAsked uint64 // requests for the schema
	// ValuesCut counts ticks of entities with a string or slice too long for its tag, or a string that
	// is not UTF-8.
	ValuesCut uint64
	// ValuesOutside counts ticks of components, and messages, with a number outside the range of its
	// tag, NaN or infinity: see server.Server.Losses.
	ValuesOutside uint64
	// ChangesSwallowed counts changes that rounding to the grid undoes in every tick, checked every
	// 16th tick: see server.Server.Losses.
	ChangesSwallowed uint64
}

// Add adds the counters of another server.
func (s *Counters) Add(other *Counters) { counts.Add(s, other) }

// String returns the counters that are not zero as one line for a log.
func (s Counters) String() string { return counts.Line(s) }
