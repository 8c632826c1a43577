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

// Asset gives a prefab a reference to something that the game must have to show it,
// or, with server, to simulate it: the name of a model, a sound, a map of collisions.
// What it means is the game's business; it is no part of the description, so that
// builds with other pictures play together. A prefab may have several.
func (r *Registry) Asset(prefab int, server bool, ref string) error {
	switch {
	case r.frozen:
		return ErrFrozen
	case prefab < 0 || prefab >= len(r.prefabs):
		return fmt.Errorf("snapshot: Asset(%d, %q): no such prefab: register prefabs first", prefab, ref)
	case ref == "":
		return fmt.Errorf("snapshot: prefab %s: an empty asset reference", r.prefabs[prefab].name)
	}
	k := &r.prefabs[prefab]
	if a := (asset{ref, server}); !slices.Contains(k.assets, a) {
		k.assets = append(k.assets, a)
	}
	return nil
}

// Assets lists what a server's or a client's build needs for all prefabs, in order,
// each once.
func (r *Registry) Assets(server bool) []string {
	var out []string
	for i := range r.prefabs {
		for _, a := range r.prefabs[i].assets {
			if a.server == server {
				out = append(out, a.ref)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Verify calls check for each of Assets, once, and returns all faults, each with the
// names of the prefabs that need what is missing.
func (r *Registry) Verify(server bool, check func(ref string) error) error {
	var errs []error
	for _, ref := range r.Assets(server) {
		err := check(ref)
		if err == nil {
			continue
		}
		var kinds []string
		for i := range r.prefabs {
			if slices.Contains(r.prefabs[i].assets, asset{ref, server}) {
				kinds = append(kinds, r.prefabs[i].name)
			}
		}
		errs = append(errs, fmt.Errorf("snapshot: asset %q of %q: %w", ref, kinds, err))
	}
	return errors.Join(errs...)
}
