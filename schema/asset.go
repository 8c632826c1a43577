package schema

import (
	"errors"
	"fmt"
	"slices"
)

// asset is one asset reference of a prefab.
type asset struct {
	ref    string
	server bool
}

// Asset adds a reference to an asset that a prefab needs: the name of a model, a sound,
// a collision map. With server the simulation needs it, otherwise a client that shows
// the prefab does. The game defines the meaning of ref. Assets are not part of the
// description, so builds with different graphics can play together. A prefab may have
// several.
func (r *Registry) Asset(prefab int, server bool, ref string) error {
	switch {
	case r.plan.Frozen:
		return ErrFrozen
	case prefab < 0 || prefab >= len(r.plan.Prefabs):
		return fmt.Errorf("schema: Asset(%d, %q): no such prefab: register prefabs first", prefab, ref)
	case ref == "":
		return fmt.Errorf("schema: prefab %s: an empty asset reference", r.plan.Prefabs[prefab].Name)
	}
	for len(r.assets) <= prefab {
		r.assets = append(r.assets, nil)
	}
	if a := (asset{ref, server}); !slices.Contains(r.assets[prefab], a) {
		r.assets[prefab] = append(r.assets[prefab], a)
	}
	return nil
}

// Assets returns the assets that a server or a client needs for all prefabs, sorted,
// each once.
func (r *Registry) Assets(server bool) []string {
	var out []string
	for i := range r.assets {
		for _, a := range r.assets[i] {
			if a.server == server {
				out = append(out, a.ref)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Verify calls check once for each asset that a server needs, if server is true, or else for
// each that a client needs: see [Registry.Assets]. It returns the errors of check, joined,
// each with the names of the prefabs that need the asset.
func (r *Registry) Verify(server bool, check func(ref string) error) error {
	var errs []error
	for _, ref := range r.Assets(server) {
		err := check(ref)
		if err == nil {
			continue
		}
		var kinds []string
		for i := range r.assets {
			if slices.Contains(r.assets[i], asset{ref, server}) {
				kinds = append(kinds, r.plan.Prefabs[i].Name)
			}
		}
		errs = append(errs, fmt.Errorf("schema: asset %q of %q: %w", ref, kinds, err))
	}
	return errors.Join(errs...)
}
