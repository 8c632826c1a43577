package snapshot

import (
	"errors"
	"fmt"

	"github.com/foretick/foretick/internal/misuse"
)

var (
	// ErrMalformed is returned for received bytes that no honest sender makes.
	ErrMalformed = errors.New("snapshot: malformed")
	// ErrBaseline says that a record names a baseline that the receiver does not
	// hold. It wraps [ErrMalformed].
	ErrBaseline = fmt.Errorf("%w: unknown baseline", ErrMalformed)
	// ErrHeavy says that a snapshot needs more memory at once than its length allows. An honest snapshot may,
	// when very many entities appear at once. Treat it as lost, and do not acknowledge it. Memory allocated for
	// it is kept, so that a later one can be read.
	ErrHeavy = errors.New("snapshot: more values than its bytes may bring at once")
)

// UsageError is the panic value of a hot-path call that was made wrongly. Its text names the call, the
// fault and the fix. The other packages of this module panic with it too.
type UsageError = misuse.Error

// mostHistory is the longest history of an entity, in versions.
const mostHistory = 1 << 16

// orDefault returns a number of a config, or the default for zero.
func orDefault(call, field string, v, byDefault, most int) int {
	if v < 0 || v > most {
		misuse.Panicf("snapshot: %s: %s is %d: use 1 to %d, or 0 for %d", call, field, v, most, byDefault)
	}
	if v == 0 {
		return byDefault
	}
	return v
}

func malformed(what string) error { return fmt.Errorf("%w: %s", ErrMalformed, what) }
