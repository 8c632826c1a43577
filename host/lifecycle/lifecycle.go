package lifecycle

import (
	"context"

	"github.com/foretick/foretick/host"
)

// Lifecycle tells the manager of a fleet what a process does. Each call but Watch gets a context that
// ends after Config.Timeout. An error means that the manager may not know what the call said, and Run
// calls again. Run may call Health and Watch while another call runs.
type Lifecycle interface {
	// Watch calls change with the state that the manager has of the process, at once and whenever
	// it changes, until ctx ends or the connection is lost. It must not call change after it
	// returned.
	Watch(ctx context.Context, change func(State)) error
	// Ready says that the process takes new matches, and that none runs. From then on Counts says when
	// the process should get none.
	Ready(ctx context.Context) error
	// Health says that the process works. Run calls it as long as the host is live, which an overloaded
	// host is.
	Health(ctx context.Context) error
	// Allocated says that matches run: the manager must not remove the process.
	Allocated(ctx context.Context) error
	// Counts says how many matches and players there are. Run calls it before Ready, and then every
	// second, changed or not.
	Counts(ctx context.Context, c Counts) error
	// Draining says that the process takes no new matches and ends with those that it has.
	Draining(ctx context.Context) error
	// Shutdown says that the process ends now.
	Shutdown(ctx context.Context) error
}

// State is a manager's data about the process.
type State struct {
	// Name is the manager's name of the process.
	Name string
	// Phase is the manager's own word for the state, for logs.
	Phase string
	// Allocated says that the manager has given the process to players.
	Allocated bool
	// Ending says that the manager removes the process: the host drains.
	Ending bool
	// Address is where players reach the machine: an IP address or a name. Empty: not known.
	Address string
	// Ports are the ports on that address, by the names that the fleet gives them.
	Ports map[string]int
	// Labels and Annotations are notes that the manager or a matchmaker attached.
	Labels, Annotations map[string]string
}

// Counts holds how many matches and players a host has.
type Counts struct {
	// Matches and Players are the present numbers.
	Matches, Players int
	// Ready says that new matches should come. It is false while the host drains, is overloaded, or has
	// a stuck match.
	Ready bool
	// FreeMatches and FreePlayers are how many more fit. -1 means no limit. A host that is not ready
	// has room for none.
	FreeMatches, FreePlayers int
	// MatchNames and PlayerNames return the names of the matches and the identities of the players,
	// sorted.
	MatchNames, PlayerNames func() []string
}

// served is what Run needs of a host: a *host.Host, or a test's own.
type served interface {
	Run(ctx context.Context) error
	Drain(reason string)
	Draining() bool
	Live() bool
	Ready() bool
	Stats() host.Stats
	Free() (matches, players int)
	Matches(dst []string) []string
	Identities(dst []string) []string
}
