package layout

import (
	"slices"

	"github.com/foretick/foretick/ecs"
	"github.com/foretick/foretick/schema"
)

// Layout is a compiled protocol.
type Layout struct {
	Name     string // Name is the game's name.
	Version  int
	TickRate int // TickRate is in ticks a second.

	Types    *ecs.Types
	Registry *schema.Registry

	Components []Component // Components are the replicated ones, in registry order.
	Prefabs    []Prefab
	Command    *Command // Command is nil if there is none.
	Events     []string // Events has the names of their Go types, by number.
	Messages   []Message
	Requests   []Request
	Channels   []Channel // Channels are the game's own.
	Hitboxes   []Hitbox
	Lives      []Life
	Tracks     []Track
	Locals     []Local
	Systems    []string // Systems has the names in the order in which the systems run.
	Tags       []string // Tags has the tags of shared systems, by their bit in a Welcome.

	Remote      Remote
	Unpredicted Unpredicted
	FromOthers  Reach // FromOthers is what shared systems compute from entities outside their own rows.
	// ReadsOthers has the replicated components that shared systems read of entities outside their own rows.
	ReadsOthers ecs.Mask
	Looks       []Looks
	Origins     Origins

	Common   bool // Common is true if some prefab is a shared physics object.
	Spawning bool // Spawning is true if shared systems spawn entities of some prefab.
	// ClientOnly is true if some entities that shared systems spawn belong to one client alone.
	ClientOnly    bool
	Extrapolates  bool // Extrapolates is true if some field is extrapolated.
	Curved        bool // Curved is true if some field is also interpolated by the value before the two.
	Teams         bool // Teams is true if some field is for allies or enemies.
	PredictedRefs bool // PredictedRefs is true if some predicted component holds references.

	OtherBuild bool // OtherBuild is true if the layout was made for a server of another build of the game.
	// EventsOf has, with OtherBuild, the own number of each of the server's events, −1 for an unknown one.
	EventsOf []int

	Hash uint64 // Hash is the hash of the protocol's description. It is 0 with OtherBuild.
}

// Remote is what clients predict of other players.
type Remote struct {
	Predicts bool // Predicts is true if other players' commands are guessed and their entities predicted.
	// Missing is true if another build's server expects remote prediction, and this client has none.
	Missing bool
	Runs    []bool // Runs has, by system, whether it also runs for remote players' rows.
}

// Unpredicted are the replicated components that clients do not predict.
type Unpredicted struct {
	Components []int // Components are registry indices.
	Refs       bool  // Refs is true if some of Components hold references.
	// Read has the registry indices of Components that shared systems read of their own rows.
	Read    []int
	Rounded []Rounded
}

// Rounded is a component that shared systems read, and that clients receive rounded.
type Rounded struct {
	Component int // Component is a registry index.
	Reach
}

// Origins are the registry indices of the components that travel with entities which
// clients spawn ahead of the server, or do not predict; −1 where no prefab needs one.
type Origins struct {
	Matched      int // Matched says which spawn of the client's the entity matches.
	ClientOnly   int // ClientOnly says that the client has its own entity.
	Interpolated int // Interpolated says whether the owner's client draws the entity in the past.
}

// UnknownComponent is the id of a component that this build does not have. No world has it.
const UnknownComponent = 255

// Index returns the registry index of an ecs component, −1 if it is not replicated.
func (l *Layout) Index(id ecs.ID) int {
	for i := range l.Components {
		if l.Components[i].ID == id {
			return i
		}
	}
	return -1
}

// PrefabOf returns a declared prefab's index, −1 for any other.
func (l *Layout) PrefabOf(k *ecs.Prefab) int {
	if !k.Registered() {
		return -1
	}
	for i := range l.Prefabs {
		if own := l.Prefabs[i].ECS; own == k || own != nil && *own == *k {
			return i
		}
	}
	return -1
}

// Mask returns the replicated components of some rows.
func (l *Layout) Mask(rows ecs.Rows) schema.Mask {
	var set schema.MaskBuilder
	for i := range l.Components {
		if rows.Has(l.Components[i].ID) {
			set.Set(i)
		}
	}
	return set.Mask()
}

// CommandSize returns the bytes of a packed command, 0 without one.
func (l *Layout) CommandSize() int {
	if l.Command == nil {
		return 0
	}
	return l.Command.Schema.PackedSize()
}

// LocalStride returns the bytes that one entity's local components take: a byte each that
// says whether the entity has it, and the values.
func (l *Layout) LocalStride() int {
	if len(l.Locals) == 0 {
		return 0
	}
	last := l.Locals[len(l.Locals)-1]
	return last.At + int(last.Size)
}

// PlaceLocals finds the places of the local components once all are declared.
func (l *Layout) PlaceLocals() {
	at := len(l.Locals)
	for i := range l.Locals {
		l.Locals[i].At = at
		at += int(l.Locals[i].Size)
	}
}

// FindUnpredicted lists the replicated components that are not predicted.
func (l *Layout) FindUnpredicted() {
	l.Unpredicted.Components, l.Unpredicted.Refs, l.PredictedRefs = nil, false, false
	for i := range l.Components {
		c := &l.Components[i]
		switch {
		case c.Unknown:
		case c.Predicted:
			l.PredictedRefs = l.PredictedRefs || len(c.Refs) > 0
		default:
			l.Unpredicted.Components = append(l.Unpredicted.Components, i)
			l.Unpredicted.Refs = l.Unpredicted.Refs || len(c.Refs) > 0
		}
	}
}

// FindUnpredictedReads lists the replicated, unpredicted components that shared systems
// read in the rows that they run for, or in other entities with the same owner.
func (l *Layout) FindUnpredictedReads(systems []ecs.SystemInfo) {
	l.Unpredicted.Read, l.Unpredicted.Rounded = nil, nil
	for i := range l.Components {
		read := slices.ContainsFunc(systems, func(s ecs.SystemInfo) bool {
			return Shared(s) && (slices.Contains(s.Reads, l.Components[i].ID) || slices.Contains(s.OwnReads, l.Components[i].ID))
		})
		if read && !l.Components[i].Predicted {
			l.Unpredicted.Read = append(l.Unpredicted.Read, i)
			if s := l.Components[i].Schema; s != nil && s.Rounded() {
				l.Unpredicted.Rounded = append(l.Unpredicted.Rounded, l.reach(i, systems))
			}
		}
	}
}

// reach returns what shared systems compute from a component.
func (l *Layout) reach(i int, systems []ecs.SystemInfo) Rounded {
	r := Rounded{Component: i}
	r.Components.Set(l.Components[i].ID)
	r.grow(systems)
	return r
}

// FindWrittenForOthers marks the components that shared systems write through the world. Predicted singletons
// count too, because they belong to no row.
func (l *Layout) FindWrittenForOthers(systems []ecs.SystemInfo) {
	for i := range l.Components {
		c := &l.Components[i]
		c.ForOthers = c.Singleton >= 0 && c.Predicted || slices.ContainsFunc(systems, func(s ecs.SystemInfo) bool {
			return Shared(s) && slices.Contains(s.OtherWrites, c.ID)
		})
	}
}

// ReadOfOthers lists the replicated components that shared systems read or write of other
// entities than their own rows.
func (l *Layout) ReadOfOthers(systems []ecs.SystemInfo) []int {
	var set schema.MaskBuilder
	for _, s := range systems {
		if !Shared(s) {
			continue
		}
		for _, id := range append(append([]ecs.ID{}, s.OtherReads...), s.OtherWrites...) {
			if i := l.Index(id); i >= 0 {
				set.Set(i)
			}
		}
	}
	var out []int
	for i := range l.Components {
		if set.Has(i) {
			out = append(out, i)
		}
	}
	return out
}

// ChangesOthers reports whether shared systems may change entities outside their rows: write
// components of them, add some or remove some.
func ChangesOthers(systems []ecs.SystemInfo) bool {
	return slices.ContainsFunc(systems, func(s ecs.SystemInfo) bool {
		return Shared(s) && (len(s.OtherWrites) > 0 || s.Structural)
	})
}

// KeepsMatch reports whether a shared system computes singletons from singletons alone, as a
// round's clock is. No command of a player changes its result.
func KeepsMatch(s ecs.SystemInfo) bool {
	return Shared(s) && s.Once && !s.Structural && len(s.SingleWrites) > 0 &&
		len(s.Reads)+len(s.Writes)+len(s.OtherReads)+len(s.OtherWrites)+len(s.Creates) == 0
}
