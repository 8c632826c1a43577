package foretick

import "github.com/foretick/foretick/ecs"

// Asset adds references to files that clients need to show a prefab, such as a model or a
// sound. The game decides what a reference means. Assets are not part of the protocol's
// hash: builds with other graphics play together. A prefab may have several. See
// [Protocol.Assets].
func (p *Protocol) Asset(k *ecs.Prefab, refs ...string) { p.asset(k, false, refs) }

// ServerAsset is like Asset, for files that the server needs: a collision map, a navigation
// mesh.
func (p *Protocol) ServerAsset(k *ecs.Prefab, refs ...string) { p.asset(k, true, refs) }

// prefabAsset is an asset as it was declared.
type prefabAsset struct {
	prefab *ecs.Prefab
	server bool
	ref    string
}

func (p *Protocol) asset(k *ecs.Prefab, server bool, refs []string) {
	if !p.givenPrefab("Asset", k) {
		return
	}
	for _, ref := range refs {
		p.assets = append(p.assets, prefabAsset{k, server, ref})
	}
}

// registerAssets hands the references to the registry, behind the prefabs.
func (p *Protocol) registerAssets() {
	for _, a := range p.assets {
		i := p.compiled.PrefabOf(a.prefab)
		if i < 0 {
			p.faultf("Asset %q is of a prefab that is not declared with Protocol.Prefab", a.ref)
			continue
		}
		p.fault(p.compiled.Registry.Asset(i, a.server, a.ref))
	}
}

// Assets lists the assets that a server's build needs, or a client's if server is false:
// each once, in order. Tools that pack builds use it. Call it after Err.
// ServerConfig.Verify and ClientConfig.Verify check at the start that none is missing.
func (p *Protocol) Assets(server bool) []string { return p.compiled.Registry.Assets(server) }
