// Swap-ecs predicts without Foretick's ECS: the game keeps its state in plain
// structs, and package prediction drives them through two small interfaces.
//
// To plug in another ECS, write the five methods of [ship] for it. Save and
// Load copy the local player's components to and from a slot. Step runs the
// shared systems for the local player. Compare and Adopt compare them with the
// server's state and replace them by it. Nothing else of the library is needed.
package main

import (
	"fmt"

	"github.com/foretick/foretick/prediction"
)

// State is the whole predicted state. It is a value type, so saving it is an
// assignment.
type State struct {
	X, Speed float64
	Fuel     int
}

// Input is the command of one tick.
type Input struct{ Thrust bool }

// step is the shared rule, which server and client both run.
func step(s State, in Input) State {
	if in.Thrust && s.Fuel > 0 {
		s.Fuel--
		s.Speed += 0.5
	}
	s.Speed = float64(s.Speed * 0.95) // rounded: the same on every machine
	s.X += s.Speed
	return s
}

// ship is the predicted world, and the server's authority over it.
type ship struct {
	now    State
	saves  [prediction.DefaultHistory]State
	inputs *prediction.History[Input]
	server *prediction.History[State]
	sounds int
}

// Save stores the state after a tick.
func (s *ship) Save(slot int, _ prediction.Tick) { s.saves[slot] = s.now }

// Load restores it.
func (s *ship) Load(slot int, _ prediction.Tick) { s.now = s.saves[slot] }

// Step runs a tick with its input; sounds play only in the first run.
func (s *ship) Step(t prediction.Tick, replay bool) {
	in := s.inputs.Find(t)
	if in == nil {
		in = &Input{}
	}
	if in.Thrust && !replay {
		s.sounds++
	}
	s.now = step(s.now, *in)
}

// Compare compares the prediction for a tick with the server's state.
func (s *ship) Compare(slot int, t prediction.Tick) prediction.Verdict {
	if said := s.server.Find(t); said != nil && s.saves[slot] != *said {
		return prediction.Different
	}
	return prediction.Same
}

// Adopt replaces the state by the server's.
func (s *ship) Adopt(t prediction.Tick) { s.now = *s.server.Find(t) }

// Outcome is the result of a flight.
type Outcome struct {
	Shown, Server State // at the end
	Wrong, Replay int   // corrections, and replayed ticks
	Sounds        int
}

// fly plays a ship with a server whose state arrives delay ticks late. Every
// gust ticks a gust strikes, which no client can predict; 0 means never.
func fly(ticks, delay, gust prediction.Tick) (Outcome, error) {
	client := &ship{
		now:    State{Fuel: 60},
		inputs: prediction.NewHistory[Input](2 * prediction.DefaultHistory),
		server: prediction.NewHistory[State](2 * prediction.DefaultHistory),
	}
	predictor, err := prediction.NewPredictor(prediction.Config{}, client)
	if err != nil {
		return Outcome{}, err
	}
	predictor.Start(0)
	var out Outcome
	server := client.now
	for t := prediction.Tick(1); t <= ticks+delay; t++ {
		if t <= ticks { // the client plays at once
			client.inputs.Put(t).Thrust = t%3 != 0
			predictor.Advance()
		}
		if t <= delay {
			continue
		}
		k := t - delay // the server's tick whose state arrives now
		server = step(server, *client.inputs.Find(k))
		if gust > 0 && k%gust == 0 {
			server.Speed -= 1
		}
		*client.server.Put(k) = server
		r := predictor.Reconcile(k, client)
		if r.Verdict == prediction.Different {
			out.Wrong++
			out.Replay += r.Replayed
		}
	}
	out.Shown, out.Server, out.Sounds = client.now, server, client.sounds
	return out, nil
}

func main() {
	for _, gust := range []prediction.Tick{0, 25} {
		o, err := fly(100, 8, gust)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("gust every %d ticks: %d corrections, %d ticks replayed; shown %.3f, the server has %.3f\n",
			gust, o.Wrong, o.Replay, o.Shown.X, o.Server.X)
	}
}
