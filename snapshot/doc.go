// Package snapshot sends the state of a world to many viewers, each tick, in few bytes.
//
// It is of use alone: it knows neither entities' storage nor sockets. A program
// describes its components with struct tags ([Compile]), lists them and its prefabs
// of entities in a [Registry] that both ends build alike, and then
//
//	server, each tick:
//	    source.Begin(tick)
//	    source.Put(id, prefab, owner, mask, pointers, refs)   // every entity
//	    source.End()
//	    for each client:
//	        packet = sender.Append(packet[:0], room, &sent)  // and send it
//	        sender.Delivered(&sent) or sender.Lost(&sent)    // once its fate is known
//
//	client, each packet:
//	    tick, err := receiver.Read(packet)
//	    for _, c := range receiver.Changes() { … }
//	client, each picture:
//	    a, b, f, ok := ghost.Sample(tick, fraction)
//	    schema.Interpolate(…)                            // each component, between a and b
//
// # Words and grids
//
// A component's quantised value is a vector of int32 words: one for each field,
// two for 64-bit values, the bits themselves for floats without a step. There are
// two grids. [GridPublic] has the step of the tag and is what everybody receives.
// [GridSim] is finer (by default by 16) and is what the owner of a component with
// [SchemaOptions].Predicted receives, so that a prediction that snaps to it
// ([Schema.Snap]) can be compared for equality. Both grids are anchored at 0: the
// index is the value divided by the step, rounded, so 0 is exact. The public index
// is derived from the simulation index by integer rounding (halves up), and a
// value is restored as float32(float64(index) * step), on every machine alike.
//
// # Tags
//
// Integers name their size: int, uint and uintptr have another layout on machines of 32
// bits and are refused, in what is predicted even where they are not sent.
//
// A field's `net` tag is a list of items separated by commas:
//
//	min=A max=B  the range. Integers: values beyond are clamped. Floats: needed by
//	             step, and multiples of it. With max alone, min is −max for signed
//	             types and floats, and 0 for unsigned ones.
//	step=S       floats: the public grid. Without it a float travels as its bits.
//	sim=S        floats: the simulation grid; step divided by a whole number.
//	             Default: step/16, or less where float32 could not tell the
//	             indices apart.
//	angle        floats: radians, wrapping, restored to [−π, π)
//	bits=N       with angle: 2^N directions, 12 by default, 18 at most
//	owner        only the owner of the entity receives the field
//	allies       viewers of the entity's team do, and its owner
//	enemies      viewers of another team do
//	to=NAME      viewers of an audience of the game's own do ([SchemaOptions].Audiences).
//	             A field may name several of these four: who is any of them receives it.
//	             A component of which a viewer may have no field is not there for him.
//	oneshot      bools of commands: an action, never repeated ([Schema.ClearOneShots])
//	press        commands: of the frame in which a oneshot was pressed, and not of the
//	             tick's last frame. Tag the aim with it. On a oneshot it says that this
//	             one counts as a press; without such a tag they all do. See
//	             [Schema.Pressed]
//	tol=T        tolerance of [Schema.FirstDifference], in the field's unit
//	quat         four floats x, y, z, w (an array or a struct): a rotation, sent as the
//	             greatest component's index and the other three. Four integers: they
//	             are that already, the three from 0 to 2^bits−1.
//	bits=N       with quat: of each of the three, 10 by default, 14 at most
//	vec          an array or struct of 2 to 8 numbers that move together, such as a
//	             position: they share the tag, and one expectation
//	lerp         [Schema.Interpolate] goes straight from value to value; angles the
//	             shorter way round. A rotation goes straight too, by the shorter side,
//	             and is brought back to length 1: along the arc, a little faster in its
//	             middle, which shows from a quarter turn between two values on
//	slerp        with quat: along the shorter arc at an even speed, for an arc cosine
//	             and three sines a picture
//	hermite      numbers and angles: along a cubic that leaves with the speed with which
//	             the value before was left behind, and never leaves the interval
//	             between its ends. See [Knots], also for when it goes straight
//	hermite=NAME the speeds are those of a field beside it (or of the struct or array of
//	             that name, member for member), in units of this one a second. For
//	             what a velocity moves: thrown, orbiting, or seldom sent
//	extrapolate=N  with one of these: [Schema.Extrapolate] lets it go on straight for N
//	             ticks beyond what is known. Without it, it holds
//	snap         the older value holds until the newer (the default)
//	-            never sent
//
//	max=N        strings: at most so many bytes of UTF-8, 255 at most. Slices: at most so
//	             many elements, 1024 at most. Both need it.
//	max=N;…      slices: behind the semicolon stands the tag of the elements, as in
//	             `net:"max=8;min=-1,max=1,step=0.01,lerp"`
//
// Integers, bools, floats, strings, references ([SchemaOptions].Ref), and arrays,
// slices and structs of these are supported, but no slices inside of slices, and in
// commands neither strings nor slices. A tag on an array is that of its elements; on a
// struct, owner, lerp, slerp, hermite, snap, oneshot, press and - hold for all its fields. Fields that
// are not exported must be tagged "-".
//
// # Strings and slices
//
// A string that is too long is cut behind the last rune that fits, and what is no
// UTF-8 becomes U+FFFD; of a slice the first elements are sent. This is like numbers
// beyond their range: [Schema.Snap] does it in place, and [Schema.Unfit] tells
// beforehand. A slice costs what its elements cost, and nothing for those that it
// does not have; an element is expected to be what that of the same index was, so
// that putting one in at the end is cheap, and at the beginning is not. Between two
// values, and in a prediction that is corrected, elements that both have go from one
// to the other, and the length is that of the older.
//
// A slice belongs to the component that holds it: whatever fills in a value, or
// restores one by [Schema.Copier], writes into its array where this package made it
// (which has room for one element more than max), and makes another one otherwise.
// Elements may be written in place, appended and taken out; two components must not
// share an array. nil and empty are the same.
//
// # What a viewer learns
//
// A viewer receives an entity while it changed after the newest tick that the
// viewer is known to have received of it: never by comparing values. An entity
// left out of a snapshot is unchanged; one that changed and did not fit is listed
// as postponed. Wire ids belong to one viewer and are allotted when an entity is
// first shown, in the order of network ids, so that what a viewer may not see
// moves nothing in its packets. Fields for the owner are left out before flags and
// values are coded for others.
//
// Which entities a viewer may see is the caller's to say ([Sender.SetVisible],
// [SenderConfig].Visible); an [Area] says which are near enough to matter to it.
//
// [Source.SetGroup] makes entities that come together or not at all; what a viewer
// owns is such a group, and [Sender.AppendBudget] puts it before any budget.
//
// [Source.Teleport] marks an entity that is somewhere else at once: the mark
// travels with its values, and [Ghost.Sample] holds the old one until the new.
//
// # Codes
//
// A record is the difference from up to three values that the viewer is known to
// hold, by a rule that needs nothing else: a loss costs one snapshot, and no state
// is kept for a viewer but what it acknowledged. What is expected of a value, and of
// the error in that, is learned: per expected error, weights say how far a motion
// goes on, and a Huffman code says how far off it is. Flags, among them whether a
// difference is 0, go through a range coder with static probabilities. [Statistics]
// learns all of these from a match for [Registry.UseTables]; examples/cubes shows
// it. As records depend on nothing else, senders may share them through a [Cache].
// The format is written down in docs/STANDARD-snapshot.md.
//
// # Schemas as bytes
//
// [Registry.AppendSchema] writes all that both ends must agree on; [ReadRegistry]
// makes of it a registry that reads the same snapshots without the Go types: a tool
// looks at them with [Schema.Value], and a program of another build takes them into
// types of its own with [Schema.Bind], by the names of fields.
//
// # Concurrency
//
// A [Source] and its senders belong to one goroutine, except that [Sender.Append]
// of different senders may run at the same time between [Source.End] and the next
// [Source.Begin]. A [Receiver] and its ghosts belong to one goroutine. A [Schema]
// never changes and can be shared, but for one that [Schema.Bind] returned.
package snapshot
