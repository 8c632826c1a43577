package observe

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/foretick/foretick/internal/guard"
	"github.com/foretick/foretick/netcode"
	"github.com/foretick/foretick/schema"
	"github.com/foretick/foretick/transport"
)

// Config configures an Observer. Transport is required.
type Config struct {
	// Transport is a dialled endpoint. The observer reads it, and closes it in Close.
	Transport transport.Endpoint
	// SchemaOnly requests the schema and nothing else. The observer then has no entities.
	SchemaOnly bool
	// Data is passed to server.Config.Observe, which grants a view or refuses the observer.
	// More than 256 bytes are an error.
	Data []byte
	// SnapshotRate is the most snapshots a second that the observer wants, up to 255. 0
	// leaves it to the server. Negative is an error.
	SnapshotRate int
	// Timeout is the silence of the server after which the connection ends, 100 ms to 24 h.
	// 0 means 5 s. Negative is an error.
	Timeout time.Duration
	// OnMessage, when set, is called within Step for each message of the game. values holds
	// the value of each field, as [schema.Schema.Value] returns it.
	OnMessage func(m schema.Message, tick Tick, values []any)
	// Logger logs packets that made the decoder panic: a fault of this library that ends
	// the connection. nil logs nothing.
	Logger *slog.Logger
}

// checkConfig fills defaults in and reports every fault at once.
func (c *Config) checkConfig() error {
	var errs []error
	if guard.Missing(c.Transport) {
		errs = append(errs, errors.New("observe: Config.Transport is nil: pass a dialled endpoint, for example udp.Dial, and look at its error first"))
	}
	if c.Timeout == 0 {
		c.Timeout = guard.DefaultTimeout
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if len(c.Data) > netcode.MaxHelloData {
		errs = append(errs, fmt.Errorf("observe: Config.Data has %d bytes: use up to %d", len(c.Data), netcode.MaxHelloData))
	}
	if c.SnapshotRate < 0 || c.SnapshotRate > 255 {
		errs = append(errs, fmt.Errorf("observe: Config.SnapshotRate is %d: use 1 to 255, or 0", c.SnapshotRate))
	}
	return errors.Join(append(errs, guard.Timeout("observe: Config.Timeout", c.Timeout))...)
}
