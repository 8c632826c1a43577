package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/foretick/foretick"
	"github.com/foretick/foretick/examples/arena/game"
	"github.com/foretick/foretick/flight"
	"github.com/foretick/foretick/server"
)

// record makes the recorder of a served match. Its tape includes the rules, which a replay needs.
func record(dir string, rules game.Options) (*flight.Recorder, error) {
	text, err := json.Marshal(rules)
	if err != nil {
		return nil, err
	}
	return flight.New(flight.Config{Name: "arena", Game: string(text), Dir: dir, Keep: true})
}

// replay replays a tape of -record with the arena's code.
func replay(o options, out io.Writer) error {
	rules, err := rulesOf(o.replay)
	if err != nil {
		return err
	}
	again := flight.Game{New: func(cfg server.Config) (*server.Server, error) {
		var err error
		if cfg.Protocol, err = game.NewGame(rules).Protocol(); err != nil {
			return nil, err
		}
		return server.New(cfg)
	}}
	if o.beside != "" {
		trace, err := os.ReadFile(o.beside)
		if err != nil {
			return err
		}
		return flight.ShowBeside(out, o.replay, again, foretick.PlayerID(o.player), trace, o.asJSON)
	}
	return flight.Show(out, o.replay, again, foretick.Tick(o.tick), uint32(o.entity))
}

// rulesOf reads the rules that a tape was recorded with.
func rulesOf(path string) (rules game.Options, err error) {
	tape, err := flight.Open(path)
	if tape == nil {
		return rules, err
	}
	defer func() { _ = tape.Close() }()
	if err := json.Unmarshal([]byte(tape.Info().Game), &rules); err != nil {
		return rules, fmt.Errorf("the tape %s is not of arena -record: %w", path, err)
	}
	return rules, nil
}
