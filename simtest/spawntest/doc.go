// Package spawntest plays matches in which clients predict what is spawned and what is theirs
// alone, and compares each end with what the server spawned.
package spawntest
