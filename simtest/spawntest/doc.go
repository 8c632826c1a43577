// Package spawntest tests predicted spawns and local components: it plays matches and compares
// the clients' entities with those of the server.
package spawntest
