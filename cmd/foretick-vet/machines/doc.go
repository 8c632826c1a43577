// Package machines is the analyzer of foretick-vet. It follows the functions that server
// and clients both run, and reports code whose result may differ between them.
//
// # Where it looks
//
// It starts at the functions given to [Protocol.Shared], [PredictRemote], [Hitbox],
// [Hitboxes], [LifeID], [Interpolate], [Decay] and [Protocol.OnLevel] of package foretick:
// literals, functions, method values, variables and struct fields that hold one, and what a
// function returns. A function that passes its parameter on to one of these counts as one
// of them. From there it follows every call whose target is known when the program is
// compiled, across packages too. Calls through an interface, and packages of the standard
// library other than those below, are not followed. Foretick's own packages are not
// checked, but its guide, examples and commands are.
//
// The flag -machines.roots adds functions by a regular expression of their names: "." for
// all of a library, "^Update$" for a game that does not use Foretick yet. It reports only
// findings in the module of these functions. Writes through their receivers and parameters
// are not reported, since these may lead to components.
//
// # Rollback
//
// Peers of package rollback run OnJoin, OnLeave and the handlers of [Event.OnServer] in every run of a
// tick. In a package that imports rollback, itself or through packages of the game, these are checked as
// shared systems are. Handlers of [Event.OnFinal] run once there, and are not checked.
//
// A package of rules often imports no end. The package that imports both it and
// rollback reports its functions, at the import of rollback. Packages that declare server systems or
// requests are left out, since rollback.New refuses them. To check a package of rules by itself, set the flag
// -machines.rollback. The flag also leaves out its handlers of OnFinal.
//
// # Reports
//
//   - product: a floating-point product that is added or subtracted without a conversion.
//     arm64, ppc64, s390x, riscv64 and amd64 with GOAMD64=v3 may compute both in one step and
//     round once. The fix converts the product. A product with a power of two, and a product of two float32
//     computed in float64, are exact and not reported.
//   - math: functions of packages math and math/cmplx whose last bits depend on the
//     architecture, with the function to use instead. If package mathf has it, the fix calls
//     it in float32 and converts back.
//   - order: ranges over maps, and their iterators. Not reported are loops that only delete,
//     only count or add integers, only fill another map under the same key, or only collect
//     keys that the function sorts later.
//   - clock, random, outside: functions that read the time, a random source, the
//     environment or the machine.
//   - concurrent: goroutines, channels and select.
//   - state: writes to package variables, to variables that a function literal captured,
//     and to fields of the game struct. A rollback does not restore them, so a replay finds
//     them changed. Not reported is memory that only one function uses, and that it resets
//     before it reads it. Neither is a field that [Protocol.OnLevel] sets, such as the level. A
//     server system or a handler that sets such a field outside of the function passed to
//     [Server.NextLevel] is reported if shared systems read the field: in mid-tick, or when
//     Late.World runs ticks again, they would find another level than clients had.
//   - pointer: comparisons and numbers of addresses.
//   - size: int, uint and uintptr in components, commands, messages, events and requests.
//
// A comment on the line, or on the line above it, suppresses reports and says why:
//
//	//foretick:allow only the server's log reads it
//
// [Protocol.Shared]: https://pkg.go.dev/github.com/foretick/foretick#Protocol.Shared
// [PredictRemote]: https://pkg.go.dev/github.com/foretick/foretick#PredictRemote
// [Hitbox]: https://pkg.go.dev/github.com/foretick/foretick#Hitbox
// [Hitboxes]: https://pkg.go.dev/github.com/foretick/foretick#Hitboxes
// [LifeID]: https://pkg.go.dev/github.com/foretick/foretick#LifeID
// [Interpolate]: https://pkg.go.dev/github.com/foretick/foretick#Interpolate
// [Decay]: https://pkg.go.dev/github.com/foretick/foretick#Decay
// [Event.OnServer]: https://pkg.go.dev/github.com/foretick/foretick#Event.OnServer
// [Event.OnFinal]: https://pkg.go.dev/github.com/foretick/foretick#Event.OnFinal
// [Server.NextLevel]: https://pkg.go.dev/github.com/foretick/foretick/server#Server.NextLevel
// [Protocol.OnLevel]: https://pkg.go.dev/github.com/foretick/foretick#Protocol.OnLevel
package machines
