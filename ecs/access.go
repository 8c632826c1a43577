package ecs

// Access says what a query matches and what a system touches. It is made by
// the functions below and taken by [NewQuery] and [Schedule.Add]. A declaration
// is believed, but for builds with the tag foretick_debug, which panic with
// [UsageError] where a system's body does something else; see the package's text.
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
// its rows have them. A [Singleton] may stand here too. Slices and pointers can
// be written to all the same; a debug build panics when the body has changed a
// value.
func Read(hs ...Handle) Access { return Access{kind: accessRead, hs: hs} }

// Write declares that the system reads and writes these components of its
// rows, and that its rows have them. A [Singleton] may stand here too. For other
// entities than those of its rows name [WriteOther]; a [Once] system, which has
// none, may name either.
func Write(hs ...Handle) Access { return Access{kind: accessWrite, hs: hs} }

// Create declares that the system makes entities with these components (all of
// the prefab that it spawns), or adds them to entities that lack them. It may
// read and set their values, too. It implies [Structural], and the system comes
// before those of its stage that write or read the components, so that they see
// what it made in the same tick.
func Create(hs ...Handle) Access { return Access{kind: accessCreate, hs: hs} }

// ReadOther declares that the system reads these components of entities that
// it reaches through the world, not of its rows, which need not have them. Of a
// [Singleton] it says what [Read] does.
func ReadOther(hs ...Handle) Access { return Access{kind: accessReadOther, hs: hs} }

// WriteOther declares that the system reads and writes these components of
// entities that it reaches through the world: its own rows, too, should it meet
// them there. Of a [Singleton] it says what [Write] does.
func WriteOther(hs ...Handle) Access { return Access{kind: accessWriteOther, hs: hs} }

// With matches only rows that have these components, without touching them. It
// takes no [Singleton], as [Without] and [Create] do not.
func With(hs ...Handle) Access { return Access{kind: accessWith, hs: hs} }

// Without matches only rows that have none of these components.
func Without(hs ...Handle) Access { return Access{kind: accessWithout, hs: hs} }

// Optional declares that the system reads these components where its rows have
// them; see [Rows.Has].
func Optional(hs ...Handle) Access { return Access{kind: accessOptional, hs: hs} }

// OptionalWrite is [Optional] for components that the system also writes.
func OptionalWrite(hs ...Handle) Access { return Access{kind: accessOptionalWrite, hs: hs} }

// Stage puts the system into a stage, which [Schedule.Stages] names; the first one
// when left out.
func Stage(name string) Access { return Access{kind: accessStage, names: []string{name}} }

// Before orders the system before others of its stage, by their names, against
// what reads and writes imply. A name that is not in the stage is an error of
// [Schedule.Build].
func Before(names ...string) Access { return Access{kind: accessBefore, names: names} }

// After is [Before] the other way round: the system comes behind the others.
func After(names ...string) Access { return Access{kind: accessAfter, names: names} }

// Tags limits the system to worlds that hold all of these tags; see
// [WorldConfig]. Without it the system runs in all. A game has 64 tags at most.
func Tags(tags ...string) Access { return Access{kind: accessTags, names: tags} }

// Render makes it a system of the drawn picture instead of the tick, run by
// [Schedule.ExecuteRender].
func Render() Access { return Access{kind: accessRender} }

// Once has the body called once per execution, with zero Rows, whatever the
// world holds. It looks for its entities with queries; what it names in [Read] and
// [Write] is then not matched.
func Once() Access { return Access{kind: accessOnce} }

// Structural declares that the system destroys, removes, transfers or sets
// parents; what it spawns and adds is named in [Create]. It then runs beside no
// other when systems run in parallel.
func Structural() Access { return Access{kind: accessStructural} }

// IsWriteOther reports whether the access is a [WriteOther].
func (a Access) IsWriteOther() bool { return a.kind == accessWriteOther }

// IsStructural tells whether the access is a [Create] or [Structural].
func (a Access) IsStructural() bool {
	return a.kind == accessCreate || a.kind == accessStructural
}
