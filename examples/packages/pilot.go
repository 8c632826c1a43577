package main

import (
	"unsafe"

	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/prediction"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/snapshot"
)

// Pilot is a client's own drone, which package prediction runs ahead of the server and runs
// again after a correction. It is a prediction.World and a prediction.Authority.
type Pilot struct {
	Body
	Inputs *prediction.History[Stick]
	Server *snapshot.Ghost // the drone as the server sends it; nil before it does
	Fired  func(t netcode.Tick, in Stick)
	saves  [memory]Body
}

// Save copies the state after a tick.
func (p *Pilot) Save(slot int, _ prediction.Tick) { p.saves[slot] = p.Body }

// Load restores it.
func (p *Pilot) Load(slot int, _ prediction.Tick) { p.Body = p.saves[slot] }

// Step runs a tick. Effects belong into its first run.
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

// Compare compares the prediction of a tick with the server's state, on the owner's grid.
func (p *Pilot) Compare(slot int, t prediction.Tick) prediction.Verdict {
	said, ok := p.Server.At(t)
	if !ok {
		return prediction.Same // this snapshot had no room for it: the next one compares
	}
	var predicted [4]int32
	body.Quantise(unsafe.Pointer(&p.saves[slot]), schema.GridSim, nil, predicted[:])
	if body.FirstDifference(predicted[:], said.Component(bodyID)) >= 0 {
		return prediction.Different
	}
	return prediction.Same
}

// Adopt replaces the state by the server's.
func (p *Pilot) Adopt(t prediction.Tick) {
	if said, ok := p.Server.At(t); ok {
		p.take(said)
	}
}

// take makes a state of the server the pilot's.
func (p *Pilot) take(said snapshot.State) {
	body.Dequantise(said.Component(bodyID), said.Grid(bodyID), nil, unsafe.Pointer(&p.Body))
}
