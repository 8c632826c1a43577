package web

// The draw list is what a page draws in a frame: HeaderSize numbers about the player, and
// then records of RecordSize numbers each, whose first is the kind. Lengths are metres, and
// angles are radians, counter-clockwise from the right. README.md lists what each kind has.
const (
	HeaderSize = 16
	RecordSize = 8
	// ListSize is the most numbers in a draw list: what does not fit is left out.
	ListSize = HeaderSize + 2048*RecordSize
)

// The numbers of the header.
const (
	headRecords = iota
	headState   // client.State
	headPlayer
	headX // where the player's own body is drawn
	headY
	headHealth // 0 to 1
	headAmmo
	headGun
	headReload // 0 to 1: the share of reloading or cooling down that is left
	headFlags  // as of a body
	headField  // half the side of the field
	headTick
	headStalled
	headFrozen // 1: by the button
	headSpike  // 1: by the button
	headHurt   // 1, fading to 0: the player was hit
)

// The kinds of records, and what the other numbers are.
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
	ghostOwnNow    = 1 + iota // where the server has the player now
	ghostOwnTold              // where the newest snapshot has the player
	ghostOthers               // where the newest snapshots have the others
	ghostOthersNow            // where the server has the others now
)

// The hitboxes of the last shot.
const (
	ringSaw  = 1 + iota // on the shooter's screen
	ringUsed            // that the server judged by
	ringHad             // of the server's present
)

// list is a draw list that is being made.
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
