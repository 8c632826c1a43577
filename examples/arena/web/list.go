package web

// The draw list is what a page draws in a frame: HeaderSize numbers about the player, and then records
// of RecordSize numbers each. The first number of a record is its kind. Lengths are metres. Angles are
// radians, counter-clockwise from the right. README.md lists the numbers of each kind.
const (
	HeaderSize = 16
	RecordSize = 8
	// ListSize is the most numbers in a draw list. Records that do not fit are left out.
	ListSize = HeaderSize + 2048*RecordSize
)

// The numbers of the header.
const (
	headRecords = iota
	headState   // client.State
	headPlayer
	headX      // x of the player's own body on the screen
	headY      // y of the player's own body on the screen
	headHealth // 0 to 1
	headAmmo
	headGun
	headReload // share of reloading or cooling down that is left, 0 to 1
	headFlags  // flags of the player's own body
	headField  // half the side of the field
	headTick
	headStalled
	headFrozen // 1 while the button freezes the client
	headSpike  // 1 while the button adds latency
	headHurt   // 1 when the player was hit, fading to 0
)

// The kinds of records, and the numbers after the kind.
const (
	kindWall   = 1 + iota // x0 y0 x1 y1
	kindBody              // x y angle team health flags player
	kindBolt              // x y angle
	kindTracer            // x y x2 y2 age own
	kindGhost             // x y radius which player
	kindRing              // x y radius which: a hitbox of the last shot
	kindLine              // x y x2 y2 hit: the last shot's line of fire
)

// The flags of a body.
const (
	flagDead = 1 << iota
	flagStunned
	flagOwn
)

// The ghosts.
const (
	ghostOwnNow    = 1 + iota // the server's present position of the player
	ghostOwnTold              // the player's position in the newest snapshot
	ghostOthers               // the others' positions in the newest snapshots
	ghostOthersNow            // the server's present positions of the others
)

// The hitboxes of the last shot.
const (
	ringSaw  = 1 + iota // on the shooter's screen
	ringUsed            // those that the server judged by
	ringHad             // those of the server's present
)

// list is a draw list that is being filled.
type list struct{ numbers []float32 }

func (l *list) begin() { l.numbers = append(l.numbers[:0], make([]float32, HeaderSize)...) }

func (l *list) add(kind float32, of ...float32) {
	if len(l.numbers)+RecordSize > ListSize {
		return
	}
	at := len(l.numbers)
	l.numbers = l.numbers[:at+RecordSize]
	r := l.numbers[at:]
	clear(r)
	r[0] = kind
	copy(r[1:], of)
	l.numbers[headRecords]++
}
