// Package rewind keeps the past that a server judges shots in. Each player sees the world
// at another moment, drawn from the snapshots that its own client received.
//
//   - [Past] records, tick by tick, the component values that other clients are sent
//     and the hitboxes built from them.
//   - [Shooter] is one player: the snapshots that its client has, the delay with which it
//     draws, and the moment that its newest command claims. It grants that moment, or the
//     nearest allowed one.
//   - [View] is the world as that player saw it at one moment. Queries run against it.
//
// All views use one geometry. A client interpolates components between two snapshots and
// builds hitboxes from the result. So does every view here: of a shot's moment, of a
// projectile's delay, of a step of catching up. Interpolating hitboxes instead would bend
// every bone that a clip or a phase moves.
//
// One goroutine records, and passes commands and packets to shooters. In between, views of
// different players may be made and queried in parallel, and any number of goroutines may
// query a view that was made. A view is valid within its tick. After the first seconds
// nothing here allocates, except Explain.
package rewind
