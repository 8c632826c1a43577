package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/foretick/foretick/transport/ticket"
)

// keyVariable is the environment variable that has the keys if no file has them.
const keyVariable = "FORETICK_TICKET_KEY"

// lookEvery is the time after which the file of keys is read again. Tests change it.
var lookEvery = 5 * time.Second

// keys are the keys of tickets. The matchmaker issues tickets under the first one, and hosts accept
// tickets under all of them. A file of keys may change while the program runs.
type keys struct {
	path string                   // the file's path; empty: the keys come from the environment and do not change
	now  atomic.Pointer[[][]byte] // the current keys
}

// readKeys reads the keys from a file, or if path is empty, from the environment.
func readKeys(path string) (*keys, error) {
	k := &keys{path: path}
	text, from := os.Getenv(keyVariable), keyVariable
	if path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("-keys: %w", err)
		}
		text, from = string(b), path
	}
	all, err := parseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("%s %w", from, err)
	}
	k.now.Store(&all)
	return k, nil
}

// parseKeys reads keys that are separated by white space.
func parseKeys(text string) (all [][]byte, err error) {
	for _, word := range strings.Fields(text) {
		key, err := hex.DecodeString(word)
		if err != nil || len(key) != ticket.KeySize {
			return nil, fmt.Errorf("must be %d hexadecimal digits for each key", 2*ticket.KeySize)
		}
		all = append(all, key)
	}
	if len(all) > ticket.MaxKeys {
		return nil, fmt.Errorf("has %d keys: use up to %d", len(all), ticket.MaxKeys)
	}
	return all, nil
}

// all returns the current keys. New tickets are issued under the first.
func (k *keys) all() [][]byte { return *k.now.Load() }

// first returns the key under which new tickets are issued.
func (k *keys) first() []byte { return k.all()[0] }

// watch reads the file again and again until ctx ends, and calls changed with new keys. It logs a wrong
// file and keeps the old keys.
func (k *keys) watch(ctx context.Context, o options, changed func(all [][]byte) error) {
	if k.path == "" {
		return
	}
	every, said := lookEvery, ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		next, err := readKeys(k.path)
		if err == nil && len(next.all()) == 0 {
			err = fmt.Errorf("%s has no key", k.path)
		}
		if err == nil && !slices.EqualFunc(next.all(), k.all(), slices.Equal) {
			if err = changed(next.all()); err == nil {
				k.now.Store(next.now.Load())
				o.log.Info("the ticket keys changed", "keys", len(next.all()))
			}
		}
		if text := fmt.Sprint(err); err != nil && text != said {
			o.log.Error("the ticket keys stay as they are", "err", err)
			said = text
		} else if err == nil {
			said = ""
		}
	}
}
