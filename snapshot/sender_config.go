package snapshot

// SenderConfig configures a [Sender].
type SenderConfig struct {
	// Window is the greatest age of an entity's baseline, in snapshots. 0 means 64; at
	// most 65 535; negative is an error. It must not be more than the viewer's
	// [ReceiverConfig].History, or its receiver refuses snapshots.
	Window int
	// Spawns is the greatest number of entities that one snapshot shows for the first
	// time. Together these entities have at most 21 times that number of words. 0 means 96;
	// at most 65 535; negative is an error. It must not be more than the viewer's
	// [ReceiverConfig].Spawns.
	Spawns int
	// Visible reports whether the viewer may see an entity, in addition to
	// [Sender.SetVisible]. Every Append calls it for every entity. Nil means all.
	Visible func(NetID) bool
	// Relevant sends an entity only once [Sender.SetRelevant] makes it relevant, or if
	// the viewer owns it. See [Area].
	Relevant bool
	// Everything sends every field of every entity, as if the viewer owned it and were of
	// each audience. The viewer's [ReceiverConfig].Viewer must be 0.
	Everything bool
	// Priority is the gain of an entity each time that it has something to send and
	// does not fit. The entity with the highest sum goes first, so none starves. Values
	// below 1 count as 1. Nil means 1 for all.
	Priority func(NetID) int
	// Cache is shared with other senders, so that equal records are made once; see
	// [Cache]. Nil means none.
	Cache *Cache
	// Statistics counts what is sent, to learn tables from. Nil means none.
	Statistics *Statistics
	// Profile counts the bytes of components and fields. Nil means none.
	Profile *Profile
}

// SenderCounters counts what a [Sender] did.
type SenderCounters struct {
	Snapshots    uint64 // snapshots appended
	Bytes        uint64 // bytes of all snapshots
	Records      uint64 // values of entities in all snapshots
	Spawns       uint64 // values of entities that the viewer does not have yet, coded against the prefab's defaults
	Removals     uint64 // removals and hides in all snapshots, repetitions counted
	Postponed    uint64 // entities put off for lack of room
	OwnPostponed uint64 // snapshots whose room did not hold the viewer's own entities
	GroupsSplit  uint64 // groups sent in parts, because no snapshot would hold them
	TooSmall     uint64 // Appends with too little room for any snapshot
	NoWireID     uint64 // entities not shown because all wire ids were in use
	InPieces     uint64 // records that were longer than a packet, and sent in pieces
	Pieces       uint64 // pieces of the records in InPieces, repetitions counted
	TooLong      uint64 // times that a record was found to be longer than MaxRecord, and not sent
}
