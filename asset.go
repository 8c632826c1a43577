package foretick

import "github.com/foretick/foretick/ecs"

// Asset gives a prefab a reference to something that clients must have to show it: a
// model, a sound. What it names is the game's business. It is no part of the
// protocol's hash: builds with other pictures play together. A prefab may have
// several. See [Protocol.Assets].
func (p *Protocol) Asset(k *ecs.Prefab, refs ...string) { p.asset(k, false, refs) }

// ServerAsset is Asset for what the server must have: a map of collisions, a path
// network.
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
		i := p.prefabOf(a.prefab)
		if i < 0 {
			p.faultf("Asset %q is of a prefab that is not declared with Protocol.Prefab", a.ref)
			continue
		}
		p.fault(p.registry.Asset(i, a.server, a.ref))
	}
}

// Assets lists what a server's build or a client's needs, in order, each once: for
// the tools that pack it. Call it after Err. Whether a build has it all,
// ServerConfig.Verify and ClientConfig.Verify ask at the start.
func (p *Protocol) Assets(server bool) []string { return p.registry.Assets(server) }
