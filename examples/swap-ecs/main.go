// Swap-ecs predicts without Foretick's ECS: the game keeps its state in plain
// structs, and package prediction runs them through two small interfaces.
//
// To use another ECS, write the five methods of [ship] for it. Save and Load copy
// the local player's components to and from a slot. Step runs the shared systems
// for the local player. Compare and Adopt compare the components with the
// server's state and replace them by it. Nothing else of the library is needed.
package main

import (
	"fmt"

	"github.com/foretick/foretick/prediction"
)

// State is the whole predicted state. It has no pointers, so an assignment saves
// it.
type State struct {
	X, Speed float64
	Fuel     int
}

// Input is the command for one tick.
type Input struct{ Thrust bool }

// step is the shared rule, which server and client both run.
func step(s State, in Input) State {
	if in.Thrust && s.Fuel > 0 {
		s.Fuel--
		s.Speed += 0.5
	}
	s.Speed = float64(s.Speed * 0.95) // rounded alike on every machine
	s.X += s.Speed
	return s
}

// ship implements prediction.World and prediction.Authority.
type ship struct {
	now    State
	saves  [prediction.DefaultHistory]State // the states after the newest ticks
	inputs *prediction.History[Input]       // the commands of the newest ticks
	server *prediction.History[State]       // the states that the server has sent
	sounds int                              // how many sounds were played
}

// Save stores the state after a tick.
func (s *ship) Save(slot int, _ prediction.Tick) { s.saves[slot] = s.now }

// Load restores the state after a tick.
func (s *ship) Load(slot int, _ prediction.Tick) { s.now = s.saves[slot] }

// Step runs a tick with its input. Sounds play only in a tick's first run.
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

// Compare compares the prediction of a tick with the server's state.
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
	Shown, Server State // the states at the end
	Wrong, Replay int   // corrections, and ticks that were run again
	Sounds        int
}

// fly flies a ship whose server's states arrive delay ticks late. Every gust ticks
// a gust hits the ship, which no client can predict; with 0 there are none.
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
		if t <= ticks { // the client runs its ticks at once
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
