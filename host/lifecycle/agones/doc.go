// Package agones is a lifecycle for hosts that run on Agones, a fleet manager for Kubernetes.
//
//	manager, err := agones.New(agones.Config{})
//	state, err := manager.GameServer(ctx) // the address that players dial, for the tickets' gate
//	err = lifecycle.Run(ctx, h, manager, lifecycle.Config{DrainFor: time.Hour})
//
// Agones runs an SDK server next to each game server. The package calls its REST API with the
// standard library. It needs no SDK and no gRPC.
//
// # What a fleet declares
//
// Agones knows only those counters and lists that the fleet declares. A counter or list named "rooms"
// is for the matches, and one named "players" for the players. A counter gets their number, and a list
// their names: the names of matches, or the identities of players. Anyone who may read game servers in
// the cluster can read a list, so use a counter if identities are secret. The capacity is the present
// number plus the number that still fits. Counts are absolute: they are right again after a lost call.
// An allocation should therefore select by them and not change them.
//
// Agones has no state for draining. The package sets the label agones.dev/sdk-draining to "true",
// and all capacities to what runs now, so that allocations go elsewhere.
//
// Package agonestest has a stand-in for the SDK server, for tests and for a machine without a
// cluster.
//
// Compatibility: a minor version may change it, with a note. See docs/COMPATIBILITY.md.
package agones
