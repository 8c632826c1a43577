package main

import (
	"context"
	"errors"
	"io"
)

// serve fails: a program in a browser cannot listen.
func serve(context.Context, options, io.Writer, io.Writer) error {
	return errors.New("-relay: a browser cannot run one: start it natively")
}
