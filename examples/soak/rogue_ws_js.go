package main

import (
	"errors"
	"fmt"
)

// overWS fails: a browser accepts no connections, and gives no access to a connection's bytes.
func overWS() (*socketNet, error) {
	return nil, fmt.Errorf("no rogues in a browser: %w", errors.ErrUnsupported)
}
