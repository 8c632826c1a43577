// Package agonestest is a stand-in for the SDK server that Agones runs next to a game server.
//
// Use it to test a host's lifecycle, or to run one on a machine without a cluster:
//
//	sidecar, err := agonestest.Listen("127.0.0.1:0")
//	defer sidecar.Close()
//	manager, err := agones.New(agones.Config{Port: sidecar.Port()})
//
// It is written from the published REST description of Agones 1.5x, and behaves like the server in a
// cluster: Ready passes through RequestReady, an unhealthy game server never becomes ready again,
// numbers are sent as strings, and a refusal has the status 500 whatever its reason. It has the
// paths that package agones uses, and those to read counters and lists. It keeps no player tracking
// and reserves nothing.
//
// Allocate does what an allocation in the cluster does. Fail makes calls fail, and Calls returns
// which came, in order.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package agonestest
