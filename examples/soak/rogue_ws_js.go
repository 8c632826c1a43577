package main

import (
	"errors"
	"fmt"
)

// overWS fails: a browser accepts no connections, and shows no bytes below them.
func overWS() (*socketNet, error) {
	return nil, fmt.Errorf("no rogues in a browser: %w", errors.ErrUnsupported)
}
