package snapshot

import (
	"errors"
	"fmt"
	"slices"
)

// asset is a reference of a kind's.
type asset struct {
	ref    string
	server bool
}

// Asset gives a kind a reference to something that the game must have to show it,
// or, with server, to simulate it: the name of a model, a sound, a map of collisions.
// What it means is the game's business; it is no part of the description, so that
// builds with other pictures play together. A kind may have several.
func (r *Registry) Asset(kind int, server bool, ref string) error {
	switch {
	case r.frozen:
		return ErrFrozen
	case kind < 0 || kind >= len(r.kinds):
		return fmt.Errorf("snapshot: Asset(%d, %q): no such kind: register kinds first", kind, ref)
	case ref == "":
		return fmt.Errorf("snapshot: kind %s: an empty asset reference", r.kinds[kind].name)
	}
	k := &r.kinds[kind]
	if a := (asset{ref, server}); !slices.Contains(k.assets, a) {
		k.assets = append(k.assets, a)
	}
	return nil
}

// Assets lists what a server's or a client's build needs for all kinds, in order,
// each once.
func (r *Registry) Assets(server bool) []string {
	var out []string
	for i := range r.kinds {
		for _, a := range r.kinds[i].assets {
			if a.server == server {
				out = append(out, a.ref)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Verify calls check for each of Assets, once, and returns all faults, each with the
// names of the kinds that need what is missing.
func (r *Registry) Verify(server bool, check func(ref string) error) error {
	var errs []error
	for _, ref := range r.Assets(server) {
		err := check(ref)
		if err == nil {
			continue
		}
		var kinds []string
		for i := range r.kinds {
			if slices.Contains(r.kinds[i].assets, asset{ref, server}) {
				kinds = append(kinds, r.kinds[i].name)
			}
		}
		errs = append(errs, fmt.Errorf("snapshot: asset %q of %q: %w", ref, kinds, err))
	}
	return errors.Join(errs...)
}
