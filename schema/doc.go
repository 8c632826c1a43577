// Package schema describes a game's components, commands and messages: the fields that are
// sent, their range and precision, and the players that receive them.
//
// [Compile] reads the struct tags of a type and returns a [Schema]. A Schema quantises
// values of that type to words, restores and interpolates them, and packs them. A
// [Registry] lists a game's components and prefabs. Server and client must build the same
// Registry. Package snapshot sends the components that it describes.
//
// # Words and grids
//
// A quantised component is a vector of int32 words. Most fields take one word, 64-bit
// values two, rotations four. A float without a step is sent as its bits.
//
// There are two grids. [GridPublic] has the tag's step, and every viewer receives it.
// [GridSim] is finer, by default 16 times. The owner of a component with
// [Options].Predicted receives it. A prediction that snaps to this grid ([Schema.Snap])
// can be compared with the server's value for equality.
//
// Both grids start at 0, so 0 is exact. The index is the value divided by the step,
// rounded. The public index is the simulation index divided by an integer, rounded with
// halves up. A value is restored as float32(float64(index) * step), with the same result
// on every machine.
//
// # Tags
//
// Use integer types with a size. int, uint and uintptr have another layout on 32-bit
// machines and are refused. In predicted components they are refused even in fields that
// are not sent.
//
// A field's `net` tag is a list of items separated by commas:
//
//	min=A max=B  the range. Integers outside it are clamped. Floats with a step need
//	             a range, in multiples of the step. With max alone, min is −max for
//	             signed types and floats, and 0 for unsigned ones.
//	step=S       floats: the step of the public grid. Without it a float is sent as
//	             its bits.
//	sim=S        floats: the step of the simulation grid: step divided by a whole
//	             number. Default: step/16, or coarser where float32 could not tell
//	             the indices apart.
//	angle        floats: radians that wrap, restored to [−π, π)
//	bits=N       with angle: 2^N directions, 12 by default, 18 at most
//	owner        only the entity's owner receives the field
//	allies       viewers of the entity's team and its owner receive the field
//	enemies      viewers of another team receive the field
//	to=NAME      viewers in a game-defined audience ([Options].Audiences) receive the
//	             field. A field may name several of these four; a viewer in any of
//	             them receives it. A viewer who receives no field of a component does
//	             not receive the component.
//	oneshot      bools and integers of commands: an action, or which of several (0: none),
//	             never repeated ([Schema.ClearMomentary])
//	sum          numbers of commands: movement, such as a mouse's. The samples of all
//	             frames since the last tick are added up, and what the step's rounding
//	             leaves is kept for the next tick. Never repeated. The range is of the
//	             movement in a tick, and the next ticks take what exceeds it
//	             ([Schema.Gather])
//	press        commands: the field is taken from the frame with the oneshot's press,
//	             not from the tick's last frame. Tag the aim with it. On a oneshot:
//	             this one counts as a press. If no oneshot has the tag, all count. See
//	             [Schema.Pressed]
//	tol=T        tolerance of [Schema.FirstDifference], in the field's unit
//	quat         a rotation of four floats x, y, z, w (an array or a struct), sent as
//	             the index of the greatest component and the other three. Four
//	             integers already have this form: the three are 0 to 2^bits−1.
//	bits=N       with quat: bits of each of the three, 10 by default, 14 at most
//	vec          an array or struct of 2 to 8 numbers that move together, such as a
//	             position. They share the tag and are predicted as one
//	lerp         [Schema.Interpolate] moves in a straight line from value to value, and
//	             turns angles the shorter way. A rotation is interpolated straight too
//	             and normalised. It turns a little faster in the middle of its arc,
//	             visible when two values are a quarter turn or more apart
//	slerp        with quat: turns the shorter way at constant speed. It costs an arc
//	             cosine and three sines a frame
//	hermite      numbers and angles: a cubic curve. It starts with the speed of the
//	             motion before, and never leaves the interval between its ends. See
//	             [Knots], also for when it moves straight instead
//	hermite=NAME the speeds are read from the field NAME of the same struct (or, for a
//	             struct or array, member for member), in this field's units a second.
//	             Use it for motion with a velocity: thrown, orbiting, or seldom sent
//	extrapolate=N  with lerp, slerp or hermite: [Schema.Extrapolate] continues the
//	             motion straight for N ticks after the newest value. Without it the
//	             field holds
//	snap         the older value holds until the newer (the default)
//	-            never sent
//
//	max=N        strings: at most N bytes of UTF-8, up to 255. Slices: at most N
//	             elements, up to 1024. Both need it.
//	max=N;…      slices: the elements' tag follows the semicolon, as in
//	             `net:"max=8;min=-1,max=1,step=0.01,lerp"`
//
// Fields may be integers, bools, floats, strings, references ([Options].Ref), and arrays,
// slices and structs of these. Slices inside slices are refused. Commands may hold neither
// strings nor slices. A tag on an array applies to its elements. On a struct, owner, lerp,
// slerp, hermite, snap, oneshot, sum, press and - apply to all its fields. Tag unexported
// fields "-".
//
// # Strings and slices
//
// A string that is too long is cut after the last rune that fits. Bytes that are not UTF-8
// become U+FFFD. A slice that is too long sends its first elements. [Schema.Snap] makes
// the same cuts in place, and [Schema.Unfit] finds the field beforehand.
//
// A slice costs only the elements that it has. Each element is predicted from the element
// of the same index, so appending is cheap and inserting at the front is not. When two
// values are interpolated, or a prediction is corrected, the elements that both have are
// blended. The length is that of the older value.
//
// A slice belongs to its component, and two components must not share an array. Writing
// or copying a value ([Schema.Copier]) reuses the component's array if this package
// allocated it, with room for max+1 elements, and otherwise allocates a new one. You may
// write elements in place, append and remove. nil and empty are the same.
//
// # Schemas as bytes
//
// [Registry.AppendSchema] writes everything that both ends must agree on. [ReadRegistry]
// turns it into a registry that reads the same snapshots without the Go types. A tool
// reads values with [Schema.Value]. A program of another build reads them into its own
// types with [Schema.Bind], which matches fields by name.
//
// # Concurrency
//
// A [Schema] never changes and is safe for use by many goroutines, unless [Schema.Bind]
// returned it. A [Registry] belongs to one goroutine until the first snapshot.Source or
// Receiver uses it; it never changes afterwards.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package schema
