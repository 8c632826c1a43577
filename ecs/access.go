package ecs

// Access declares what a query matches or a system touches. The functions below
// create it; [NewQuery] and [Schedule.Add] take it. Declarations are trusted,
// except in builds with the tag foretick_debug: those panic with [UsageError]
// when a system's body does something else. See the package documentation.
type Access struct {
	kind  accessKind
	hs    []Handle
	names []string
}

// Term is an argument of [NewQuery] and [NewWatch]: an [Access], as [With],
// [Without], [Read] and the other functions of this package return it. The Term that
// foretick.OfPrefab returns is for Protocol.OnAppear and OnVanish only.
type Term interface{ access() Access }

func (a Access) access() Access { return a }

type accessKind uint8

const (
	accessRead accessKind = iota
	accessWrite
	accessCreate
	accessReadOther
	accessReadOwn
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
	accessPartial
)

// Read declares that the system reads these components of its rows, and matches
// only rows that have them. It also takes a [Singleton]. Slices and pointers
// remain writable; a debug build panics when the body has changed a value.
func Read(hs ...Handle) Access { return Access{kind: accessRead, hs: hs} }

// Write declares that the system reads and writes these components of its rows,
// and matches only rows that have them. It also takes a [Singleton]. To write
// other entities than those of its rows, a system needs [WriteOther]. A [Once]
// system has no rows and may use either.
func Write(hs ...Handle) Access { return Access{kind: accessWrite, hs: hs} }

// Create declares that the system makes entities with these components (list
// all components of the prefab), or adds them to entities that lack them. The
// system may also read and set their values. Create implies [Structural]. The
// system runs before those of its stage that write or read the components, so
// they see the new values in the same tick.
func Create(hs ...Handle) Access { return Access{kind: accessCreate, hs: hs} }

// ReadOther declares that the system reads these components of entities that it
// reaches through the world. Its own rows need not have them. For a [Singleton]
// it is the same as [Read].
func ReadOther(hs ...Handle) Access { return Access{kind: accessReadOther, hs: hs} }

// ReadOwn is [ReadOther] for entities that have the same owner as the system's rows, such as the holder of a
// weapon. A debug build panics when the system reads these components of an entity with another owner. It takes
// no [Singleton], and a [Once] system cannot declare it.
func ReadOwn(hs ...Handle) Access { return Access{kind: accessReadOwn, hs: hs} }

// WriteOther declares that the system reads and writes these components of
// entities that it reaches through the world, which may include its own rows.
// For a [Singleton] it is the same as [Write].
func WriteOther(hs ...Handle) Access { return Access{kind: accessWriteOther, hs: hs} }

// With matches only rows that have these components, without touching them.
// Like [Without] and [Create] it takes no [Singleton].
func With(hs ...Handle) Access { return Access{kind: accessWith, hs: hs} }

// Without matches only rows that have none of these components.
func Without(hs ...Handle) Access { return Access{kind: accessWithout, hs: hs} }

// Optional declares that the system reads these components of the rows that
// have them; see [Rows.Has].
func Optional(hs ...Handle) Access { return Access{kind: accessOptional, hs: hs} }

// OptionalWrite is [Optional] for components that the system also writes.
func OptionalWrite(hs ...Handle) Access { return Access{kind: accessOptionalWrite, hs: hs} }

// Stage puts the system into a stage named by [Schedule.Stages]; the default is
// the first one.
func Stage(name string) Access { return Access{kind: accessStage, names: []string{name}} }

// Before makes the system run before the named systems of its stage, even
// against the order that reads and writes imply. A name that is not in the
// stage is an error of [Schedule.Build].
func Before(names ...string) Access { return Access{kind: accessBefore, names: names} }

// After is the opposite of [Before]: the system runs after the named systems.
func After(names ...string) Access { return Access{kind: accessAfter, names: names} }

// Tags limits the system to worlds that have all of these tags; see
// [WorldConfig]. Without tags the system runs in all worlds. A game has at most
// 64 tags.
func Tags(tags ...string) Access { return Access{kind: accessTags, names: tags} }

// Render makes the system run per rendered frame instead of per tick, in
// [Schedule.ExecuteRender].
func Render() Access { return Access{kind: accessRender} }

// Once makes the body run once per execution, with zero Rows, whatever the
// world holds. The body finds its entities with queries. [Read] and [Write]
// then match nothing and only declare access.
func Once() Access { return Access{kind: accessOnce} }

// Structural declares that the system destroys entities, removes components,
// transfers entities or sets parents; spawning and adding is declared with
// [Create]. With parallel systems it runs alone.
func Structural() Access { return Access{kind: accessStructural} }

// Partial declares that the system can also run for a part of a tick: see
// [Schedule.ExecutePartial]. It must scale its changes of values by the tick length
// in its context.
func Partial() Access { return Access{kind: accessPartial} }

// IsPartial reports whether the access is [Partial].
func (a Access) IsPartial() bool { return a.kind == accessPartial }

// IsWriteOther reports whether the access is a [WriteOther].
func (a Access) IsWriteOther() bool { return a.kind == accessWriteOther }

// IsWriteSingleton reports whether the access is a [Write] or [WriteOther] that names a
// [Singleton].
func (a Access) IsWriteSingleton() bool {
	if a.kind != accessWrite && a.kind != accessWriteOther {
		return false
	}
	for _, h := range a.hs {
		if !absent(h) && h.single() {
			return true
		}
	}
	return false
}

// IsStructural reports whether the access is a [Create] or [Structural].
func (a Access) IsStructural() bool {
	return a.kind == accessCreate || a.kind == accessStructural
}
