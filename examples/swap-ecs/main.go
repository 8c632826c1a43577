// Swap-ecs predicts without Foretick's ECS: the game keeps its state in plain
// structs, and package prediction drives them through two small interfaces.
//
// To plug in another ECS, write the five methods of [ship] for it: Save and Load
// copy the local player's components to and from a slot, Step runs the shared
// systems for the local player, Compare and Adopt hold them against what the
// server sent. Nothing else of the library is needed.
package main

import (
	"fmt"

	"github.com/foretick/foretick/prediction"
)

// State is everything that is predicted: a value type, so that saving it is an
// assignment.
type State struct {
	X, Speed float64
	Fuel     int
}

// Input is one tick's command.
type Input struct{ Thrust bool }

// step is the shared rule: server and client both run it.
func step(s State, in Input) State {
	if in.Thrust && s.Fuel > 0 {
		s.Fuel--
		s.Speed += 0.5
	}
	s.Speed *= 0.95
	s.X += s.Speed
	return s
}

// ship is the predicted world, and the server's word on it.
type ship struct {
	now    State
	saves  [prediction.DefaultHistory]State
	inputs *prediction.History[Input]
	server *prediction.History[State]
	sounds int
}

// Save keeps the state after a tick.
func (s *ship) Save(slot int, _ prediction.Tick) { s.saves[slot] = s.now }

// Load puts it back.
func (s *ship) Load(slot int, _ prediction.Tick) { s.now = s.saves[slot] }

// Step runs a tick with its input; sounds belong to the first run alone.
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

// Compare holds the prediction for a tick against what the server sent.
func (s *ship) Compare(slot int, t prediction.Tick) prediction.Verdict {
	if said := s.server.Find(t); said != nil && s.saves[slot] != *said {
		return prediction.Different
	}
	return prediction.Same
}

// Adopt takes the server's state.
func (s *ship) Adopt(t prediction.Tick) { s.now = *s.server.Find(t) }

// Outcome is what a flight was like.
type Outcome struct {
	Shown, Server State // at the end
	Wrong, Replay int   // corrections, and ticks run again
	Sounds        int
}

// fly plays a ship against a server that answers delay ticks late, and in which
// a gust, which no client can know, strikes every gust ticks; 0 is never.
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
		fmt.Printf("gust every %d ticks: %d corrections, %d ticks run again; shown %.3f, the server has %.3f\n",
			gust, o.Wrong, o.Replay, o.Shown.X, o.Server.X)
	}
}
