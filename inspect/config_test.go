package inspect_test

import (
	"fmt"
	"testing"

	"github.com/foretick/foretick/inspect"
	"github.com/foretick/foretick/internal/fieldtest"
)

// New panics for numbers out of their bounds, and names the bounds.
func TestConfig(t *testing.T) {
	fieldtest.Config[inspect.Config](t, fieldtest.Rules{}, func(c inspect.Config) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%v", r)
			}
		}()
		inspect.New(c)
		return nil
	})
}
