package ecs

// Access says what a query matches and what a system touches. It is made by
// the functions below and taken by [NewQuery] and [Schedule.Add].
type Access struct {
	kind  accessKind
	hs    []Handle
	names []string
}

// Term is what a [Query] is made of.
type Term interface{ access() Access }

func (a Access) access() Access { return a }

type accessKind uint8

const (
	accessRead accessKind = iota
	accessWrite
	accessCreate
	accessReadOther
	accessWriteOther
	accessWith
	accessWithout
	accessOptional
	accessOptionalWrite
	accessStage
	accessBefore
	accessAfter
	accessTags
	accessRender
	accessOnce
	accessStructural
)

// Read declares that the system reads these components of its rows, and that
// its rows have them. A [Singleton] may stand here too.
func Read(hs ...Handle) Access { return Access{kind: accessRead, hs: hs} }

// Write declares that the system reads and writes these components of its
// rows, and that its rows have them. A [Singleton] may stand here too.
func Write(hs ...Handle) Access { return Access{kind: accessWrite, hs: hs} }

// Create declares that the system makes entities with these components, or
// adds them. It implies [Structural].
func Create(hs ...Handle) Access { return Access{kind: accessCreate, hs: hs} }

// ReadOther declares that the system reads these components of entities that
// it reaches through the world, not of its rows.
func ReadOther(hs ...Handle) Access { return Access{kind: accessReadOther, hs: hs} }

// WriteOther declares that the system reads and writes these components of
// entities that it reaches through the world.
func WriteOther(hs ...Handle) Access { return Access{kind: accessWriteOther, hs: hs} }

// With matches only rows that have these components, without touching them.
func With(hs ...Handle) Access { return Access{kind: accessWith, hs: hs} }

// Without matches only rows that have none of these components.
func Without(hs ...Handle) Access { return Access{kind: accessWithout, hs: hs} }

// Optional declares that the system reads these components where its rows have
// them; see [Rows.Has].
func Optional(hs ...Handle) Access { return Access{kind: accessOptional, hs: hs} }

// OptionalWrite is [Optional] for components that the system also writes.
func OptionalWrite(hs ...Handle) Access { return Access{kind: accessOptionalWrite, hs: hs} }

// Stage puts the system into a stage; the first one when left out.
func Stage(name string) Access { return Access{kind: accessStage, names: []string{name}} }

// Before orders the system before others of its stage, against what reads and
// writes imply.
func Before(names ...string) Access { return Access{kind: accessBefore, names: names} }

// After orders the system after others of its stage, against what reads and
// writes imply.
func After(names ...string) Access { return Access{kind: accessAfter, names: names} }

// Tags limits the system to worlds that hold all of these tags.
func Tags(tags ...string) Access { return Access{kind: accessTags, names: tags} }

// Render makes it a system of the drawn picture instead of the tick.
func Render() Access { return Access{kind: accessRender} }

// Once has the body called once per execution, with zero Rows, whatever the
// world holds.
func Once() Access { return Access{kind: accessOnce} }

// Structural declares that the system spawns, destroys, adds, removes or
// transfers. It then runs beside no other when systems run in parallel.
func Structural() Access { return Access{kind: accessStructural} }

// IsStructural tells whether the access is a [Create] or [Structural].
func (a Access) IsStructural() bool {
	return a.kind == accessCreate || a.kind == accessStructural
}
