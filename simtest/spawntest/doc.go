// Package spawntest tests predicted spawns and local components: it plays matches and compares
// the clients' entities with those of the server.
//
// Compatibility: any minor version may change it. See docs/COMPATIBILITY.md.
package spawntest
