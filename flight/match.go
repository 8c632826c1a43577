package flight

import (
	"errors"

	"github.com/foretick/foretick/server"
)

// Match is a server that is recorded. It can be a match of package host, which then names its
// tape when the match panics.
type Match struct {
	*server.Server
	*Recorder
}

// Record makes a server with its own recorder. newMatch is the function that a replay uses as
// Game.New: it adds the Protocol to the configuration, makes the server, and spawns the entities
// that the match begins with.
func Record(c Config, cfg server.Config, newMatch func(cfg server.Config) (*server.Server, error)) (*Match, error) {
	if newMatch == nil {
		return nil, errors.New("flight: Record is given no function that makes the match's server")
	}
	rec, err := New(c)
	if err != nil {
		return nil, err
	}
	cfg.Recorder = rec
	srv, err := newMatch(cfg)
	if err != nil {
		return nil, err
	}
	return &Match{srv, rec}, nil
}
