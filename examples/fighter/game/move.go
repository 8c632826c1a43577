package game

// Act is what a fighter does.
type Act uint8

// What fighters do. From Jab on these are attacks, with a Move each.
const (
	Stand Act = iota
	Crouch
	Jump
	Hurt  // until its stun is over
	Block // until its stun is over
	Down  // lies on the ground, where nothing hits it
	Jab
	Roundhouse
	Sweep
	AirKick
	Throw // of a fireball
	acts
)

// String returns the act in lower case, such as "air kick".
func (a Act) String() string {
	if a >= acts {
		return "?"
	}
	return [acts]string{"stand", "crouch", "jump", "hurt", "block", "down", "jab", "roundhouse", "sweep", "air kick", "fireball"}[a]
}

// Height says how an attack is blocked.
type Height uint8

// The heights of attacks.
const (
	Mid      Height = iota // blocked standing and crouching
	Low                    // blocked crouching
	Overhead               // blocked standing
)

// Move is the frame data of an attack, in ticks. An attack hits in its active ticks, which follow
// Startup ticks. After Recovery ticks more the fighter is free.
type Move struct {
	Startup, Active, Recovery uint16
	Hit, Block                uint8 // for how many ticks it stuns
	Damage                    int16
	Push                      int32 // how fast it moves the other away at first, in millimetres a tick
	Height                    Height
	Fells                     bool // a hit throws the other to the ground
	Reach                     Box  // where it hits
}

// moves is the frame data of all attacks. That of Throw is the fireball's: it is blocked and hits as
// an attack does.
var moves = [acts]Move{
	Jab:        {Startup: 4, Active: 3, Recovery: 7, Hit: 13, Block: 10, Damage: 45, Push: 70, Reach: Box{250, 1150, 850, 1400}},
	Roundhouse: {Startup: 9, Active: 4, Recovery: 16, Hit: 21, Block: 14, Damage: 95, Push: 120, Reach: Box{250, 900, 1100, 1500}},
	Sweep:      {Startup: 8, Active: 3, Recovery: 20, Block: 13, Damage: 80, Push: 60, Height: Low, Fells: true, Reach: Box{250, 0, 1050, 250}},
	AirKick:    {Startup: 6, Active: 30, Recovery: 60, Hit: 18, Block: 14, Damage: 75, Push: 80, Height: Overhead, Reach: Box{-50, 100, 650, 700}},
	Throw:      {Startup: 12, Active: 1, Recovery: 30, Hit: 20, Block: 16, Damage: 65, Push: 90, Reach: Box{-150, -150, 150, 150}},
}

// MoveOf returns the frame data of an attack. Other acts have the zero Move.
func MoveOf(a Act) Move { return moves[a] }

// total returns how many ticks an attack takes.
func (m *Move) total() uint16 { return m.Startup + m.Active + m.Recovery }

// Advantage returns how many ticks sooner the attacker is free than the other fighter, which the
// first active tick hit, or which blocked it. It is below 0 where the attacker is free later.
func (m Move) Advantage() (hit, block int) {
	left := int(m.Active-1) + int(m.Recovery)
	return int(m.Hit) - left, int(m.Block) - left
}

// Box is a rectangle on the stage in millimetres. Y points up.
type Box struct{ X0, Y0, X1, Y1 int32 }

// meets reports whether two boxes touch.
func (b Box) meets(o Box) bool { return b.X0 < o.X1 && o.X0 < b.X1 && b.Y0 < o.Y1 && o.Y0 < b.Y1 }

// at returns a box beside somebody who looks to the right, or the left, moved to that place.
func (b Box) at(x, y int32, left bool) Box {
	if left {
		b.X0, b.X1 = -b.X1, -b.X0
	}
	return Box{b.X0 + x, b.Y0 + y, b.X1 + x, b.Y1 + y}
}

// Hurtbox returns where a fighter is hit, and false where nothing hits it.
func (a *Fighter) Hurtbox() (Box, bool) {
	b := Box{-300, 0, 300, 1700}
	switch a.Act {
	case Crouch, Sweep:
		b.Y1 = 1100
	case Jump, AirKick:
		b.Y0 = 300
	case Roundhouse:
		b.X1 = 600 // the leg
	}
	if a.crouches() {
		b.Y1 = 1100
	}
	return b.at(a.X, a.Y, a.Left), a.Act != Down
}

// Hitbox returns where a fighter hits in this tick, and false while it does not.
func (a *Fighter) Hitbox() (Box, bool) {
	m := moves[a.Act]
	if a.Act == Throw || a.For <= m.Startup || a.For > m.Startup+m.Active {
		return Box{}, false
	}
	return m.Reach.at(a.X, a.Y, a.Left), true
}

// Hitbox returns where a fireball hits.
func (b *Fireball) Hitbox() Box { return moves[Throw].Reach.at(b.X, b.Y, false) }

// attacks reports whether a fighter is in an attack.
func (a *Fighter) attacks() bool { return a.Act >= Jab }

// crouches reports whether a fighter blocks with the stick held down.
func (a *Fighter) crouches() bool { return a.Act == Block && a.Y0 < 0 }

// Free reports whether a fighter may begin something else.
func (a *Fighter) Free() bool { return a.Act == Stand || a.Act == Crouch }

// blocks reports whether a fighter blocks an attack of a height that comes from x: it stands on the
// ground, does nothing else, and holds the stick away.
func (a *Fighter) blocks(h Height, x int32) bool {
	away := a.X0 < 0 && x > a.X || a.X0 > 0 && x < a.X
	if a.Y > 0 || !away || !a.Free() && a.Act != Block {
		return false
	}
	return h == Mid || (h == Low) == (a.Y0 < 0)
}
