package main

import (
	"unsafe"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Pilot is a client's own drone. Package prediction runs it ahead of the server, and again after
// a correction. It implements prediction.World and prediction.Authority.
type Pilot struct {
	Body
	Inputs *prediction.History[Stick]     // the commands of the newest ticks
	Server *snapshot.Ghost                // the drone as the server sends it; nil: not yet received
	Fired  func(t netcode.Tick, in Stick) // called when the drone shoots
	saves  [memory]Body                   // the states after the newest ticks
}

// Save implements prediction.World: it copies the state after a tick.
func (p *Pilot) Save(slot int, _ prediction.Tick) { p.saves[slot] = p.Body }

// Load implements prediction.World: it restores such a state.
func (p *Pilot) Load(slot int, _ prediction.Tick) { p.Body = p.saves[slot] }

// Step implements prediction.World: it runs a tick. Effects belong in a tick's first run.
func (p *Pilot) Step(t prediction.Tick, replay bool) {
	var in Stick
	if of := p.Inputs.Find(t); of != nil {
		in = *of
	}
	fly(&p.Body, in)
	if in.Fire && !replay {
		p.Fired(t, in)
	}
}

// Compare implements prediction.Authority: it compares the prediction of a tick with the server's
// state, in the precision that the owner receives.
func (p *Pilot) Compare(slot int, t prediction.Tick) prediction.Verdict {
	said, ok := p.Server.At(t)
	if !ok {
		return prediction.Same // this snapshot had no room for it; a later one will
	}
	var predicted [4]int32
	body.Quantise(unsafe.Pointer(&p.saves[slot]), schema.GridSim, nil, predicted[:])
	if body.FirstDifference(predicted[:], said.Component(bodyID)) >= 0 {
		return prediction.Different
	}
	return prediction.Same
}

// Adopt implements prediction.Authority: it replaces the state by the server's.
func (p *Pilot) Adopt(t prediction.Tick) {
	if said, ok := p.Server.At(t); ok {
		p.take(said)
	}
}

// take replaces the drone's body by that of a server's state.
func (p *Pilot) take(said snapshot.State) {
	body.Dequantise(said.Component(bodyID), said.Grid(bodyID), nil, unsafe.Pointer(&p.Body))
}
